#include "sim/store/process.h"

#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/error.h"

namespace strata {
namespace {

struct Stat {
  char state = 0;
  std::int64_t start = 0;
};

/// "12 (a name with ) and spaces) S 1 ...": what follows the name starts with field 3, the state.
std::optional<Stat> stat_of(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Stat stat;
  std::string skipped;
  fields >> stat.state;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  if (!(fields >> stat.start)) return std::nullopt;
  return stat;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

}  // namespace

Process this_process() {
  const std::int64_t pid = ::getpid();
  const std::optional<Stat> stat = stat_of(pid);
  if (!stat) throw EnvironmentError("/proc/self/stat: cannot be read; is /proc mounted?");
  return {pid, stat->start, boot_id()};
}

bool alive(const Process& process) {
  if (process.boot_id != boot_id()) return false;
  const std::optional<Stat> stat = stat_of(process.pid);
  const auto over = [](char state) { return state == 'Z' || state == 'X'; };
  return stat && stat->start == process.start && !over(stat->state);
}

}  // namespace strata
