#pragma once

// Processes of this host, told apart from those that had their number before. Linux; thread-safe.

#include <cstdint>
#include <string>

namespace strata {

struct Process {
  std::int64_t pid = 0;
  std::int64_t start = 0;  ///< in clock ticks since the boot: proc(5), stat, field 22
  std::string boot_id;     ///< of the boot that it belongs to
  bool operator==(const Process&) const = default;
};

/// Throws EnvironmentError where /proc is missing.
Process this_process();

/// Whether it still runs: of this boot, with that number and that start, and more than the
/// remains that nobody has waited for.
bool alive(const Process& process);

}  // namespace strata
