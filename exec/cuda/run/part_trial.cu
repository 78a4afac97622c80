#include <cstdint>
#include <vector>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/device/recording.h"
#include "exec/cuda/products/products.h"
#include "exec/cuda/run/part_trial.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kSums = 1000;

struct AddIndex {
  std::int64_t* sums;
  STRATA_ANYWHERE void operator()(std::int64_t i) const { sums[i] += i; }
};

/// Kernels that add up, and how often they should have.
class CheckedSums {
 public:
  explicit CheckedSums(Stream& stream) : stream_(stream), memory_(stream.gpu(), kSums * kSize) {
    clear(memory_.data(), memory_.bytes(), stream);
  }
  /// Nothing may be under way when memory goes.
  ~CheckedSums() {
    try {
      stream_.finish();
    } catch (const EnvironmentError&) {  // said by who waited for the work
    }
  }
  CheckedSums(const CheckedSums&) = delete;
  CheckedSums& operator=(const CheckedSums&) = delete;

  void add(Stream& stream) { each(stream, kSums, AddIndex{data()}); }
  void expect(std::int64_t times) {
    std::vector<std::int64_t> seen(kSums);
    copy(seen.data(), data(), memory_.bytes(), stream_);
    stream_.finish();
    for (std::int64_t i = 0; i < kSums; ++i) {
      if (seen[static_cast<std::size_t>(i)] == i * times) continue;
      throw EnvironmentError("kernels do not leave what they compute");
    }
  }

 private:
  static constexpr std::int64_t kSize = sizeof(std::int64_t);
  std::int64_t* data() { return static_cast<std::int64_t*>(memory_.data()); }
  Stream& stream_;
  LastingMemory memory_;
};

void pass_on(Stream& from, Stream& to) {
  Event made(from.gpu(), EventKind::order);
  made.record(from);
  to.wait(made);
}

// Of two streams, one waiting for the other, with their times.
void try_order(Stream& stream, Stream& beside, CheckedSums& sums) {
  Event begin(stream.gpu(), EventKind::time), end(stream.gpu(), EventKind::time);
  begin.record(stream);
  sums.add(stream);
  pass_on(stream, beside);
  sums.add(beside);
  end.record(beside);
  end.finish();
  if (end.since(begin).value < 0) throw EnvironmentError("times of events run backwards");
}

// Of both, as a step's is.
void try_recording(Stream& stream, Stream& beside, CheckedSums& sums) {
  Recording recording(stream);
  sums.add(stream);
  pass_on(stream, beside);
  sums.add(beside);
  pass_on(beside, stream);
  Recorded recorded = recording.end();
  recorded.play(stream);
  stream.finish();
}

}  // namespace

void try_part(const GpuPart& part) {
  for (Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    Seat seat(part, precision);
    try_seat(seat);
  }
}

void try_seat(Seat& seat) {
  Stream& stream = seat.stream();
  {
    Stream beside(seat.part());
    CheckedSums sums(stream);
    try_order(stream, beside, sums);
    try_recording(stream, beside, sums);
    sums.expect(4);
  }
  try_products(seat);
}

GpuParts tried_parts(std::span<const int> gpus) {
  return {gpus, try_part};
}

}  // namespace strata::cuda
