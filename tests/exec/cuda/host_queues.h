#pragma once

// The queues of a host that stands for GPUs (host_device.h): what its streams hold, and who may go
// on. Internal to the files that make the host.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/cuda/device/device.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/host_memory.h"

namespace strata::cuda::host {

/// One piece of work: done once `awaited` has happened, and all have come whom it meets.
struct Work {
  std::function<void()> run;
  std::uint64_t awaited = 0;  ///< a point in time that must be past; 0: none
  std::uint64_t makes = 0;    ///< a point in time that is past then
  std::shared_ptr<Meeting> meeting = nullptr;
  bool came = false;
};

/// What an Event holds: the point in time that it recorded last; 0: none.
struct HostEvent {
  EventKind kind = EventKind::order;
  std::uint64_t point = 0;
};

struct Queue;

/// A recording: the work of each queue that takes part, in the order in which they came to it.
struct Tape {
  struct Track {
    Queue* of = nullptr;
    std::vector<Work> work;
  };
  std::vector<Track> tracks;  ///< the first one is joined by the others
  bool over = false;

  void add(Queue& queue, Work work) {
    for (Track& track : tracks) {
      if (track.of == &queue) return track.work.push_back(std::move(work));
    }
    tracks.push_back({&queue, {std::move(work)}});
  }
};

/// Who waits for what: until a point is past, or, without one, until the queue is empty.
struct Awaited {
  const Queue* queue = nullptr;
  std::uint64_t point = 0;
};

struct Queue {
  int gpu = 0;
  bool green = false;
  std::deque<Work> work = {};
  std::shared_ptr<Tape> tape = nullptr;  ///< that keeps what is put here, or null
};

// Of the one host that there is.
struct Host {
  std::mutex mutex;  // of all below: ranks in tests are threads
  std::condition_variable changed;
  std::size_t ranks = 1, asleep = 0;
  std::multiset<const Awaited*> waiting = {};  ///< by threads that are asleep until then

  std::mt19937_64 random{1};
  int gpus = 1;
  bool reads_pageable_late = false, lets_recorded_memory_go = false;
  Refused refused = Refused::nothing;  ///< on green queues
  HostMemory memory;
  std::map<const char*, std::int64_t> pinned;  ///< the host's own: bytes, by address
  std::set<Queue*> queues;
  std::vector<std::unique_ptr<Queue>> played;               ///< of them: tracks of recordings
  std::map<std::uint64_t, std::shared_ptr<Tape>> recorded;  ///< by point of a tape
  std::uint64_t points = 0;                                 ///< made so far; 1 is the first
  std::set<std::uint64_t> past;
  std::map<std::uint64_t, double> times;  ///< by point: how much had been done before it
  double done = 0;
  std::size_t waits = 0, recordings = 0;
  std::size_t ahead = 0;  ///< events yet to be recorded that are waited for at once
  std::map<EventKind, std::size_t> events = {};  ///< recorded

  bool refuses(const Queue& queue, Refused what) const { return queue.green && refused == what; }
  void check(const Queue& queue, Refused what, const char* doing) const {
    if (refuses(queue, what)) throw EnvironmentError(std::string(doing) + ": not on a green one");
  }
  bool may_go(const Queue& queue) const {
    if (queue.work.empty()) return false;
    const Work& next = queue.work.front();
    const bool others_miss = next.came && next.meeting->came < next.meeting->expected;
    return !others_miss && (next.awaited == 0 || past.contains(next.awaited));
  }
  // Who comes to a meeting comes back when all have come; the first of them does what is to be
  // done.
  void step(Queue& queue) {
    Work& next = queue.work.front();
    if (next.meeting && !next.came) {
      next.came = true, ++next.meeting->came;
      return;
    }
    const Work work = std::move(next);
    queue.work.pop_front();
    if (work.run) work.run();
    if (work.meeting) std::exchange(work.meeting->work, [] {})();
    done += 1;
    if (work.makes != 0) past.insert(work.makes), times[work.makes] = done;
  }
  bool is_pinned(const void* address) const {
    const auto after = pinned.upper_bound(static_cast<const char*>(address));
    if (after == pinned.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return static_cast<const char*>(address) < begin + bytes;
  }
  bool is_over(const Awaited& awaited) const {
    return awaited.point == 0 ? awaited.queue->work.empty() : past.contains(awaited.point);
  }
  void finish(const Queue& wanted, std::unique_lock<std::mutex>& lock) {
    if (wanted.tape) throw EnvironmentError("who records waits for a stream");
    await({&wanted, 0}, lock);
  }
  // Others than those that are waited for get their turns by chance.
  void await(const Awaited& wanted, std::unique_lock<std::mutex>& lock) {
    while (!is_over(wanted)) {
      std::vector<Queue*> able;
      for (Queue* queue : queues) {
        if (may_go(*queue)) able.push_back(queue);
      }
      if (able.empty()) {
        wait_for_others(wanted, lock);
      } else {
        step(*able[random() % able.size()]);
        if (asleep > 0) changed.notify_all();
      }
    }
  }
  // Who is not asleep may still put work on its streams, and so may who waits for what is over and
  // was not told yet.
  void wait_for_others(const Awaited& wanted, std::unique_lock<std::mutex>& lock) {
    const bool all_wait = std::none_of(waiting.begin(), waiting.end(),
                                       [&](const Awaited* one) { return is_over(*one); });
    if (all_wait && asleep + 1 >= ranks) throw InternalError("streams wait for one another");
    ++asleep;
    const auto at = waiting.insert(&wanted);
    changed.wait(lock);
    waiting.erase(at);
    --asleep;
  }
  // A stream that waits for what is recorded is recorded from here on; one that is recorded waits
  // for nothing else.
  void wait(Queue& queue, std::uint64_t point) {
    ++waits;
    const auto at = recorded.find(point);
    const std::shared_ptr<Tape> made_in = at == recorded.end() ? nullptr : at->second;
    if (point != 0 && queue.tape && made_in != queue.tape) {
      throw EnvironmentError("a recorded stream waits for what is not recorded");
    }
    if (made_in && made_in->over) {
      throw EnvironmentError("a stream waits for what was only recorded");
    }
    if (made_in) queue.tape = made_in;
    put(queue, {{}, point, 0});
  }
  std::uint64_t point_in(Queue& queue) {
    const std::uint64_t point = ++points;
    if (queue.tape) recorded[point] = queue.tape;
    put(queue, {{}, 0, point});
    return point;
  }
  bool records() const {
    return std::any_of(queues.begin(), queues.end(),
                       [](const Queue* queue) { return queue->tape != nullptr; });
  }
  void put(Queue& queue, Work work) {
    if (queue.tape) return queue.tape->add(queue, std::move(work));
    queue.work.push_back(std::move(work));
    if (asleep > 0) changed.notify_all();
  }
};

inline Host& the_host() {
  static Host host;
  return host;
}

inline std::unique_lock<std::mutex> locked() {
  return std::unique_lock(the_host().mutex);
}

inline Queue& queue_of(const Stream& stream) {
  return *static_cast<Queue*>(stream.handle());
}

}  // namespace strata::cuda::host
