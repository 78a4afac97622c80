#include "sim/graph/zoo_members.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/zoo_member_table.h"

namespace strata {
namespace {

/// The members, and the texts that their entries are views of.
struct Members {
  std::vector<std::string> descriptions;
  std::vector<ZooMember> all;

  Members() {
    for (const Publication& published : publications()) {
      for (const MemberRow& row : published.rows) {
        descriptions.push_back(fmt::format("{} ({})", row.what, published.source));
      }
    }
    auto description = descriptions.begin();
    for (const Publication& published : publications()) {
      for (const MemberRow& row : published.rows) {
        all.push_back({{row.name, *description++}, published.family, published.common, row.sizes});
      }
    }
  }
};

}  // namespace

std::span<const ZooMember> zoo_members() {
  static const Members kMembers;
  return kMembers.all;
}

const ZooMember* find_member(std::string_view name) {
  const auto members = zoo_members();
  const auto it = std::ranges::find_if(
      members, [&](const ZooMember& member) { return member.entry.name == name; });
  return it == members.end() ? nullptr : &*it;
}

}  // namespace strata
