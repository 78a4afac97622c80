#include "cli/search_flags.h"

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {

void add_search_options(CLI::App& command, SearchFlags& flags, const std::string& group) {
  command
      .add_option("--degrees", flags.degrees,
                  "degrees that a dim may have: pow2, divisors (of the device count) or all "
                  "(default pow2, or divisors where the device count is no power of two)")
      ->group(group);
  command
      .add_flag("--free-elementwise", flags.free_elementwise,
                "let element-wise layers differ from their producer")
      ->disable_flag_override()
      ->group(group);
  command
      .add_option("--placement", flags.placement,
                  "first: shards row-major on the first devices; hosts: also with another dim "
                  "across the hosts (default first)")
      ->group(group);
}

SearchOptions search_options(const SearchFlags& flags) {
  const auto degrees = parse_degree_set(flags.degrees);
  if (!degrees && !flags.degrees.empty()) {
    throw InputError(
        fmt::format("--degrees {}: unknown; allowed: pow2, divisors, all", flags.degrees));
  }
  if (flags.placement != "first" && flags.placement != "hosts") {
    throw InputError(
        fmt::format("--placement {}: unknown; allowed: first, hosts", flags.placement));
  }
  return {degrees, flags.free_elementwise, flags.placement == "hosts"};
}

}  // namespace strata
