#include "tests/exec/cuda/host_device.h"

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "exec/cuda/device/device.h"
#include "exec/cuda/device/launch.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/host_queues.h"

namespace strata::cuda {

using host::Host;
using host::HostEvent;
using host::locked;
using host::Queue;
using host::queue_of;
using host::Refused;
using host::the_host;
using host::Work;

namespace {

std::string& last_error() {
  thread_local std::string error;
  return error;
}

}  // namespace

namespace host {

bool stands_for_gpus() {
  return true;
}
void draw_orders_from(std::uint64_t seed) {
  const auto lock = locked();
  the_host().random.seed(seed);
}
void read_pageable_late(bool late) {
  the_host().reads_pageable_late = late;
}
void let_recorded_memory_go(bool may) {
  the_host().lets_recorded_memory_go = may;
}
void set_gpus(int count) {
  the_host().gpus = count;
}
void set_memory(std::int64_t bytes) {
  the_host().memory.set_size(bytes);
}
std::int64_t memory_taken() {
  return the_host().memory.taken();
}
std::size_t waits() {
  return the_host().waits;
}
std::size_t events(EventKind kind) {
  return the_host().events[kind];
}
void run_ahead(std::size_t events) {
  the_host().ahead = events;
}
std::size_t recordings() {
  return the_host().recordings;
}
void refuse_launch(std::string error) {
  last_error() = std::move(error);
}
void refuse_on_green(Refused what) {
  the_host().refused = what;
}
void keep_apart(int gpu, int other) {
  the_host().memory.keep_apart(gpu, other);
}
void join_all() {
  the_host().memory.join_all();
}

void meet(Stream& stream, std::shared_ptr<Meeting> meeting) {
  const auto lock = locked();
  Work work;
  work.meeting = std::move(meeting);
  the_host().put(queue_of(stream), std::move(work));
}

Rank::Rank() {
  const auto lock = locked();
  ++the_host().ranks;
}

Rank::~Rank() {
  const auto lock = locked();
  --the_host().ranks;
  the_host().changed.notify_all();
}

// The last to come counts the others as awake again.
void Barrier::wait() {
  auto lock = locked();
  const std::size_t round = round_;
  if (++came_ == count_) {
    the_host().asleep -= count_ - 1;
    came_ = 0, ++round_;
    the_host().changed.notify_all();
  } else {
    ++the_host().asleep;
    the_host().changed.notify_all();
    the_host().changed.wait(lock, [&] { return round_ != round || failed_; });
    if (round_ == round) --the_host().asleep;
  }
  if (failed_) throw InternalError("another rank failed");
}

void Barrier::fail() {
  const auto lock = locked();
  failed_ = true;
  the_host().changed.notify_all();
}

Asleep::Asleep() {
  const auto lock = locked();
  ++the_host().asleep;
  the_host().changed.notify_all();
}

Asleep::~Asleep() {
  const auto lock = locked();
  --the_host().asleep;
}

}  // namespace host

std::vector<Gpu> gpus() {
  if (the_host().gpus == 0) throw EnvironmentError("no GPU: there is no driver");
  return std::vector<Gpu>(static_cast<std::size_t>(the_host().gpus),
                          Gpu{"a host that stands for a GPU", 90, 132, the_host().memory.size(),
                              std::int64_t{60} << 20U, 13000, 13000});
}

Stream::Stream(int gpu) : gpu_(gpu) {
  auto* queue = new Queue{gpu_};
  const auto lock = locked();
  the_host().queues.insert(queue);
  handle_ = queue;
}

Stream::~Stream() {
  auto* queue = static_cast<Queue*>(handle_);
  const auto lock = locked();
  the_host().queues.erase(queue);
  delete queue;
}

// What was never recorded is past.
void Stream::wait(const Event& event) {
  const auto point = static_cast<const HostEvent*>(event.handle_)->point;
  const auto lock = locked();
  the_host().wait(queue_of(*this), point);
}

void Stream::finish() {
  auto lock = locked();
  the_host().finish(queue_of(*this), lock);
}

// Who asks has nothing else to do.
bool Stream::is_done() {
  finish();
  return true;
}

Event::Event(int, EventKind kind) : handle_(new HostEvent{kind, 0}) {}

Event::~Event() {
  delete static_cast<HostEvent*>(handle_);
}

void Event::record(Stream& stream) {
  auto& event = *static_cast<HostEvent*>(handle_);
  Host& host = the_host();
  auto lock = locked();
  host.check(queue_of(stream), Refused::event, "recording an event");
  event.point = host.point_in(queue_of(stream));
  ++host.events[event.kind];
  if (host.ahead == 0) return;
  --host.ahead;
  host.finish(queue_of(stream), lock);
}

void Event::record_when_played(Stream& stream) {
  const auto lock = locked();
  Host& host = the_host();
  if (!queue_of(stream).tape) throw EnvironmentError("an event is recorded when nothing is played");
  auto& event = *static_cast<HostEvent*>(handle_);
  event.point = ++host.points;
  ++host.events[event.kind];
  host.put(queue_of(stream), {[&host, point = event.point] {
             host.past.insert(point), host.times[point] = host.done + 1;
           }});
}

// What was never recorded is past.
void Event::finish() {
  const auto point = static_cast<const HostEvent*>(handle_)->point;
  auto lock = locked();
  if (point != 0) the_host().await({nullptr, point}, lock);
}

// The clock counts pieces of work, a microsecond each.
Seconds Event::since(const Event& earlier) const {
  const auto lock = locked();
  const auto time = [](const Event& event) {
    return the_host().times.at(static_cast<const HostEvent*>(event.handle_)->point);
  };
  return {(time(*this) - time(earlier)) * 1e-6};
}

Seconds now() {
  const auto lock = locked();
  return {the_host().done * 1e-6};
}

void forget_last_error() {
  take_last_error();
}

std::string take_last_error() {
  return std::exchange(last_error(), "");
}

int gpu_in_use() {
  return 0;
}

bool can_reach(int gpu, int other) {
  return the_host().memory.reaches(gpu, other);
}

void open_access(std::span<const int>) {}

void* allocate(int gpu, std::int64_t bytes) {
  const auto lock = locked();
  return the_host().memory.take(gpu, bytes);
}

void release(int gpu, void* memory) {
  Host& host = the_host();
  auto lock = locked();
  if (host.records() && !host.lets_recorded_memory_go) {
    throw EnvironmentError("memory goes while streams are recorded");
  }
  std::vector<Queue*> own;
  for (Queue* queue : host.queues) {
    if (queue->gpu == gpu) own.push_back(queue);
  }
  try {
    for (Queue* queue : own) host.await({queue, 0}, lock);
  } catch (const Error&) {  // of work or of peers: what waits for it never comes
    for (Queue* queue : own) queue->work.clear();
  }
  host.memory.release(memory);
}

std::optional<std::int64_t> free_memory(int) {
  const auto lock = locked();
  return the_host().memory.size() - the_host().memory.taken();
}

std::shared_ptr<void> host_memory(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  const auto lock = locked();
  auto* const memory = new char[static_cast<std::size_t>(bytes)]();
  the_host().pinned[memory] = bytes;
  return {memory, [](char* held) {
            const auto held_lock = locked();
            the_host().pinned.erase(held);
            delete[] held;
          }};
}

// What lies in pageable memory is read now, if it was not asked otherwise, all else when its turn
// comes; what the host gets is there when it waited.
void copy(void* to, const void* from, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  const auto size = static_cast<std::size_t>(bytes);
  Host& host = the_host();
  const auto lock = locked();
  if (queue_of(stream).tape && !(host.memory.holds(from) && host.memory.holds(to))) {
    throw EnvironmentError("a copy of the host's memory is recorded");
  }
  if (host.memory.holds(from) || host.is_pinned(from) || host.reads_pageable_late) {
    return host.put(queue_of(stream), {[=] { std::memcpy(to, from, size); }});
  }
  const auto* bytes_now = static_cast<const char*>(from);
  host.put(queue_of(stream), {[to, held = std::vector<char>(bytes_now, bytes_now + size)] {
             std::memcpy(to, held.data(), held.size());
           }});
}

void clear(void* to, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  put_on(stream, [=] { std::memset(to, 0, static_cast<std::size_t>(bytes)); });
}

void put_on(Stream& stream, std::function<void()> work, std::span<const std::byte> held) {
  const auto lock = locked();
  the_host().memory.check(stream.gpu(), held);
  Queue& queue = queue_of(stream);
  the_host().check(queue, Refused::kernel, "launching a kernel");
  if (the_host().refuses(queue, Refused::later)) {
    work = [] { throw EnvironmentError("running what was asked for: a kernel failed"); };
  }
  the_host().put(queue, {std::move(work), 0, 0});
}

}  // namespace strata::cuda
