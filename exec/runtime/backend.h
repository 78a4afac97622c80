#pragma once

// What a kind of device can do: hold tensors, run kernels on shards, copy and add boxes, combine
// what replicas made. The executor calls everything for a device on that device's own thread, after
// enter(), but allocate(), release() and copy_values(), which any thread may call. Copies read
// other devices' memory. Nothing is called for one device from two threads at once.
//
// A backend whose devices work on their own (is_asynchronous()) only puts work in their queues, in
// the order of the calls; who calls it brings the order between devices, and calls finish() before
// it looks at what was written to the host's memory or gives anything back. What work reads of the
// host's memory stays as it is until then too; what kernels write to is host_memory().

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "exec/runtime/kernel.h"
#include "exec/runtime/stopwatch.h"
#include "exec/runtime/task_clock.h"
#include "sim/base/index.h"
#include "sim/graph/ops/facts.h"

namespace strata {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::size_t device_count() const = 0;
  virtual std::string device_name(DeviceId device) const = 0;

  /// Whether each device has a core to itself: then its thread may spin while it waits.
  virtual bool has_own_cores() const { return true; }

  /// For the spans of one run, which begins now.
  virtual std::unique_ptr<TaskClock> start_clock() { return std::make_unique<SteadyClock>(); }

  virtual bool is_asynchronous() const { return false; }
  /// All that was asked for until now is done.
  virtual void finish() {}
  /// Zeroed; kernels may write to it.
  virtual std::shared_ptr<void> host_memory(std::int64_t bytes) {
    return std::make_shared<std::byte[]>(static_cast<std::size_t>(bytes));
  }

  /// How long `work` takes, of a device that is not asynchronous, on its thread.
  Seconds time(const std::function<void()>& work);
  /// For one that is. `recorded`: what it holds is recorded and played, as steps may be
  /// (ExecutionOptions). The backend must outlive it.
  virtual std::unique_ptr<Stopwatch> stopwatch(bool /*recorded*/) { return nullptr; }
  /// Values as networks have them, just written: zeros and ones make kernels faster than data does.
  virtual void fill(const Region& to);
  virtual void fill_values(float* to, std::int64_t count);

  /// Makes the calling thread the device's own. Throws EnvironmentError.
  virtual void enter(DeviceId device) = 0;

  /// What the device's kernels find that is the step's; some look nowhere else for it.
  virtual void begin_step(DeviceId, const StepContext&) {}
  virtual std::unique_ptr<Kernel> make_kernel(DeviceId device, const ShardSpec& spec) = 0;

  /// Elements that a region of this box has room for, those that stay unused among them.
  virtual std::int64_t places(const Box& box) const = 0;
  /// Memory that a region of this box takes.
  virtual std::int64_t bytes(const Box& box) const = 0;
  /// That the shard's Operands::saved takes, at most, whatever its elements are.
  std::int64_t saved_bytes(const Layer& layer, const Box& output) const;
  /// Throws EnvironmentError where there is no more.
  virtual void* allocate(DeviceId device, std::int64_t bytes) = 0;
  virtual void release(DeviceId device, void* memory) = 0;
  /// The same, of what nobody but the device itself was asked to use.
  virtual void give_back(DeviceId device, void* memory) { release(device, memory); }

  virtual void clear(const Region& to) = 0;
  virtual void copy(const Region& to, const Region& from, const Box& box) = 0;
  virtual void add(const Region& to, const Region& from, const Box& box) = 0;
  /// All of one box: to = the sum of the others, in their order.
  virtual void sum(const Region& to, std::span<const Region> from) = 0;

  /// fp32 values that lie plain: parameters, their gradients, statistics; or the host's own.
  virtual void copy_values(float* to, const float* from, std::int64_t count) = 0;
  virtual void add_values(float* to, const float* from, std::int64_t count) = 0;
  /// Values [begin, end) of all parts, which stand for `counts` elements each, into `to`.
  virtual void combine(Combination how, float* to, std::span<const float* const> parts,
                       std::span<const std::int64_t> counts, std::int64_t begin,
                       std::int64_t end) = 0;

  /// `count` parameters by the optimizer of the step, on the device that was entered: of an
  /// interval that is no layer's, as Kernel::run() does for a layer.
  virtual void update(const Operands& operands, std::int64_t count) = 0;

  /// Between a box of a region and the host's plain row-major array of exactly that box, as it
  /// travels between processes.
  virtual void pack(float* to, const Region& from, const Box& box) = 0;
  virtual void unpack(const Region& to, const float* from, const Box& box) = 0;
  /// Between a region and the host's plain row-major array of the whole tensor.
  virtual void load(const Region& to, const float* plain, const Extents& whole) = 0;
  virtual void store(float* plain, const Extents& whole, const Region& from) = 0;
};

}  // namespace strata
