#include "sim/engine/fair_sharing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace strata {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Changes below this are rounding (see the header).
constexpr double kSameRate = 0x1p-46;
/// A link used up to here has room for rounding errors; one used more joins the problem, which is
/// always right.
constexpr double kRoomLeft = 1 - 1e-9;
/// With so little of a sum left, rounding errors begin to show in it.
constexpr double kLittleLeft = 0x1p-20;
/// Durations are rounded to the nearest tick, but with the border between two ticks a little off
/// the half. Flows that end together by calculation may differ in their last bits; small
/// fractions of a tick such as 1/2 are common (a third of 8 GB/s), and there they would part.
constexpr double kToNearest = 0.5 + 1.0 / 128;

Tick completion(Tick now, double ticks) {
  if (!(ticks < static_cast<double>(kMaxTick - now) - 1024)) return kNever;
  return now + static_cast<Tick>(ticks + kToNearest);
}

bool differ(double solved, double rate) {
  return std::abs(solved - rate) > kSameRate * rate;
}

}  // namespace

FairSharing::FairSharing(const Workload& workload, const SimulateOptions& options)
    : workload_(workload), options_(options), links_(workload.link_bandwidths().size()) {
  dirty_.reserve(links_.size());
  touched_.reserve(links_.size());
  for (std::size_t l = 0; l < links_.size(); ++l) {
    links_[l].capacity = workload.link_bandwidths()[l].value / kTicksPerSecond;
    links_[l].level = kInfinite;
  }
}

// A slot keeps its hops for life and is used again by flows with as many.
std::uint32_t FairSharing::claim(std::size_t hops) {
  if (unused_.size() <= hops) unused_.resize(hops + 1);
  if (unused_[hops].empty()) {
    Flow& flow = flows_.emplace_back();
    flow.first_hop = static_cast<std::uint32_t>(hops_.size());
    flow.hop_count = static_cast<std::uint32_t>(hops);
    hops_.resize(hops_.size() + hops);
    members_.reserve(flows_.size());
    caps_.reserve(flows_.size());
    return static_cast<std::uint32_t>(flows_.size() - 1);
  }
  const std::uint32_t slot = unused_[hops].back();
  unused_[hops].pop_back();
  return slot;
}

void FairSharing::start(ActivityId id) {
  const std::span<const Demand> demands = workload_.demands(id);
  const std::uint32_t slot = claim(demands.size());
  Flow& flow = flows_[slot];
  flow.rate = 0;
  flow.left = workload_.bytes(id);
  flow.activity = id;
  enter(slot, demands);
}

void FairSharing::mark(std::uint32_t link) {
  if (links_[link].pending) return;
  links_[link].pending = true;
  pending_.push_back(link);
  ++unsolved_;
}

// A new flow is not faster than its narrowest link lets it be. Links that could not bear that, and
// full ones, are in its problem from the start; the others join if its rate needs them after all.
inline void FairSharing::enter(std::uint32_t slot, std::span<const Demand> demands) {
  std::uint32_t h = flows_[slot].first_hop;
  double fastest = kInfinite;
  for (const Demand& d : demands) {
    LinkState& link = links_[d.link()];
    hops_[h] = {d.weight, d.link.value, static_cast<std::uint32_t>(link.crossings.size())};
    link.crossings.push_back({d.weight, slot, h++});
    fastest = std::min(fastest, link.capacity / d.weight);
  }
  for (const Demand& d : demands) {
    const LinkState& link = links_[d.link()];
    const bool fills = link.usage + d.weight * fastest > kRoomLeft * link.capacity;
    if (fills || link.level < kInfinite) mark(d.link.value);
  }
}

inline void FairSharing::leave(const Flow& flow) {
  for (const Hop& hop : hops(flow)) {
    LinkState& link = links_[hop.link];
    const Crossing moved = link.crossings.back();
    link.crossings[hop.place] = moved;
    hops_[moved.hop].place = hop.place;
    link.crossings.pop_back();
    link.usage -= hop.weight * flow.rate;
    if (link.crossings.empty()) {
      link.usage = 0;
      link.level = kInfinite;
    } else if (link.level < kInfinite) {
      mark(hop.link);
    }
  }
}

ActivityId FairSharing::complete() {
  const std::uint32_t slot = completions_.first();
  const Flow& flow = flows_[slot];
  completions_.remove(slot);
  leave(flow);
  unused_[flow.hop_count].push_back(slot);
  return flow.activity;
}

// Changes that do not reach one another are problems of their own.
void FairSharing::solve_pending(Tick now) {
  for (std::uint32_t link : pending_) {
    if (links_[link].pending) solve_around(link, now);
  }
  pending_.clear();
}

// The steps below are inline because the compiler makes one function of them then.
inline void FairSharing::solve_around(std::uint32_t link, Tick now) {
  ++stamp_;
  gathered_ = 0;
  dirty_.clear();
  members_.clear();
  touched_.clear();
  add_dirty(link);
  do {
    gather();
    prepare();
    fill();
  } while (spread());
  commit(now);
}

void FairSharing::add_dirty(std::uint32_t l) {
  LinkState& link = links_[l];
  link.dirty = stamp_;
  unsolved_ -= link.pending;
  link.pending = false;
  dirty_.push(l);
}

// Takes in the flows of the links that joined; changes that wait on links they cross come along.
inline void FairSharing::gather() {
  for (; gathered_ < dirty_.size(); ++gathered_) {
    LinkState& link = links_[dirty_[gathered_]];
    link.total = 0;
    for (const Crossing& crossing : link.crossings) {
      link.total += crossing.weight;
      Flow& flow = flows_[crossing.flow];
      members_.push_if(flow.stamp != stamp_, crossing.flow);
      flow.stamp = stamp_;
      if (unsolved_ > 0) add_pending(flow);
    }
  }
}

void FairSharing::add_pending(const Flow& flow) {
  for (const Hop& hop : hops(flow)) {
    if (links_[hop.link].pending) add_dirty(hop.link);
  }
}

inline void FairSharing::prepare() {
  levels_.clear();
  for (std::uint32_t l : dirty_) {
    LinkState& link = links_[l];
    link.room = link.capacity;
    link.weight = link.summed = link.total;
    link.unfrozen = static_cast<std::uint32_t>(link.crossings.size());
    link.level = kInfinite;
    if (link.unfrozen > 0) levels_.push({link.room / link.weight, l});
  }
  caps_.clear();
  least_cap_ = kInfinite;
  for (std::uint32_t f : members_) {
    Flow& flow = flows_[f];
    flow.frozen = false;
    const bool capped = (flow.rate != 0) & (links_[flow.bottleneck].dirty != stamp_);
    caps_.push_if(capped, f);
  }
  for (std::uint32_t f : caps_) least_cap_ = std::min(least_cap_, flows_[f].rate);
  if (++touch_stamp_ == 0) start_stamps_again();
  for (std::uint32_t l : touched_) links_[l].change = 0;
  touched_.clear();
}

// After 2^32 rounds: a stamp that was used before must not look like the present one.
void FairSharing::start_stamps_again() {
  for (LinkState& link : links_) link.touched = 0;
  touch_stamp_ = 1;
}

// Progressive filling. Freezing flows below a link's level only raises it, so an entry that is out
// of date is too low: it comes up early and is put back with its present level.
inline void FairSharing::fill() {
  frozen_ = 0;
  while (frozen_ < members_.size()) {
    const Level level = levels_.least();
    if (least_cap_ <= level.rate) {
      freeze_caps(level.rate);
      continue;
    }
    LinkState& link = links_[level.link];
    if (link.unfrozen == 0) {
      levels_.pop();
      continue;
    }
    const double present = present_level(link, level.rate);
    if (present > level.rate) {
      levels_.raise(present);
      continue;
    }
    levels_.pop();
    saturate(level.link, present);
  }
  if (options_.statistics == nullptr) return;
  ++options_.statistics->rate_solves;
  options_.statistics->flows_resolved += members_.size();
}

double FairSharing::present_level(LinkState& link, double at_least) const {
  if (!(link.weight > kLittleLeft * link.summed)) sum_again(link, at_least);
  return link.room / link.weight;
}

void FairSharing::sum_again(LinkState& link, double at_least) const {
  link.weight = 0;
  for (const Crossing& crossing : link.crossings) {
    if (!flows_[crossing.flow].frozen) link.weight += crossing.weight;
  }
  link.summed = link.weight;
  link.room = std::max(link.room, at_least * link.weight);
}

// The capped flows that are not faster than the next link's level move at their caps; the others
// close up in caps_.
inline void FairSharing::freeze_caps(double level) {
  const std::span<const std::uint32_t> caps(caps_);
  caps_.clear();
  least_cap_ = kInfinite;
  for (std::uint32_t f : caps) {
    Flow& flow = flows_[f];
    if (flow.frozen) continue;
    if (flow.rate <= level) {
      freeze(flow, flow.rate, flow.bottleneck);
    } else {
      least_cap_ = std::min(least_cap_, flow.rate);
      caps_.push(f);
    }
  }
}

inline void FairSharing::saturate(std::uint32_t l, double level) {
  LinkState& link = links_[l];
  link.level = level;
  for (const Crossing& crossing : link.crossings) {
    Flow& flow = flows_[crossing.flow];
    if (!flow.frozen) freeze(flow, level, l);
  }
}

// Does the same to all links of the flow, without branches: what it does to the room of links
// outside of the problem and to the change of those inside does not matter.
inline void FairSharing::freeze(Flow& flow, double rate, std::uint32_t bottleneck) {
  flow.frozen = true;
  flow.solved = rate;
  flow.next_bottleneck = bottleneck;
  ++frozen_;
  const bool changes = differ(rate, flow.rate);
  const double change = changes * (rate - flow.rate);
  const std::uint32_t stamp = changes * touch_stamp_;
  for (const Hop& hop : hops(flow)) {
    LinkState& link = links_[hop.link];
    link.room -= hop.weight * rate;
    link.weight -= hop.weight;
    --link.unfrozen;
    link.change += hop.weight * change;
    touched_.push_if((link.dirty != stamp_) & (link.touched < stamp), hop.link);
    link.touched = std::max(link.touched, stamp);
  }
}

// Takes in the links outside of the problem that the changes of rates would matter to.
inline bool FairSharing::spread() {
  const std::size_t before = dirty_.size();
  for (std::uint32_t l : touched_) {
    const LinkState& link = links_[l];
    const bool fills = (link.change > 0) & (link.usage + link.change > kRoomLeft * link.capacity);
    if (fills | (link.level < kInfinite)) add_dirty(l);
  }
  add_likely(before);
  return dirty_.size() > before;
}

// The flows that the new links held back will probably change too, and so reach the other full
// links that they cross, and so on. More than is needed does no harm, and saves rounds.
inline void FairSharing::add_likely(std::size_t first) {
  for (std::size_t i = first; i < dirty_.size(); ++i) {
    for (const Crossing& crossing : links_[dirty_[i]].crossings) {
      const Flow& flow = flows_[crossing.flow];
      if ((flow.bottleneck != dirty_[i]) | (flow.rate == 0)) continue;
      for (const Hop& hop : hops(flow)) {
        const LinkState& link = links_[hop.link];
        if ((link.dirty != stamp_) & (link.level < kInfinite)) add_dirty(hop.link);
      }
    }
  }
}

inline void FairSharing::commit(Tick now) {
  for (std::uint32_t l : touched_) {
    links_[l].usage += links_[l].change;
    links_[l].change = 0;
  }
  for (std::uint32_t l : dirty_) {
    links_[l].usage = links_[l].capacity - links_[l].room;
    links_[l].change = 0;
  }
  for (std::uint32_t f : members_) {
    flows_[f].bottleneck = flows_[f].next_bottleneck;
    if (differ(flows_[f].solved, flows_[f].rate)) change_rate(f, now);
  }
}

inline void FairSharing::change_rate(std::uint32_t f, Tick now) {
  Flow& flow = flows_[f];
  flow.left -= flow.rate * static_cast<double>(now - flow.since);
  flow.left = std::max(flow.left, 0.0);
  flow.since = now;
  flow.rate = flow.solved;
  completions_.set(f, completion(now, flow.left / flow.rate));
  if (options_.rate_changes == nullptr) return;
  options_.rate_changes->push_back({now, flow.activity, flow.rate * kTicksPerSecond});
}

}  // namespace strata
