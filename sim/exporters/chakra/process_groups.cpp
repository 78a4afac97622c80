#include "sim/exporters/chakra/process_groups.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace strata {

std::string process_group_name(const Group& group) {
  return fmt::format("{}", 2 * group.shape + (group.purpose == GroupPurpose::statistics ? 1 : 0));
}

std::string process_groups(const Plan& plan, DeviceId device) {
  std::set<std::string> known;
  std::string list;
  for (const Group& group : plan.groups()) {
    std::vector<DeviceId> members = plan.group_shapes()[group.shape].devices;
    if (std::find(members.begin(), members.end(), device) == members.end()) continue;
    const std::string name = process_group_name(group);
    if (!known.insert(name).second) continue;
    std::sort(members.begin(), members.end());
    std::string ranks;
    for (DeviceId member : members) {
      ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", member());
    }
    list += fmt::format(R"({}{{"pg_name": "{}", "ranks": [{}]}})", list.empty() ? "" : ", ", name,
                        ranks);
  }
  return "['[" + list + "]']";
}

}  // namespace strata
