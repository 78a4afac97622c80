#pragma once

// GPUs as devices; several may share a GPU. Each device has a stream, and one more, on which it
// receives beside what it computes, where it has a GPU to itself. Whatever is asked for goes on the
// stream that the calling thread entered last. The host waits in finish(), and where it reads a
// tensor back, tries cuDNN's engines or needs more memory to work in; never else. Who walks the
// tasks (StreamRun) brings the order between streams.

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exec/cuda/streams/device_memory.h"
#include "exec/cuda/streams/order.h"
#include "exec/cuda/streams/seat.h"
#include "exec/runtime/backend.h"
#include "sim/base/ceil_div.h"
#include "sim/plan/plan.h"

namespace strata::cuda {

/// "cuda0", or "cuda0.2" where several devices share the GPU. `gpus`: by device.
std::string device_name(std::span<const int> gpus, std::size_t device);

/// The device of a process among others that have the rest.
struct OneOfSeveral {
  DeviceId device;
  int gpu = 0;
  std::vector<std::string> names;  ///< of all devices
};

class CudaBackend : public Backend {
 public:
  /// `gpus`: by device. Throws EnvironmentError.
  CudaBackend(std::span<const int> gpus, Precision precision);
  /// `parts`: of these.
  CudaBackend(std::span<const int> gpus, const GpuParts& parts, Precision precision);
  /// The others' devices are named alone.
  CudaBackend(const OneOfSeveral& own, Precision precision);
  ~CudaBackend() override;

  std::size_t device_count() const override { return gpus_.size(); }
  std::string device_name(DeviceId device) const override;
  bool is_asynchronous() const override { return true; }
  void finish() override;
  std::unique_ptr<Stopwatch> stopwatch(bool recorded) override;
  void fill(const Region& to) override;
  void fill_values(float* to, std::int64_t count) override;
  std::shared_ptr<void> host_memory(std::int64_t bytes) override;
  /// The stream that the device computes on is the calling thread's.
  void enter(DeviceId device) override { entered_ = static_cast<std::uint32_t>(device()); }
  void begin_step(DeviceId device, const StepContext& context) override;
  std::unique_ptr<Kernel> make_kernel(DeviceId device, const ShardSpec& spec) override;

  /// Of tensors, data among them.
  Type type() const { return type_; }
  /// Batches have codes in place of tokens' numbers from now on.
  void code_numbers();
  std::int64_t places(const Box& box) const override { return volume(box); }
  /// Rounded up, so that tensors one after another each begin where 16 bytes may be moved at once.
  std::int64_t bytes(const Box& box) const override {
    return ceil_div(volume(box) * size_of(type_), kAlignment) * kAlignment;
  }
  void* allocate(DeviceId device, std::int64_t bytes) override;
  /// After all that was asked of all devices until now; see also release_after().
  void release(DeviceId device, void* memory) override;
  void give_back(DeviceId device, void* memory) override;

  void clear(const Region& to) override;
  void copy(const Region& to, const Region& from, const Box& box) override;
  void add(const Region& to, const Region& from, const Box& box) override;
  void sum(const Region& to, std::span<const Region> from) override;
  void copy_values(float* to, const float* from, std::int64_t count) override;
  void add_values(float* to, const float* from, std::int64_t count) override;
  void combine(Combination how, float* to, std::span<const float* const> parts,
               std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end) override;
  void update(const Operands& operands, std::int64_t count) override;
  void pack(float* to, const Region& from, const Box& box) override;
  void unpack(const Region& to, const float* from, const Box& box) override;
  void load(const Region& to, const float* plain, const Extents& whole) override;
  void store(float* plain, const Extents& whole, const Region& from) override;

  // For who walks the tasks.
  /// Whether finish() would return at once.
  bool is_done();
  Order& order() { return order_; }
  Seat& seat(DeviceId device) { return *seats_[device()]; }
  Stream& stream(std::uint32_t number) { return seats_[number]->stream(); }
  /// The order's number of the stream for a device's tasks of this kind. Throws InternalError where
  /// a device that shares its GPU is to receive beside what it computes.
  std::uint32_t stream_of(DeviceId device, strata::Stream of) const;
  /// Where the device packs what it sends: beside what it computes, if it can.
  std::uint32_t sending_stream(DeviceId device) const;
  /// Whether this process has the device.
  bool is_here(DeviceId device) const { return seats_[device()] != nullptr; }
  /// By device.
  std::span<const int> gpus() const { return gpus_; }
  /// It is the calling thread's.
  void enter_stream(std::uint32_t number) { entered_ = number; }
  /// Whether the first device's kernels read the other's memory.
  bool reaches(DeviceId device, DeviceId other) const;
  /// Equal where the same memory of all devices is given out.
  std::uint64_t memory_fingerprint();
  /// How often memory that work on streams may know has gone: back to a GPU, or for a seat's
  /// larger.
  std::uint64_t memory_losses();
  /// Gives memory back that these pieces of work use last.
  void release_after(DeviceId device, void* memory, std::vector<Ticket> users);

 private:
  static constexpr std::int64_t kAlignment = 256;
  Stream& stream() { return seats_[entered_]->stream(); }
  float* staging(std::int64_t values);

  Type type_;
  std::vector<std::string> names_;  // by device
  std::vector<int> gpus_;           // by device
  /// By stream: where each device computes, then where each receives, or null.
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;  // by device
  std::mutex mutex_;                                   // of memory_ and order_, in take and give
  Order order_;
  static thread_local std::uint32_t entered_;  // a stream
};

}  // namespace strata::cuda
