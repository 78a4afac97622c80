// Dropout: the mask is the engine's own, of the step that the stream is in.

#include <utility>

#include <gtest/gtest.h>

#include "exec/cuda/kernels/kernels.h"
#include "exec/runtime/dropout_mask.h"
#include "tests/exec/cuda/gpu_array.h"
#include "tests/exec/cuda/harness.h"

namespace strata::cuda {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr double kProbability = 0.4;

/// A shard of a dropout of ones, whose kernel works in place.
class Ones {
 public:
  Ones(const Extents& extents, const Box& box, bool training)
      : graph_(graph_of(extents)),
        box_(box),
        array_(seat_.stream(), std::vector<float>(static_cast<std::size_t>(volume(box)), 1)),
        kernel_(make_kernel(seat_, {&graph_, LayerId(1), box, {{box}}, training, kSeed})) {}

  void begin_step(std::uint64_t step) {
    step_.step = step;
    seat_.begin_step(step_);
  }
  void run(Phase phase) {
    const Region region = array_.region(box_);
    Operands operands;
    operands.inputs = operands.input_gradients = {&region, 1};
    operands.output = operands.output_gradient = region;
    operands.step = &step_;
    kernel_->run(phase, operands);
  }
  std::vector<float> get() const { return array_.get(); }

 private:
  static Graph graph_of(Extents extents) {
    GraphBuilder builder("one layer", std::exchange(extents[Dim::n], 1));
    builder.add("y", Dropout{kProbability}, {builder.add("x", Input{extents}, {})});
    return std::move(builder).build();
  }

  Graph graph_;
  Box box_;
  StepContext step_;
  Seat seat_{0, Precision::fp32};
  GpuArray<float> array_;
  std::unique_ptr<Kernel> kernel_;
};

/// What is left of ones, dropped `times` times by the mask of a step.
std::vector<float> kept(const Extents& extents, const Box& box, std::uint64_t step, int times) {
  const DropoutMask mask(kSeed, LayerId(1), step, kProbability);
  const reference::Tensor whole(extents);
  float value = 1;
  for (int k = 0; k < times; ++k) value *= static_cast<float>(1 / (1 - kProbability));
  std::vector<float> values;
  each_as_it_lies(
      box, [&](auto... at) { values.push_back(mask.keeps(whole.index(at...)) ? value : 0); });
  return values;
}

TEST(Dropout, ForwardAndBackwardDropTheSame) {
  each_seed(30, [](Random& random) {
    const Extents extents = {{pick(random, 2, 4), 8 * pick(random, 1, 3), 2, 3, 4}};
    Box box = whole(extents);
    box[Dim::n] = {1, extents[Dim::n]}, box[Dim::c].begin = pick(random, 0, 7), box[Dim::w].end = 3;
    const auto step = static_cast<std::uint64_t>(pick(random, 0, 1000));
    Ones ones(extents, box, true);
    ones.begin_step(step);
    ones.run(Phase::forward);
    EXPECT_EQ(ones.get(), kept(extents, box, step, 1));
    ones.run(Phase::backward_data);
    EXPECT_EQ(ones.get(), kept(extents, box, step, 2));
  });
}

// Steps are put on the stream one after another, before the first of them has begun.
TEST(Dropout, EachStepDrawsAnew) {
  const Extents extents = {{2, 3, 1, 4, 5}};
  Ones ones(extents, whole(extents), true);
  std::vector<float> wanted(static_cast<std::size_t>(volume(extents)), 1);
  for (std::uint64_t step : {3U, 4U}) {
    ones.begin_step(step);
    ones.run(Phase::forward);
    const std::vector<float> mask = kept(extents, whole(extents), step, 1);
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] *= mask[i];
  }
  EXPECT_EQ(ones.get(), wanted);
}

TEST(Dropout, PassesAllOnWithoutTraining) {
  const Extents extents = {{2, 3, 1, 4, 5}};
  Ones ones(extents, whole(extents), false);
  ones.begin_step(0);
  ones.run(Phase::forward);
  EXPECT_EQ(ones.get(), std::vector<float>(static_cast<std::size_t>(volume(extents)), 1));
}

}  // namespace
}  // namespace strata::cuda
