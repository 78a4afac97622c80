#include "sim/plan/colour_refinement.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace strata {
namespace {

using Colours = std::vector<Bits>;  // by device

std::vector<std::uint32_t> numbered(const Colours& colours, const std::vector<Bits>& sorted) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(colours.size());
  for (const Bits colour : colours) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), colour);
    numbers.push_back(static_cast<std::uint32_t>(at - sorted.begin()));
  }
  return numbers;
}

std::vector<Bits> distinct(const Colours& colours) {
  std::vector<Bits> sorted = colours;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

// Devices of a domain that can't be exchanged are like no others of it.
void paint_devices(const std::vector<Bits>& of_domains, const DomainSymmetry& domains,
                   bool exchange, Colours& colours) {
  for (std::size_t d = 0; d < colours.size(); ++d) {
    const DeviceId device(d);
    const std::uint32_t place = exchange ? domains.first_alike(device) : domains.number(device);
    colours[d] = mixed(colours[d], of_domains[domains.domain(device)], place);
  }
}

// `loads`: of each domain's links. Devices that can be exchanged may stand in any order.
std::vector<Bits> domain_colours(const Colours& colours, const DomainSymmetry& domains,
                                 const std::vector<Bits>& loads) {
  std::vector<Bits> result;
  for (std::size_t h = 0; h < domains.domains(); ++h) {
    Bits devices = 0;
    for (std::size_t k = 0; k < domains.device_count(h); ++k) {
      devices += mixed(colours[domains.device(h, k)()]);
    }
    result.push_back(mixed(domains.type(h), loads.empty() ? 0 : loads[h], devices));
  }
  return result;
}

void add_reads(const ReadsOfOthers& of, Bits number, const Colours& colours,
               const DomainSymmetry& domains, Sums& sums, Colours& next) {
  for (std::size_t k = 0; k < of.reads.owners.size(); ++k) {
    const auto& owners = of.reads.owners[k];
    const auto& readers = of.reads.readers[k];
    for (const EdgeReads::Owner& owner : owners) {
      const DeviceId device = of.producers[owner.shard];
      sums.add(domains.domain(device), device, mixed(colours[device()], owner.elements));
    }
    for (const std::uint32_t reader : readers) {
      const DeviceId device = of.consumers[reader];
      next[device()] += mixed(2 * number, sums.seen_from(domains.domain(device), device));
    }
    sums.clear();
    for (const std::uint32_t reader : readers) {
      const DeviceId device = of.consumers[reader];
      sums.add(domains.domain(device), device, mixed(colours[device()]));
    }
    for (const EdgeReads::Owner& owner : owners) {
      const DeviceId device = of.producers[owner.shard];
      next[device()] +=
          mixed(2 * number + 1, sums.seen_from(domains.domain(device), device), owner.elements);
    }
    sums.clear();
  }
}

// What the groups' links are loaded with, by domain where they are not devices'.
std::vector<Bits> add_groups(const DeviceBehaviour& behaviour, const Colours& colours,
                             std::size_t domains, Colours& next) {
  std::vector<Bits> loaded;
  for (const SumGroup& group : behaviour.groups) {
    Bits sum = group.devices.size();
    for (const DeviceId device : group.devices) sum += mixed(colours[device()]);
    loaded.push_back(mixed(group.sums, sum));
  }
  for (const OwnLoad& load : behaviour.loads) {
    if (load.device.valid()) loaded[load.group] += mixed(colours[load.device()], load.load);
  }
  for (std::size_t g = 0; g < behaviour.groups.size(); ++g) {
    for (const DeviceId device : behaviour.groups[g].devices) {
      next[device()] += mixed(loaded[g], 1);
    }
  }
  std::vector<Bits> by_domain(domains);
  for (const OwnLoad& load : behaviour.loads) {
    Bits& own = load.device.valid() ? next[load.device()] : by_domain[load.domain];
    own += mixed(loaded[load.group], load.load);
  }
  return by_domain;
}

// Takes into each colour what the device has to do with which others.
void refine_once(const DeviceBehaviour& behaviour, const DomainSymmetry& domains, bool exchange,
                 Sums& sums, Colours& colours) {
  Colours next = colours;
  for (std::size_t k = 0; k < behaviour.reads.size(); ++k) {
    add_reads(behaviour.reads[k], k, colours, domains, sums, next);
  }
  const std::vector<Bits> loads = add_groups(behaviour, colours, domains.domains(), next);
  colours = std::move(next);
  paint_devices(domain_colours(colours, domains, loads), domains, exchange, colours);
}

bool has_tasks(const SumGroup& group, const DeviceClasses& classes) {
  return std::any_of(group.devices.begin(), group.devices.end(),
                     [&](DeviceId device) { return classes.is_representative(device); });
}

bool keeps_loads(const DeviceBehaviour& behaviour, const DeviceClasses& classes) {
  std::set<std::tuple<std::size_t, DeviceId, Bits>> kept;
  std::vector<bool> with_tasks;
  for (const SumGroup& group : behaviour.groups) with_tasks.push_back(has_tasks(group, classes));
  for (const OwnLoad& load : behaviour.loads) {
    if (load.device.valid() && classes.is_representative(load.device)) {
      kept.emplace(load.group, load.device, load.load);
    }
  }
  return std::all_of(behaviour.loads.begin(), behaviour.loads.end(), [&](const OwnLoad& load) {
    return !load.device.valid() || !with_tasks[load.group] ||
           kept.contains({load.group, classes.representative(load.device), load.load});
  });
}

}  // namespace

std::vector<std::uint32_t> refined_colours(const DeviceBehaviour& behaviour,
                                           const DomainSymmetry& domains, bool exchange) {
  Colours colours = behaviour.alone;
  Sums sums(domains.domains(), colours.size());
  paint_devices(domain_colours(colours, domains, {}), domains, exchange, colours);
  for (std::size_t before = 0;;) {
    const std::vector<Bits> sorted = distinct(colours);
    if (sorted.size() == before) return numbered(colours, sorted);
    before = sorted.size();
    refine_once(behaviour, domains, exchange, sums, colours);
  }
}

bool keeps_groups(const DeviceBehaviour& behaviour, const DeviceClasses& classes) {
  const auto is_whole = [&](const SumGroup& group) {
    if (!has_tasks(group, classes)) return true;
    const std::set<DeviceId> members(group.devices.begin(), group.devices.end());
    return std::all_of(members.begin(), members.end(), [&](DeviceId device) {
      return members.contains(classes.representative(device));
    });
  };
  return std::all_of(behaviour.groups.begin(), behaviour.groups.end(), is_whole) &&
         keeps_loads(behaviour, classes);
}

}  // namespace strata
