#include "cli/commands/invocation.h"

#include <ctime>

#include <fmt/chrono.h>
#include <unistd.h>

namespace strata {

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace strata
