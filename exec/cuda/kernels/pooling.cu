#include <algorithm>
#include <cstring>
#include <span>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/kernels/pool_loops.h"
#include "exec/runtime/pool_windows.h"

namespace strata::cuda {
namespace {

// A window is cut where there are fewer threads than this, in slices of so many taps or more.
constexpr std::int64_t kPoolThreads = std::int64_t{1} << 16U, kSliceTaps = 8;

std::vector<Taps> taps_of(const PoolWindows& windows) {
  std::vector<Taps> result;
  for (std::size_t k = 0; k < windows.taps.size(); ++k) {
    const Interval& taps = windows.taps[k];
    const std::int64_t count = (taps.size() + windows.step - 1) / windows.step;
    result.push_back({static_cast<std::int32_t>(taps.begin), static_cast<std::int32_t>(count),
                      windows.shares[k]});
  }
  return result;
}

std::vector<Readers> readers_of(const PoolWindows& windows) {
  std::vector<Readers> result;
  for (const Interval& readers : windows.readers) {
    result.push_back(
        {static_cast<std::int32_t>(readers.begin), static_cast<std::int32_t>(readers.end)});
  }
  return result;
}

/// All dims' tables in one piece of the GPU's memory: each dim's taps, then its readers.
class PoolTables {
 public:
  PoolTables(Seat& seat, const std::array<PoolWindows, 3>& dims) {
    std::vector<char> bytes;
    std::array<std::size_t, 6> begin{};
    const auto append = [&](const auto& table, std::size_t k) {
      begin[k] = bytes.size();
      bytes.resize(bytes.size() + table.size() * sizeof table[0]);
      if (!table.empty()) {
        std::memcpy(bytes.data() + begin[k], table.data(), table.size() * sizeof table[0]);
      }
    };
    for (std::size_t k = 0; k < 3; ++k) append(taps_of(dims[k]), 2 * k);
    for (std::size_t k = 0; k < 3; ++k) append(readers_of(dims[k]), 2 * k + 1);
    memory_ = LastingMemory(seat.gpu(), static_cast<std::int64_t>(bytes.size()));
    seat.tell(memory_.data(), std::as_bytes(std::span(bytes)));
    const auto axis = [&](std::size_t k) {
      const char* base = static_cast<const char*>(memory_.data());
      return PoolAxis{reinterpret_cast<const Taps*>(base + begin[2 * k]),
                      reinterpret_cast<const Readers*>(base + begin[2 * k + 1]),
                      static_cast<std::int32_t>(dims[k].step)};
    };
    axes_ = {axis(0), axis(1), axis(2)};
  }

  const PoolAxes& axes() const { return axes_; }

 private:
  LastingMemory memory_;
  PoolAxes axes_;
};

template <class T>
class Pool : public PhasedKernel {
 public:
  Pool(Seat& seat, PoolMode mode, const std::array<PoolWindows, 3>& dims)
      : seat_(seat), mode_(mode), tables_(seat, dims) {
    for (const PoolWindows& dim : dims) {
      std::int32_t most = 1;
      for (const Taps& taps : taps_of(dim)) most = std::max(most, taps.count);
      most_taps_ *= most;
    }
  }

 private:
  // The greatest value of a byte is left to mark a window without a maximum.
  bool has_bytes() const { return most_taps_ < 256; }

  /// Calls use(a null of the marks' type).
  template <class Use>
  void with_marks(const Use& use) const {
    has_bytes() ? use(std::uint8_t()) : use(std::int32_t());
  }

  void forward(const Operands& operands) override {
    const Tensor<T> input(operands.inputs[0]), output(operands.output);
    with_width<T>({output.size.c}, [&](auto width) {
      const auto to = packed<width>(output);
      if (mode_ == PoolMode::average) {
        return fold<Total<width>>(input, to.size, PutAverage<T, width>{to.data});
      }
      with_marks([&](auto mark) {
        using Mark = decltype(mark);
        auto* marks = static_cast<Pack<Mark, width>*>(operands.saved);
        fold<Largest<width>>(input, to.size, PutLargest<T, Mark, width>{to.data, marks});
      });
    });
  }

  template <class Fold, class Put>
  void fold(const Tensor<T>& input, const Places& outputs, const Put& put) {
    const std::int64_t count = std::max<std::int64_t>(outputs.count(), 1);
    const std::int64_t wanted = std::min(most_taps_ / kSliceTaps, kPoolThreads / count);
    const auto slices = static_cast<std::int32_t>(std::max<std::int64_t>(wanted, 1));
    const auto bytes = slices > 1 ? slices * count * static_cast<std::int64_t>(sizeof(Fold)) : 0;
    auto* partial = static_cast<Fold*>(seat_.scratch(bytes));
    const PoolAxes& axes = tables_.axes();
    each(
        seat_.stream(), slices * outputs.count(),
        PoolForward<T, Fold, Put>{axes, packed<Fold::width>(input), outputs, put, slices, partial});
    if (slices == 1) return;
    each(seat_.stream(), outputs.count(), PoolJoin<Fold, Put>{axes, outputs, put, slices, partial});
  }

  void backward_data(const Operands& operands) override {
    const Tensor<T> gradient(operands.output_gradient);
    const Tensor<T> input_gradient(operands.input_gradients[0]);
    with_width<T>({gradient.size.c}, [&](auto width) {
      const auto from = packed<width>(gradient);
      const auto to = packed<width>(input_gradient);
      if (mode_ == PoolMode::average) {
        return gather(to, from.size, FromAverage<T, width>{from.data});
      }
      with_marks([&](auto mark) {
        using Mark = decltype(mark);
        const auto* marks = static_cast<const Pack<Mark, width>*>(operands.saved);
        gather(to, from.size, FromLargest<T, Mark, width>{from.data, marks});
      });
    });
  }

  template <int width, class From>
  void gather(const Tensor<Pack<T, width>>& to, const Places& outputs, const From& from) {
    each(seat_.stream(), to.size.count(),
         PoolBackward<T, width, From>{tables_.axes(), to, outputs, from});
  }

  Seat& seat_;
  PoolMode mode_;
  PoolTables tables_;
  std::int64_t most_taps_ = 1;  ///< of a window
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const Pooling& op) {
  return make_of_type<Pool>(seat.type(), seat, op.mode, pool_windows(spec, op));
}
std::unique_ptr<Kernel> make_kernel(Seat& seat, const ShardSpec& spec, const AdaptivePooling& op) {
  return make_of_type<Pool>(seat.type(), seat, op.mode, pool_windows(spec, op));
}

}  // namespace strata::cuda
