#include "sim/replay/replay_builder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

std::vector<BytesPerSecond> bandwidths(const Cluster& cluster) {
  std::vector<BytesPerSecond> values;
  for (const Link& link : cluster.links()) values.push_back(link.bandwidth);
  return values;
}

Workload empty_workload(const Cluster& cluster) {
  return Workload(cluster.device_count(), bandwidths(cluster));
}

}  // namespace

ReplayBuilder::ReplayBuilder(const std::string& file, const Cluster& cluster)
    : file_(file), cluster_(cluster), workload_(empty_workload(cluster)), begins_{0} {
  rehash(1024);
}

bool ReplayBuilder::add(simdjson::ondemand::object object, int line) {
  const std::size_t before = workload_.size();
  lines_.push_back(line);
  try {
    fields_.read(object);
    add_activity();
    return true;
  } catch (const InputError& error) {
    add_error(line, error.message());
  }
  // What is wrong keeps its number and its id, so that no other line is blamed for it.
  if (workload_.size() == before) workload_.add_event();
  if (symbols_.size() == workload_.size()) return false;
  symbols_.push_back(intern(fields_.id.value_or("")));
  integers_.push_back(fields_.id_is_integer);
  ActivityId& activity = activities_[symbols_.back()];
  if (fields_.id && !activity.valid()) activity = ActivityId{before};
  return false;
}

void ReplayBuilder::add_activity() {
  const std::uint32_t symbol = intern(*fields_.id);
  if (activities_[symbol].valid()) {
    const int first = lines_[activities_[symbol]()];
    throw InputError(
        fmt::format("id '{}' comes twice; the first is in line {}", *fields_.id, first));
  }
  const ActivityId id = add_resources();
  symbols_.push_back(symbol);
  integers_.push_back(fields_.id_is_integer);
  activities_[symbol] = id;
  if (fields_.delay) workload_.set_delay(id, to_ticks({*fields_.delay}));
  if (fields_.not_before) workload_.set_not_before(id, to_ticks({*fields_.not_before}));
  add_dependencies(id);
}

ActivityId ReplayBuilder::add_resources() {
  if (fields_.on) return add_compute();
  if (fields_.from) return add_routed_flow();
  if (fields_.has_over) return add_flow_over_links();
  return workload_.add_event(to_ticks({*fields_.event}));
}

DeviceId ReplayBuilder::find_device(std::string_view key, std::string_view name) const {
  const DeviceId device = cluster_.find_device(name);
  if (device.valid()) return device;
  throw InputError(
      fmt::format("'{}' names '{}', which is no device of cluster {}", key, name, cluster_.name()));
}

ActivityId ReplayBuilder::add_compute() {
  const DeviceId device = find_device("on", *fields_.on);
  const auto priority = static_cast<std::uint64_t>(fields_.priority.value_or(0));
  return workload_.add_compute(device, to_ticks({*fields_.seconds}), priority);
}

Tick ReplayBuilder::latency_or(Seconds sum) const {
  if (fields_.latency) return to_ticks({*fields_.latency});
  if (sum <= to_seconds(kMaxTick)) return to_ticks(sum);
  throw InputError(fmt::format(
      "the latencies of the flow's links add up to {:g} s; allowed: {:g} s, where the clock ends",
      sum.value, to_seconds(kMaxTick).value));
}

ActivityId ReplayBuilder::add_routed_flow() {
  const DeviceId from = find_device("from", *fields_.from), to = find_device("to", *fields_.to);
  const std::span<const LinkId> route = cluster_.route(from, to);
  return workload_.add_flow(route, *fields_.bytes, latency_or(cluster_.latency(from, to)));
}

ActivityId ReplayBuilder::add_flow_over_links() {
  if (fields_.over.empty()) throw InputError("'over' must name at least one link");
  if (fields_.has_weights && fields_.weights.size() != fields_.over.size()) {
    throw InputError(fmt::format("'weights' must be as many as the links of 'over': {}, not {}",
                                 fields_.over.size(), fields_.weights.size()));
  }
  demands_.clear();
  Seconds latency;
  for (std::size_t i = 0; i < fields_.over.size(); ++i) {
    const LinkId link = cluster_.find_link(fields_.over[i]);
    if (!link.valid()) {
      throw InputError(fmt::format("'over' names '{}', which is no link of cluster {}",
                                   fields_.over[i], cluster_.name()));
    }
    demands_.push_back({link, fields_.has_weights ? fields_.weights[i] : 1});
    latency += cluster_[link].latency;
  }
  check_distinct();
  return workload_.add_flow(std::span<const Demand>(demands_), *fields_.bytes, latency_or(latency));
}

void ReplayBuilder::check_distinct() {
  scratch_.clear();
  for (const Demand& d : demands_) scratch_.push_back(d.link);
  std::sort(scratch_.begin(), scratch_.end());
  const auto twice = std::adjacent_find(scratch_.begin(), scratch_.end());
  if (twice == scratch_.end()) return;
  throw InputError(
      fmt::format("'over' names link '{}' twice; for twice its load, give it a "
                  "weight of 2",
                  cluster_[*twice].name));
}

void ReplayBuilder::add_dependencies(ActivityId id) {
  for (std::string_view text : fields_.after) {
    const std::uint32_t symbol = intern(text);
    const ActivityId earlier = activities_[symbol];
    if (earlier.valid()) {
      workload_.add_dependency(id, earlier);
    } else {
      open_.push_back({id, symbol});
    }
  }
}

std::string_view ReplayBuilder::text_of(std::uint32_t symbol) const {
  return std::string_view(text_).substr(begins_[symbol], begins_[symbol + 1] - begins_[symbol]);
}

std::uint32_t ReplayBuilder::intern(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].symbol != 0; at = (at + 1) & mask) {
    const std::uint32_t symbol = slots_[at].symbol - 1;
    if (slots_[at].hash == hash && text_of(symbol) == text) return symbol;
  }
  text_ += text;
  begins_.push_back(text_.size());
  activities_.emplace_back();
  slots_[at] = {hash, static_cast<std::uint32_t>(activities_.size())};
  if (2 * activities_.size() > slots_.size()) rehash(2 * slots_.size());
  return static_cast<std::uint32_t>(activities_.size() - 1);
}

void ReplayBuilder::rehash(std::size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : before) {
    if (slot.symbol == 0) continue;
    std::size_t at = slot.hash & (slots - 1);
    while (slots_[at].symbol != 0) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
  }
}

ReplayPlan ReplayBuilder::build() && {
  resolve();
  errors_.throw_if_any();
  if (workload_.size() == 0) fail({file_, 0}, "no activities; allowed: one or more");
  check_cycles();
  slots_ = {};
  open_ = {};
  return {std::move(workload_), take_ids(), file_, std::move(lines_)};
}

void ReplayBuilder::resolve() {
  for (const Open& open : open_) {
    const ActivityId earlier = activities_[open.symbol];
    if (earlier.valid()) {
      workload_.add_dependency(open.later, earlier);
    } else {
      add_error(lines_[open.later()],
                fmt::format("'after' names '{}', which is no activity of this file",
                            text_of(open.symbol)));
    }
  }
}

void ReplayBuilder::check_cycles() {
  const std::vector<ActivityId> cycle = find_cycle(workload_);
  if (cycle.empty()) return;
  constexpr std::size_t kShown = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i) {
    text += fmt::format("'{}' after ", text_of(symbols_[cycle[i]()]));
  }
  if (cycle.size() > kShown) text += "... after ";
  add_error(lines_[cycle.front()()], fmt::format("activities wait for one another: {}'{}'", text,
                                                 text_of(symbols_[cycle.front()()])));
  errors_.throw_if_any();
}

ReplayIds ReplayBuilder::take_ids() {
  ReplayIds ids;
  ids.begins_.reserve(symbols_.size());
  ids.lengths_.reserve(symbols_.size());
  for (std::uint32_t symbol : symbols_) {
    ids.begins_.push_back(begins_[symbol]);
    ids.lengths_.push_back(static_cast<std::uint32_t>(text_of(symbol).size()));
  }
  ids.integers_ = std::move(integers_);
  ids.text_ = std::move(text_);
  return ids;
}

}  // namespace strata
