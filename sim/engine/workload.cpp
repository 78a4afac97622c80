#include "sim/engine/workload.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::span<const Demand> demands, Tick latency) {
  std::uint64_t hash = mix(demands.size(), static_cast<std::uint64_t>(latency));
  for (const Demand& d : demands) {
    hash = mix(mix(hash, d.link()), std::bit_cast<std::uint64_t>(d.weight));
  }
  return hash;
}

template <class T>
void set(std::vector<T>& values, std::size_t at, T value) {
  if (values.size() <= at && value == T{}) return;
  if (values.size() <= at) values.resize(at + 1);
  values[at] = value;
}

}  // namespace

Workload::Workload(std::size_t device_count, std::span<const BytesPerSecond> link_bandwidths)
    : device_count_(device_count), bandwidths_(link_bandwidths.begin(), link_bandwidths.end()) {
  for (std::size_t i = 0; i < bandwidths_.size(); ++i) {
    const double b = bandwidths_[i].value;
    if (b >= kLeastBandwidth.value && b <= kMostBandwidth.value) continue;
    throw InputError(fmt::format("link {}: bandwidth {} bytes/s; allowed: {} to {}", i, b,
                                 kLeastBandwidth.value, kMostBandwidth.value));
  }
  rehash(64);
}

void Workload::reserve(std::size_t activities, std::size_t demands, std::size_t dependencies) {
  activities_.reserve(activities);
  demands_.reserve(demands);
  dependencies_.reserve(dependencies);
}

ActivityId Workload::add(ActivityKind kind, std::size_t index, std::uint64_t amount) {
  assert(copies_ == 0);
  activities_.push_back({amount, static_cast<std::uint32_t>(index), kind});
  return ActivityId{period_++};
}

ActivityId Workload::add_compute(DeviceId on, Tick duration, std::uint64_t priority) {
  assert(on() < device_count_ && duration >= 0);
  const ActivityId id = add(ActivityKind::compute, on(), static_cast<std::uint64_t>(duration));
  set(priorities_, id(), priority);
  return id;
}

ActivityId Workload::add_flow(std::span<const Demand> demands, double bytes, Tick latency) {
  assert(std::isfinite(bytes) && bytes >= 0 && latency >= 0);
  return add(ActivityKind::flow, intern(demands, latency), std::bit_cast<std::uint64_t>(bytes));
}

ActivityId Workload::add_flow(std::span<const LinkId> links, double bytes, Tick latency) {
  scratch_.clear();
  for (LinkId link : links) scratch_.push_back({link, 1});
  return add_flow(std::span<const Demand>(scratch_), bytes, latency);
}

std::uint32_t Workload::add_device_set(std::span<const DeviceId> devices) {
  device_sets_.emplace_back(devices.begin(), devices.end());
  return static_cast<std::uint32_t>(device_sets_.size() - 1);
}

void Workload::slow(ActivityId flow, std::uint32_t device_set, double share) {
  assert(copies_ == 0);
  assert(kind(flow) == ActivityKind::flow && device_set < device_sets_.size());
  assert(share > 0 && share < 1 && (slowed_share_ == 0 || slowed_share_ == share));
  slowed_share_ = share;
  set(slowed_sets_, flow(), device_set + 1);
}

std::span<const DeviceId> Workload::slows(ActivityId id) const {
  const std::size_t at = copies_ > 0 ? id() % period_ : id();
  if (at >= slowed_sets_.size() || slowed_sets_[at] == 0) return {};
  return device_sets_[slowed_sets_[at] - 1];
}

ActivityId Workload::add_event(Tick duration) {
  assert(duration >= 0);
  return add(ActivityKind::event, 0, static_cast<std::uint64_t>(duration));
}

void Workload::add_dependency(ActivityId later, ActivityId earlier) {
  assert(later() < size() && earlier() < size());
  if (copies_ > 0 && !listed_) list_dependencies();
  in_order_ = in_order_ && earlier < later;
  dependencies_.push_back({later, earlier});
}

void Workload::set_delay(ActivityId id, Tick delay) {
  assert(id() < size() && delay >= 0);
  set(delays_, id(), delay);
}

void Workload::set_not_before(ActivityId id, Tick time) {
  assert(id() < size() && time >= 0);
  set(not_before_, id(), time);
}

void Workload::repeat(std::size_t copies, std::vector<Dependency> across,
                      std::uint64_t priority_step) {
  assert(copies_ == 0 && delays_.empty() && not_before_.empty());
  if (copies == 0) return;
  priorities_.resize(period_);
  for (const auto& [later, earlier] : across) {
    in_order_ = in_order_ && earlier() < later() + period_;
  }
  across_ = std::move(across);
  copies_ = copies;
  priority_step_ = priority_step;
}

std::uint64_t Workload::priority_of_copy(ActivityId id) const {
  return priorities_[id() % period_] + id() / period_ * priority_step_;
}

std::vector<Dependency> Workload::dependencies() const {
  std::vector<Dependency> all;
  all.reserve(dependencies_.size() +
              (listed_ ? 0 : copies_ * (dependencies_.size() + across_.size())));
  for_each_dependency([&](ActivityId later, ActivityId earlier) {
    all.push_back({later, earlier});
  });
  return all;
}

void Workload::list_dependencies() {
  dependencies_ = dependencies();
  across_ = {};
  listed_ = true;
}

void Workload::set_duration(ActivityId id, Tick duration) {
  assert(kind(id) == ActivityKind::compute && duration >= 0);
  if (activities_.size() < size()) {
    activities_.reserve(size());
    for (std::size_t i = period_; i < size(); ++i) activities_.push_back(activities_[i - period_]);
  }
  activities_[id()].amount = static_cast<std::uint64_t>(duration);
}

double Workload::bytes(ActivityId id) const {
  return std::bit_cast<double>(activity(id).amount);
}

std::span<const Demand> Workload::demands(ActivityId id) const {
  const Route& route = routes_[index(id)];
  return std::span(demands_).subspan(route.begin, route.end - route.begin);
}

bool Workload::same(const Route& route, std::span<const Demand> demands, Tick latency) const {
  return route.latency == latency &&
         std::equal(demands_.begin() + route.begin, demands_.begin() + route.end, demands.begin(),
                    demands.end());
}

void Workload::check(const Demand& demand) const {
  assert(demand.link() < bandwidths_.size());
  if (demand.weight >= kLeastWeight && demand.weight <= kMostWeight) return;
  throw InputError(fmt::format("link {}: weight {}; allowed: {} to {}", demand.link(),
                               demand.weight, kLeastWeight, kMostWeight));
}

std::uint32_t Workload::intern(std::span<const Demand> demands, Tick latency) {
  const std::size_t mask = route_slots_.size() - 1;
  std::size_t slot = hash_of(demands, latency) & mask;
  for (; route_slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::uint32_t route = route_slots_[slot] - 1;
    if (same(routes_[route], demands, latency)) return route;
  }
  const auto begin = static_cast<std::uint32_t>(demands_.size());
  for (const Demand& d : demands) check(d);
  demands_.insert(demands_.end(), demands.begin(), demands.end());
  routes_.push_back({begin, static_cast<std::uint32_t>(demands_.size()), latency});
  route_slots_[slot] = static_cast<std::uint32_t>(routes_.size());
  if (2 * routes_.size() > route_slots_.size()) rehash(2 * route_slots_.size());
  return static_cast<std::uint32_t>(routes_.size() - 1);
}

void Workload::rehash(std::size_t slots) {
  route_slots_.assign(slots, 0);
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    const auto demands =
        std::span(demands_).subspan(routes_[r].begin, routes_[r].end - routes_[r].begin);
    std::size_t slot = hash_of(demands, routes_[r].latency) & (slots - 1);
    while (route_slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
    route_slots_[slot] = static_cast<std::uint32_t>(r + 1);
  }
}

}  // namespace strata
