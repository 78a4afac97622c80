#include "sim/importers/topology/slurm.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/topology/hostlist.h"
#include "sim/text/diagnostics.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr int kLevelLimit = 64;

struct SlurmSwitch {
  std::string name;
  std::vector<std::string> hosts, below;
  int line = 0;
  std::string above = {};
  std::size_t all_hosts = 0;  // at it and below it
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

class SlurmReader {
 public:
  SlurmReader(const std::string& file, std::size_t devices)
      : file_(file), host_limit_(kDeviceLimit / devices) {}

  std::vector<SlurmSwitch> read(std::string_view text) {
    int number = 0, first = 0;
    std::string whole;  // of a line and those it goes on in
    for (std::string_view line : split(text, '\n')) {
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      line = line.substr(0, line.find('#'));
      if (whole.empty()) first = number;
      const bool goes_on = line.ends_with('\\');
      if (goes_on) line.remove_suffix(1);
      whole += line;
      if (goes_on) continue;
      read_line(whole, first);
      whole.clear();
    }
    read_line(whole, first);
    check_tree();
    return std::move(switches_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    strata::fail({file_, line}, what);
  }

  void read_line(std::string_view line, int number) {
    const std::vector<std::string_view> words = split_at_blanks(line);
    if (words.empty()) return;
    SlurmSwitch found;
    found.line = number;
    for (const std::string_view word : words) read_word(word, found);
    if (found.name.empty()) fail(number, "SwitchName= is missing");
    if (found.hosts.empty() && found.below.empty()) {
      fail(number, fmt::format("switch '{}' has neither Nodes= nor Switches=", found.name));
    }
    if (!by_name_.emplace(found.name, switches_.size()).second) {
      fail(number, fmt::format("switch '{}' is there twice", found.name));
    }
    switches_.push_back(std::move(found));
  }

  void read_word(std::string_view word, SlurmSwitch& found) {
    const std::size_t equals = word.find('=');
    const std::string key = lower_case(word.substr(0, equals));
    const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
    if (key == "linkspeed") return;
    if (value.empty() || (key != "switchname" && key != "nodes" && key != "switches")) {
      fail(found.line, fmt::format("'{}'; allowed: SwitchName=NAME, Nodes=HOSTS, Switches=NAMES, "
                                   "LinkSpeed=N",
                                   word));
    }
    if (key == "switchname") {
      found.name = value;
      return;
    }
    try {
      (key == "nodes" ? found.hosts : found.below) = expand_hosts(value, host_limit_);
    } catch (const InputError& error) {
      fail(found.line, error.message());
    }
  }

  void check_tree() {
    if (switches_.empty()) fail(1, "no line says SwitchName=");
    for (const SlurmSwitch& parent : switches_) {
      for (const std::string& name : parent.below) hang(name, parent);
      for (const std::string& host : parent.hosts) check_host(host, parent);
    }
    const SlurmSwitch* root = nullptr;
    for (const SlurmSwitch& each : switches_) {
      if (!each.above.empty()) continue;
      if (root) {
        fail(each.line, fmt::format("'{}' and '{}' are both at the top; allowed: one switch above "
                                    "all others",
                                    root->name, each.name));
      }
      root = &each;
    }
    if (hosts_.empty()) fail(switches_.front().line, "no switch has Nodes=");
    for (const SlurmSwitch& each : switches_) count_hosts(each);
  }

  void hang(const std::string& name, const SlurmSwitch& parent) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      fail(parent.line, fmt::format("no switch is named '{}'", name));
    }
    SlurmSwitch& child = switches_[found->second];
    if (!child.above.empty()) {
      fail(parent.line, fmt::format("switch '{}' is below '{}' and '{}'; allowed: a tree", name,
                                    child.above, parent.name));
    }
    child.above = parent.name;
  }

  void check_host(const std::string& host, const SlurmSwitch& at) {
    if (!hosts_.insert(host).second) fail(at.line, fmt::format("host '{}' is there twice", host));
    if (hosts_.size() > host_limit_) {
      fail(at.line, fmt::format("there are more than {} hosts: a cluster has at most {} devices",
                                host_limit_, kDeviceLimit));
    }
  }

  void count_hosts(const SlurmSwitch& leaf) {
    int steps = 0;
    for (const SlurmSwitch* at = &leaf;;) {
      switches_[by_name_.at(at->name)].all_hosts += leaf.hosts.size();
      if (at->above.empty()) return;
      at = &switches_[by_name_.at(at->above)];
      if (++steps < kLevelLimit) continue;
      fail(leaf.line, fmt::format("switch '{}' is below itself, or below more than {} others; "
                                  "allowed: a tree",
                                  leaf.name, kLevelLimit));
    }
  }

  const std::string& file_;
  std::size_t host_limit_;
  std::vector<SlurmSwitch> switches_;
  std::map<std::string, std::size_t> by_name_;
  std::set<std::string> hosts_;
};

BytesPerSecond sum_of(const std::vector<NetworkPort>& ports) {
  BytesPerSecond sum;
  for (const NetworkPort& port : ports) sum.value += port.bandwidth.value;
  return sum;
}

}  // namespace

Fabric read_slurm(std::string_view text, const std::string& file, HostTopology topology,
                  const std::optional<BytesPerSecond>& uplink) {
  Fabric fabric;
  const BytesPerSecond of_host = sum_of(topology.ports);
  for (const SlurmSwitch& each : SlurmReader(file, topology.devices.size()).read(text)) {
    fabric.switches.push_back(each.name);
    for (const std::string& host : each.hosts) fabric.places.push_back({host, 0, each.name});
    if (each.above.empty()) continue;
    const BytesPerSecond all{of_host.value * static_cast<double>(each.all_hosts)};
    const BytesPerSecond rate = uplink.value_or(all);
    if (rate.value == 0) continue;  // no host below it: nothing goes there
    fabric.links.push_back({each.name, each.above, rate, {}, "", "uplink"});
    fabric.links.push_back({each.above, each.name, rate, {}, "", "uplink"});
  }
  fabric.topologies.push_back(std::move(topology));
  return fabric;
}

}  // namespace strata
