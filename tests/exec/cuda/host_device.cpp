#include "tests/exec/cuda/host_device.h"

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "exec/cuda/device.h"
#include "exec/cuda/launch.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

/// One piece of work: done once `awaited` has happened.
struct Work {
  std::function<void()> run;
  std::uint64_t awaited = 0;  ///< a point in time that must be past; 0: none
  std::uint64_t makes = 0;    ///< a point in time that is past then
};

struct Queue {
  std::deque<Work> work;
};

// Of the one host that there is.
struct Host {
  std::mt19937_64 random{1};
  int gpus = 1;
  std::int64_t memory = std::int64_t{1} << 40U, taken = 0;
  std::map<void*, std::int64_t> blocks;
  std::set<Queue*> queues;
  std::uint64_t points = 0;  ///< made so far; 1 is the first
  std::set<std::uint64_t> past;
  std::map<std::uint64_t, double> times;  ///< by point: how much had been done before it
  double done = 0;
  std::size_t waits = 0;

  bool may_go(const Queue& queue) const {
    return !queue.work.empty() &&
           (queue.work.front().awaited == 0 || past.contains(queue.work.front().awaited));
  }
  void step(Queue& queue) {
    Work work = std::move(queue.work.front());
    queue.work.pop_front();
    if (work.run) work.run();
    done += 1;
    if (work.makes != 0) past.insert(work.makes), times[work.makes] = done;
  }
  // Until the queue is empty; others get their turns by chance.
  void finish(Queue& wanted) {
    while (!wanted.work.empty()) {
      std::vector<Queue*> able;
      for (Queue* queue : queues) {
        if (may_go(*queue)) able.push_back(queue);
      }
      if (able.empty()) throw InternalError("streams wait for one another");
      step(*able[random() % able.size()]);
    }
  }
};

Host& the_host() {
  static Host host;
  return host;
}

Queue& queue_of(const Stream& stream) {
  return *static_cast<Queue*>(stream.handle());
}

}  // namespace

namespace host {

void draw_orders_from(std::uint64_t seed) {
  the_host().random.seed(seed);
}
void set_gpus(int count) {
  the_host().gpus = count;
}
void set_memory(std::int64_t bytes) {
  the_host().memory = bytes;
}
std::int64_t memory_taken() {
  return the_host().taken;
}
std::size_t waits() {
  return the_host().waits;
}

}  // namespace host

std::vector<Gpu> gpus() {
  if (the_host().gpus == 0) throw EnvironmentError("no GPU: there is no driver");
  return std::vector<Gpu>(static_cast<std::size_t>(the_host().gpus),
                          Gpu{"a host that stands for a GPU", 90, 132, the_host().memory,
                              std::int64_t{60} << 20U, 13000, 13000});
}

Stream::Stream(int gpu) : gpu_(gpu) {
  auto* queue = new Queue;
  the_host().queues.insert(queue);
  handle_ = queue;
}

Stream::~Stream() {
  auto* queue = static_cast<Queue*>(handle_);
  the_host().queues.erase(queue);
  delete queue;
}

// What was never recorded is past.
void Stream::wait(const Event& event) {
  const auto point = *static_cast<const std::uint64_t*>(event.handle_);
  ++the_host().waits;
  queue_of(*this).work.push_back({{}, point, 0});
}

void Stream::finish() {
  the_host().finish(queue_of(*this));
}

Event::Event(int, EventKind) : handle_(new std::uint64_t(0)) {}

Event::~Event() {
  delete static_cast<std::uint64_t*>(handle_);
}

void Event::record(Stream& stream) {
  auto& point = *static_cast<std::uint64_t*>(handle_);
  point = ++the_host().points;
  queue_of(stream).work.push_back({{}, 0, point});
}

// The clock counts pieces of work, a microsecond each.
Seconds Event::since(const Event& earlier) const {
  const auto time = [](const Event& event) {
    return the_host().times.at(*static_cast<const std::uint64_t*>(event.handle_));
  };
  return {(time(*this) - time(earlier)) * 1e-6};
}

// What nobody wrote is no number.
void* allocate(int, std::int64_t bytes) {
  Host& host = the_host();
  if (host.taken + bytes > host.memory) return nullptr;
  void* memory = ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(512));
  std::memset(memory, 0xFF, static_cast<std::size_t>(bytes));
  host.taken += bytes;
  host.blocks[memory] = bytes;
  return memory;
}

void release(int, void* memory) {
  Host& host = the_host();
  for (Queue* queue : host.queues) host.finish(*queue);
  host.taken -= host.blocks.at(memory);
  host.blocks.erase(memory);
  ::operator delete(memory, std::align_val_t(512));
}

std::shared_ptr<void> host_memory(std::int64_t bytes) {
  return std::make_shared<std::byte[]>(static_cast<std::size_t>(bytes));
}

// As from pageable memory: what the host has is read now, what it gets is there when it waited.
void copy(void* to, const void* from, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  const auto size = static_cast<std::size_t>(bytes);
  Host& host = the_host();
  auto at = host.blocks.upper_bound(const_cast<void*>(from));
  const bool on_gpu =
      at != host.blocks.begin() &&
      static_cast<const char*>(from) < static_cast<char*>((--at)->first) + at->second;
  if (on_gpu) return put_on(stream, [=] { std::memcpy(to, from, size); });
  const auto* bytes_now = static_cast<const char*>(from);
  put_on(stream, [to, held = std::vector<char>(bytes_now, bytes_now + size)] {
    std::memcpy(to, held.data(), held.size());
  });
}

void clear(void* to, std::int64_t bytes, Stream& stream) {
  if (bytes == 0) return;
  put_on(stream, [=] { std::memset(to, 0, static_cast<std::size_t>(bytes)); });
}

void put_on(Stream& stream, std::function<void()> work) {
  queue_of(stream).work.push_back({std::move(work), 0, 0});
}

}  // namespace strata::cuda
