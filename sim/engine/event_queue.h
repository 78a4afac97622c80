#pragma once

// The two queues of things to come, both four-ary heaps (half the depth of a binary one, and the
// four children lie in one or two cache lines). Equal times never move one another, so that the
// thousand ends of one round of a collective cost no sifting. The order among equal times is the
// heap's: deterministic, and without effect on any result, as the engine handles all events of
// one time together.

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/engine/tick.h"

namespace strata {

inline constexpr Tick kNever = std::numeric_limits<Tick>::max();

/// The first of the earliest among the children in heap[begin, size), of which there are at most
/// four. All four are compared in pairs, without branches.
template <class Entry>
std::size_t earliest_child(const std::vector<Entry>& heap, std::size_t begin) {
  const auto earlier = [&](std::size_t a, std::size_t b) {
    return a + (b - a) * (heap[b].at < heap[a].at);
  };
  if (begin + 4 <= heap.size()) {
    return earlier(earlier(begin, begin + 1), earlier(begin + 2, begin + 3));
  }
  std::size_t earliest = begin;
  for (std::size_t child = begin + 1; child < heap.size(); ++child) {
    earliest = earlier(earliest, child);
  }
  return earliest;
}

enum class TimerKind : std::uint32_t { ready, moves, done };

/// At a time that is known for good: delays, latencies, durations.
struct Timer {
  Tick at;
  std::uint32_t activity;
  TimerKind kind;
};

class TimerQueue {
 public:
  Tick next() const { return heap_.empty() ? kNever : heap_.front().at; }

  void push(const Timer& timer) {
    std::size_t hole = heap_.size();
    heap_.push_back(timer);
    for (; hole > 0 && timer.at < heap_[(hole - 1) / 4].at; hole = (hole - 1) / 4) {
      heap_[hole] = heap_[(hole - 1) / 4];
    }
    heap_[hole] = timer;
  }

  Timer pop() {
    const Timer first = heap_.front();
    const Timer last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

 private:
  void sink(const Timer& timer) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 4 * hole + 1) {
      child = earliest_child(heap_, child);
      if (heap_[child].at >= timer.at) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = timer;
  }

  std::vector<Timer> heap_;
};

/// When each moving flow will be done at its present rate. Flows are the slots 0, 1, ...; each is
/// in the queue at most once.
class CompletionQueue {
 public:
  Tick next() const { return heap_.empty() ? kNever : heap_.front().at; }
  std::uint32_t first() const { return heap_.front().flow; }
  bool empty() const { return heap_.empty(); }

  /// Enters the flow, or moves it to its new time.
  void set(std::uint32_t flow, Tick at) {
    if (flow >= places_.size()) places_.resize(flow + 1, kAbsent);
    if (places_[flow] == kAbsent) {
      places_[flow] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({kNever, flow});
    }
    const std::size_t place = places_[flow];
    at < heap_[place].at ? rise(place, {at, flow}) : sink(place, {at, flow});
  }

  void remove(std::uint32_t flow) {
    const std::size_t place = places_[flow];
    places_[flow] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    last.at < heap_[place].at ? rise(place, last) : sink(place, last);
  }

 private:
  struct Entry {
    Tick at;
    std::uint32_t flow;
  };
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    places_[entry.flow] = static_cast<std::uint32_t>(place);
  }

  void rise(std::size_t hole, const Entry& entry) {
    for (; hole > 0 && entry.at < heap_[(hole - 1) / 4].at; hole = (hole - 1) / 4) {
      put(hole, heap_[(hole - 1) / 4]);
    }
    put(hole, entry);
  }

  void sink(std::size_t hole, const Entry& entry) {
    const std::size_t size = heap_.size();
    for (std::size_t child = 4 * hole + 1; child < size; child = 4 * hole + 1) {
      child = earliest_child(heap_, child);
      if (heap_[child].at >= entry.at) break;
      put(hole, heap_[child]);
      hole = child;
    }
    put(hole, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> places_;
};

}  // namespace strata
