#include "sim/exporters/chakra/process_groups.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace strata {

std::string process_group_name(const Group& group) {
  return fmt::format("{}", 2 * group.shape + (group.purpose == GroupPurpose::statistics ? 1 : 0));
}

std::string process_group_name(const Plan& plan, const Exchange& exchange) {
  return fmt::format("{}", 2 * plan.group_shapes().size() + exchange.shape);
}

std::string process_groups(const Plan& plan, DeviceId device) {
  std::set<std::string> known;
  std::string list;
  const auto add = [&](const std::string& name, std::uint32_t shape) {
    std::vector<DeviceId> members = plan.group_shapes()[shape].devices;
    if (std::find(members.begin(), members.end(), device) == members.end()) return;
    if (!known.insert(name).second) return;
    std::sort(members.begin(), members.end());
    std::string ranks;
    for (DeviceId member : members) {
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", member());
    }
    list += fmt::format(R"({}{{"pg_name": "{}", "ranks": [{}]}})", list.empty() ? "" : ", ", name,
                        ranks);
  };
  for (const Group& group : plan.groups()) add(process_group_name(group), group.shape);
  for (const Exchange& exchange : plan.exchanges()) {
    add(process_group_name(plan, exchange), exchange.shape);
  }
  return "['[" + list + "]']";
}

}  // namespace strata
