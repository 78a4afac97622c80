#pragma once

// A device's place on a GPU: what its kernels share. Its stream, what changes from step to step,
// memory to work in, handles of libraries. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/cuda/device/device.h"
#include "exec/cuda/streams/pinned_ring.h"
#include "exec/cuda/tensor/move.h"
#include "exec/runtime/kernel.h"
#include "exec/runtime/optimizer_step.h"

namespace strata::cuda {

enum class Precision : std::uint8_t {
  fp32,  ///< IEEE products
  tf32,  ///< tensors in fp32, products of 10 bits of mantissa summed in fp32
  bf16   ///< tensors in bf16, parameters and sums in fp32
};
constexpr Type type_of(Precision precision) {
  return precision == Precision::bf16 ? Type::bf16 : Type::fp32;
}

/// What changes from step to step, in the GPU's memory: kernels read it there, so that a recorded
/// step can be played again.
struct StepState {
  std::uint64_t step = 0;
  float learning_rate = 0;
  AdamCorrection adam = {};
  /// From where a kernel was told to write its loss to where this step's belongs: a recorded kernel
  /// was told once.
  std::int64_t loss_shift_bytes = 0;
};

/// Memory of a GPU that lives as long as this.
class LastingMemory {
 public:
  LastingMemory() = default;
  /// Throws EnvironmentError where there is no more. Of no bytes: null.
  LastingMemory(int gpu, std::int64_t bytes);
  ~LastingMemory();
  LastingMemory(LastingMemory&& other) noexcept { swap(other); }
  LastingMemory& operator=(LastingMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void swap(LastingMemory& other);
  int gpu_ = 0;
  std::int64_t bytes_ = 0;
  void* data_ = nullptr;
};

class Seat {
 public:
  /// The kernels use the part's multiprocessors.
  Seat(const GpuPart& part, Precision precision);
  /// With a GPU to itself.
  Seat(int gpu, Precision precision) : Seat(whole_of(gpu), precision) {}

  const GpuPart& part() const { return part_; }

  Stream& stream() { return stream_; }
  int gpu() const { return stream_.gpu(); }
  Precision precision() const { return precision_; }
  Type type() const { return type_of(precision_); }

  /// In the GPU's memory.
  const StepState* step() const { return static_cast<const StepState*>(told_.data()); }
  const std::int64_t* labels() const {
    return reinterpret_cast<const std::int64_t*>(static_cast<const std::byte*>(told_.data()) +
                                                 kLabelsAt);
  }
  /// Kernels that the stream runs from now on find this step there. The caller waits where it is
  /// more than PinnedRing::kSlots steps ahead.
  void begin_step(const StepContext& context, std::int64_t loss_shift_bytes = 0);
  /// To the GPU's memory, in the stream's order; the host's bytes have been read when this returns.
  void tell(void* to, std::span<const std::byte> bytes);

  /// Whether data that embeddings alone read are codes of numbers (number_code.h), not numbers.
  bool codes_numbers() const { return codes_numbers_; }
  void code_numbers() { codes_numbers_ = true; }

  /// Memory for one piece of work after another: what is in it is the caller's until the next call.
  void* scratch(std::int64_t bytes);
  /// How often memory that kernels were told of has moved since.
  std::uint64_t moves() const { return moves_; }
  /// A vendor's handles, made by the first kernel that uses them.
  std::shared_ptr<void>& libraries() { return libraries_; }
  /// A product was made here that no library computes, but plain loops; for this reason.
  void add_plain_loops(std::string why) { plain_loops_.push_back(std::move(why)); }
  /// The reasons, in the order in which the products were made.
  const std::vector<std::string>& plain_loops() const { return plain_loops_; }

 private:
  static constexpr std::int64_t kLabelsAt = 64;

  GpuPart part_;
  Precision precision_;
  Stream stream_;
  PinnedRing ring_;               // outlives what is copied from it
  LastingMemory told_, scratch_;  // told_: a StepState, at kLabelsAt the labels
  std::uint64_t moves_ = 0;
  bool codes_numbers_ = false;
  std::vector<std::string> plain_loops_;
  std::shared_ptr<void> libraries_;  // dies before the stream that it is bound to
};

}  // namespace strata::cuda
