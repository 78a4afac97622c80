#include "sim/cluster/grid_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::int64_t kLimit = kDeviceLimit;
constexpr double kMostOversubscription = 1000;

Seconds latency(Table& table) {
  const auto value = table.optional("latency");
  return value ? read_seconds(*value) : Seconds{};
}

std::optional<Bytes> size_of(Table& table, const char* key) {
  const auto value = table.optional(key);
  return value ? std::optional(read_bytes(*value)) : std::nullopt;
}

[[noreturn]] void refuse_topology(const Value& value, const std::string& allowed) {
  value.fail(fmt::format("unknown topology \"{}\"; allowed: {}", value.as_string(), allowed));
}

IntraTopology intra_topology(const Value& value) {
  const auto found = find_intra_topology(value.as_string());
  if (!found) refuse_topology(value, allowed_intra_topologies());
  return *found;
}

InterTopology inter_topology(const Value& value) {
  const auto found = find_inter_topology(value.as_string());
  if (!found) refuse_topology(value, allowed_inter_topologies());
  return *found;
}

void read_device_bandwidth(Table& table, Grid& grid) {
  if (const auto value = table.optional("device_bandwidth")) {
    grid.device_bandwidth = read_bandwidth(*value);
  }
}

void read_intra(Table table, Grid& grid) {
  grid.intra = intra_topology(table.required("topology"));
  grid.intra_bandwidth = read_bandwidth(table.required("bandwidth"));
  grid.intra_latency = latency(table);
  table.finish();
}

void read_inter(Table table, Grid& grid) {
  grid.inter = inter_topology(table.required("topology"));
  if (grid.inter == InterTopology::none) return table.finish();
  grid.inter_bandwidth = read_bandwidth(table.required("bandwidth"));
  grid.inter_latency = latency(table);
  read_device_bandwidth(table, grid);
  table.finish();
}

std::optional<Value> network_of(Table& grid, std::string_view key, std::int64_t joined,
                                std::string_view what) {
  auto network = grid.optional(key);
  if (!network && joined > 1) {
    grid.fail(fmt::format("[grid.{}] is missing: {} {} need a network", key, joined, what));
  }
  return network;
}

void read_hosts(Table& table, const std::optional<GridSize>& size, Grid& grid) {
  grid.domains = table.integer("hosts", 1, kLimit);
  grid.devices_per_domain = table.integer("devices_per_host", 1, kLimit);
  if (size) {
    grid.domains = size->domains;
    grid.devices_per_domain = size->devices_per_domain;
  }
  if (const auto intra = network_of(table, "intra", grid.devices_per_domain, "devices of a host")) {
    read_intra(intra->as_table(), grid);
  }
  if (const auto inter = network_of(table, "inter", grid.domains, "hosts")) {
    read_inter(inter->as_table(), grid);
  }
}

// The levels of a [grid], from the devices upwards: what shares a host; the domain, whose devices
// the first network joins, which may be the host; the switches of the network between domains.
class LevelReader {
 public:
  LevelReader(std::vector<Table> levels, const std::optional<GridSize>& size, Grid& grid)
      : levels_(std::move(levels)), size_(size), grid_(grid) {}

  void read() {
    const std::size_t domain = levels_.front().has("bandwidth") ? 0 : 1;
    if (domain == levels_.size()) {
      levels_.front().fail("no level has a bandwidth: the devices need a network");
    }
    for (Table& level : levels_) read_counted(level);
    read_domain(domain);
    if (domain + 1 < levels_.size()) read_cards(levels_[domain + 1]);
    for (std::size_t k = domain + 1; k < levels_.size(); ++k) read_switches(k, k == domain + 1);
    for (const Table& level : levels_) level.finish();
  }

 private:
  void read_counted(Table& level) {
    const Value name = level.required("name");
    if (name.as_string().empty()) name.fail_expected("a name");
    if (!names_.insert(name.as_string()).second) {
      name.fail(fmt::format("two levels are called '{}'", name.as_string()));
    }
    counts_.push_back(level.integer("count", 1, kLimit));
  }

  void read_domain(std::size_t domain) {
    Table& level = levels_[domain];
    grid_.domain_name = level.string("name");
    grid_.devices_per_domain = counts_[domain];
    if (domain > 0) {
      const std::int64_t host = counts_.front();
      grid_.host_name = levels_.front().string("name");
      grid_.devices_per_domain = counted(level, host, counts_[domain]);
      if (size_) grid_.devices_per_domain = size_->devices_per_domain;
      grid_.devices_per_host = std::min(host, grid_.devices_per_domain);
    } else if (size_) {
      grid_.devices_per_domain = size_->devices_per_domain;
    }
    if (const auto topology = level.optional("topology")) grid_.intra = intra_topology(*topology);
    grid_.intra_bandwidth = read_bandwidth(level.required("bandwidth"));
    grid_.intra_latency = latency(level);
  }

  // What the first switches of the network join.
  void read_cards(Table& level) {
    grid_.inter = InterTopology::nic_per_device;
    if (const auto topology = level.optional("topology")) {
      grid_.inter = inter_topology(*topology);
      if (grid_.inter == InterTopology::none) {
        refuse_topology(*topology, "\"nic-per-host\", \"nic-per-device\"");
      }
    }
    grid_.inter_bandwidth = read_bandwidth(level.required("bandwidth"));
    grid_.inter_latency = latency(level);
    read_device_bandwidth(level, grid_);
  }

  void read_switches(std::size_t k, bool first) {
    Table& level = levels_[k];
    SwitchLevel switches{.name = level.string("name"), .count = counts_[k]};
    if (size_) switches.count = size_->domains;
    if (first) {
      switches.rails = level.boolean_or("rails", false);
    } else {
      switches.latency = latency(level);
      read_uplinks(level, switches);
    }
    grid_.domains = counted(level, grid_.domains, switches.count);
    grid_.switches.push_back(std::move(switches));
  }

  static void read_uplinks(Table& level, SwitchLevel& switches) {
    const auto bandwidth = level.optional("bandwidth");
    const auto oversubscription = level.optional("oversubscription");
    if (bandwidth && oversubscription) {
      oversubscription->fail("'oversubscription' does not go with 'bandwidth'");
    }
    if (bandwidth) switches.bandwidth = read_bandwidth(*bandwidth);
    if (oversubscription) {
      switches.oversubscription = oversubscription->as_number(1, kMostOversubscription);
    }
  }

  static std::int64_t counted(const Table& level, std::int64_t below, std::int64_t count) {
    if (count <= kLimit / below) return below * count;
    level.fail(fmt::format("{} times {} are more than {} devices", count, below, kLimit));
  }

  std::vector<Table> levels_;
  const std::optional<GridSize>& size_;
  Grid& grid_;
  std::vector<std::int64_t> counts_;
  std::set<std::string> names_;
};

}  // namespace

Grid read_grid(Table table, const std::optional<GridSize>& size) {
  Grid grid;
  std::vector<Table> levels = table.tables("level");
  if (levels.empty()) {
    read_hosts(table, size, grid);
  } else {
    LevelReader(std::move(levels), size, grid).read();
  }
  grid.kind = table.string_or("kind", "");
  grid.copy_engine = table.boolean_or("copy_engine", true);
  grid.assembles = table.boolean_or("assembles", false);
  grid.memory = size_of(table, "memory");
  grid.memory_reserve = size_of(table, "memory_reserve").value_or(Bytes{});
  table.finish();
  return grid;
}

}  // namespace strata
