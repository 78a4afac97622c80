#pragma once

// Max-min fair sharing of links among the flows that cross them, kept up to date while flows come
// and go.
//
// Theory. Flow f moving at x_f uses w_fl x_f of the capacity C_l of each link l it demands. The
// max-min fair rates are the feasible ones at which no flow can go faster without slowing one that
// is not faster than itself (Bertsekas and Gallager, Data Networks, 6.5.2). Progressive filling
// finds them: raise all rates together; the link that runs full first, at the level
//     lambda_l = (C_l - sum of w_fl x_f over its frozen flows) / (sum of w_fl over the others),
// freezes its flows there; go on with the rest. They are also the only feasible rates for which
// every flow has a *bottleneck*: a link that is full and on which no flow is faster.
//
// That certificate makes local repair exact. When flows came or went, the links they crossed are
// solved first, alone: a flow on them whose bottleneck lies elsewhere is capped at its present
// rate, one whose bottleneck is among them is free. If a rate changes that way, the flow's other
// links matter: one that is a bottleneck joins the problem, and so does one that the change might
// fill; one that has room left can't change anybody's rate and stays out. This repeats until no
// link joins. Then every flow has a bottleneck again - a capped flow its old one, none of whose
// flows changed; any other one in the problem - and every link is feasible, so these are the rates
// that solving everything anew would give. What is reached is less than the connected component:
// a change spreads only over full links, and from slower to faster flows. (To save rounds, links
// that join bring along the full links that will most likely follow; a larger problem is as right.)
//
// Rates that come out within 2^-46 of their old value count as unchanged: summation in another
// order must not spread through the whole network. Nothing accumulates, as each solution starts
// from the capacities again. The bytes left are stored as of the last change of the rate, and are
// never asked whether they reached zero: a flow is done at its predicted time.
//
// A link's room and weight are lowered by what is frozen. Where weights differ by many powers of
// ten, what is left of them can be mere rounding errors, or nothing: then the weight is added up
// again, and the room taken for no less than its flows would use at the level reached, below which
// no flow of the link moves.
//
// Rates are bytes per tick inside. One object serves one simulation; not thread-safe.

#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/event_queue.h"

namespace strata {

/// A list with room for all that a problem may hold. Appending does not branch: the conditions of
/// solving are close to random, and one that the processor guesses wrong costs more than the work
/// that it saves.
template <class T>
class ScratchList {
 public:
  /// Room for `capacity` items, and for one more that is not kept.
  void reserve(std::size_t capacity) {
    if (items_.size() <= capacity) items_.resize(capacity + capacity / 2 + 1);
  }
  void clear() { size_ = 0; }
  void push(T item) {
    assert(size_ < items_.size());
    items_[size_++] = item;
  }
  void push_if(bool keep, T item) {
    assert(size_ < items_.size());
    items_[size_] = item;
    size_ += keep;
  }
  std::size_t size() const { return size_; }
  T operator[](std::size_t i) const { return items_[i]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::vector<T> items_;
  std::size_t size_ = 0;
};

/// The rate at which a link runs full.
struct Level {
  double rate;
  std::uint32_t link;

  bool operator<(const Level& b) const {
    return (rate < b.rate) | ((rate == b.rate) & (link < b.link));
  }
};

/// A heap, the least level in front.
class LevelQueue {
 public:
  void clear() { heap_.clear(); }
  Level least() const { return heap_.front(); }

  void push(const Level& level) {
    std::size_t hole = heap_.size();
    heap_.push_back(level);
    for (; hole > 0 && level < heap_[(hole - 1) / 2]; hole = (hole - 1) / 2) {
      heap_[hole] = heap_[(hole - 1) / 2];
    }
    heap_[hole] = level;
  }
  void pop() {
    const Level last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
  }
  /// Of the least.
  void raise(double rate) { sink({rate, heap_.front().link}); }

 private:
  void sink(const Level& level) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size) child += heap_[child + 1] < heap_[child];
      if (level < heap_[child]) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = level;
  }

  std::vector<Level> heap_;
};

class FairSharing {
 public:
  FairSharing(const Workload& workload, const SimulateOptions& options);

  /// The flow (with bytes and demands) begins to move; its rate is known after solve().
  void start(ActivityId id);
  /// When the next flow will be done, or kNever.
  Tick next_completion() const { return completions_.next(); }
  /// Takes out the flow that is done at next_completion().
  ActivityId complete();
  /// Shares the links among the flows that move from `now` on.
  void solve(Tick now) {
    if (!pending_.empty()) solve_pending(now);
  }
  bool moving() const { return !completions_.empty(); }
  /// Some flow that moves, if moving().
  ActivityId any_moving() const { return flows_[completions_.first()].activity; }

 private:
  struct Crossing {  // a flow on a link
    double weight;
    std::uint32_t flow;
    std::uint32_t hop;  // in hops_
  };
  struct Hop {  // a link on the way of a flow
    double weight;
    std::uint32_t link;
    std::uint32_t place;  // in the link's crossings
  };
  // What freezing touches comes first: it fills one cache line.
  struct alignas(64) LinkState {
    double room = 0, weight = 0;  // while solving: capacity and weights not frozen yet
    std::uint32_t unfrozen = 0;
    std::uint32_t dirty = 0;    // the stamp of the problem that it is in
    std::uint32_t touched = 0;  // the stamp of the round in which `change` holds
    bool pending = false;
    double change = 0;  // of the usage of a link outside of the problem
    double level;       // the rate at which it freezes flows; infinite: no bottleneck
    double capacity;
    double usage = 0;   // by the present rates
    double total = 0;   // weight of its flows, where it is in the problem
    double summed = 0;  // the weight when it was last added up and not subtracted from
    std::vector<Crossing> crossings;
  };
  struct alignas(64) Flow {
    double rate = 0;    // 0: not known yet
    double solved = 0;  // the rate in the problem
    std::uint32_t hop_count = 0;
    std::uint32_t first_hop = 0;   // in hops_
    std::uint32_t bottleneck = 0;  // a link
    std::uint32_t next_bottleneck = 0;
    std::uint32_t stamp = 0;  // of the problem that it is in
    bool frozen = false;
    double left = 0;  // bytes, at the time `since`
    Tick since = 0;
    ActivityId activity;
  };

  std::uint32_t claim(std::size_t hops);
  std::span<Hop> hops(const Flow& flow) {
    return std::span(hops_).subspan(flow.first_hop, flow.hop_count);
  }
  void enter(std::uint32_t slot, std::span<const Demand> demands);
  void leave(const Flow& flow);
  void mark(std::uint32_t link);
  void solve_pending(Tick now);
  void solve_around(std::uint32_t link, Tick now);
  void add_dirty(std::uint32_t link);
  void gather();
  void add_pending(const Flow& flow);
  void prepare();
  void start_stamps_again();
  void fill();
  double present_level(LinkState& link, double at_least) const;
  void sum_again(LinkState& link, double at_least) const;
  void freeze_caps(double level);
  void saturate(std::uint32_t link, double level);
  void freeze(Flow& flow, double rate, std::uint32_t bottleneck);
  bool spread();
  void add_likely(std::size_t first);
  void commit(Tick now);
  void change_rate(std::uint32_t flow, Tick now);

  const Workload& workload_;
  SimulateOptions options_;
  std::vector<LinkState> links_;
  std::vector<Flow> flows_;
  std::vector<Hop> hops_;
  std::vector<std::vector<std::uint32_t>> unused_;  // slots of flows, by their number of hops
  CompletionQueue completions_;
  std::vector<std::uint32_t> pending_;  // links that flows entered or left
  std::size_t unsolved_ = 0;            // of them

  // The problem at hand.
  std::uint32_t stamp_ = 0, touch_stamp_ = 0;
  ScratchList<std::uint32_t> dirty_;    // its links; those before gathered_ have their flows in
  ScratchList<std::uint32_t> members_;  // its flows
  ScratchList<std::uint32_t> touched_;  // links outside that would see a change
  LevelQueue levels_;                   // of its links
  ScratchList<std::uint32_t> caps_;     // its flows with caps, if not frozen yet
  double least_cap_ = 0;
  std::size_t gathered_ = 0, frozen_ = 0;
};

}  // namespace strata
