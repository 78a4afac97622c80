#pragma once

// GPUs as devices. Each device has a stream; several may share a GPU. Whatever is asked for goes on
// the stream of the device that the calling thread entered last, and the host never waits but in
// finish(). Who walks the tasks (StreamRun) brings the order between streams.

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exec/cuda/device_memory.h"
#include "exec/cuda/order.h"
#include "exec/cuda/seat.h"
#include "exec/runtime/backend.h"
#include "sim/base/ceil_div.h"

namespace strata::cuda {

/// "cuda0", or "cuda0.2" where several devices share the GPU. `gpus`: by device.
std::string device_name(std::span<const int> gpus, std::size_t device);

class CudaBackend : public Backend {
 public:
  /// `gpus`: by device. Throws EnvironmentError.
  CudaBackend(std::span<const int> gpus, Precision precision);
  ~CudaBackend() override;

  std::size_t device_count() const override { return seats_.size(); }
  std::string device_name(DeviceId device) const override;
  bool is_asynchronous() const override { return true; }
  void finish() override;
  Seconds time(DeviceId device, const std::function<void()>& work) override;
  void fill(const Region& to) override;
  void fill_values(float* to, std::int64_t count) override;
  std::shared_ptr<void> host_memory(std::int64_t bytes) override;
  void enter(DeviceId device) override { entered_ = device; }  // of the calling thread
  void begin_step(DeviceId device, const StepContext& context) override;
  std::unique_ptr<Kernel> make_kernel(DeviceId device, const ShardSpec& spec) override;

  /// Rounded up, so that tensors one after another each begin where 16 bytes may be moved at once.
  std::int64_t bytes(const Box& box) const override {
    return ceil_div(volume(box) * size_of(type_), kAlignment) * kAlignment;
  }
  void* allocate(DeviceId device, std::int64_t bytes) override;
  /// After all that was asked of all devices until now; see also release_after().
  void release(DeviceId device, void* memory) override;

  void clear(const Region& to) override;
  void copy(const Region& to, const Region& from, const Box& box) override;
  void add(const Region& to, const Region& from, const Box& box) override;
  void sum(const Region& to, std::span<const Region> from) override;
  void copy_values(float* to, const float* from, std::int64_t count) override;
  void add_values(float* to, const float* from, std::int64_t count) override;
  void combine(Combination how, float* to, std::span<const float* const> parts,
               std::span<const std::int64_t> counts, std::int64_t begin, std::int64_t end) override;
  void pack(float* to, const Region& from, const Box& box) override;
  void unpack(const Region& to, const float* from, const Box& box) override;
  void load(const Region& to, const float* plain, const Extents& whole) override;
  void store(float* plain, const Extents& whole, const Region& from) override;

  // For who walks the tasks.
  Order& order() { return order_; }
  Seat& seat(DeviceId device) { return *seats_[device()]; }
  /// Gives memory back that these pieces of work use last.
  void release_after(DeviceId device, void* memory, std::vector<Ticket> users);

 private:
  static constexpr std::int64_t kAlignment = 256;
  Stream& stream() { return seats_[entered_()]->stream(); }
  float* staging(std::int64_t values);

  Type type_;
  std::vector<int> gpus_;                              // by device
  std::vector<std::unique_ptr<Seat>> seats_;           // by device
  std::vector<std::unique_ptr<DeviceMemory>> memory_;  // by device
  std::mutex mutex_;                                   // of memory_ and order_, in take and give
  Order order_;
  static thread_local DeviceId entered_;
};

}  // namespace strata::cuda
