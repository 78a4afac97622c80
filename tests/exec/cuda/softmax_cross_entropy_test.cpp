// The loss: no memory for it, labels elsewhere, and gradients of what is nearly sure.

#include <cmath>

#include <gtest/gtest.h>

#include "exec/cuda/kernels/kernels.h"
#include "tests/exec/cuda/gpu_array.h"
#include "tests/exec/cuda/harness.h"

namespace strata::cuda {
namespace {

Graph graph_of(std::int64_t rows, std::int64_t columns) {
  GraphBuilder builder("a loss", rows);
  const LayerId x = builder.add("x", Input{{{1, columns, 1, 1, 1}}}, {});
  builder.add("y", SoftmaxCrossEntropy{}, {x});
  return std::move(builder).build();
}

class SoftmaxGradients : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precision, SoftmaxGradients,
                         testing::Values(Precision::fp32, Precision::bf16),
                         testing::PrintToStringParamName());

// p = 1 / (1 + e^-7) = 0.99909 rounds to 1 in bf16; its gradient is p - 1, which must not be 0.
TEST_P(SoftmaxGradients, AreThereWhereItIsNearlySure) {
  const Graph graph = graph_of(2, 2);
  reference::Tensor x(graph[LayerId(0)].output);
  x.values = {7, 0, 0, 7};
  const std::vector<std::int64_t> labels = {0, 0};
  const reference::Weights none;
  const reference::LayerCall call{&graph, LayerId(1), {&x}, &none, labels, nullptr};
  HostGpus site(GetParam());
  shards::LayerOnShards shards(site, call, {});
  shards.forward();
  const auto gradient = shards.backward(reference::Tensor(x.extents)).inputs[0].values;
  const double unsure = 1 / (1 + std::exp(7.0)) / 2, sure = 0.5 - unsure;
  const std::vector<double> wanted = {-unsure, unsure, -sure, sure};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(gradient[i], wanted[i], std::abs(wanted[i]) / 256) << i;
  }
}

/// A shard of three columns of two rows of equal logits, the first of four rows that a batch has.
class EqualLogits {
 public:
  explicit EqualLogits(std::int64_t first_column)
      : kernel_(
            make_kernel(seat_, {&graph_, LayerId(1), box(first_column), {{box(first_column)}}})),
        region_(logits_.region(box(first_column))) {}

  std::shared_ptr<void> run_forward(const std::vector<std::int64_t>& labels, bool with_loss) {
    const StepContext step{0, 0, labels};
    seat_.begin_step(step);
    const auto loss = host_memory(sizeof(LossPart));
    Operands operands;
    operands.inputs = {&region_, 1};
    operands.output = output_.region(region_.box);
    operands.statistics = statistics_.data();
    operands.step = &step;
    operands.loss = with_loss ? static_cast<LossPart*>(loss.get()) : nullptr;
    kernel_->run(Phase::forward_statistics, operands);
    kernel_->run(Phase::forward, operands);
    seat_.stream().finish();
    return loss;
  }
  std::vector<float> output() const { return output_.get(); }
  std::vector<float> statistics() const { return statistics_.get(); }

 private:
  static Box box(std::int64_t first_column) {
    return {{{{0, 2}, {first_column, first_column + 3}, {0, 1}, {0, 1}, {0, 1}}}};
  }

  Seat seat_{0, Precision::fp32};
  Graph graph_ = graph_of(4, 6);
  GpuArray<float> logits_{seat_.stream(), std::vector<float>(6, 2)};
  GpuArray<float> output_{seat_.stream(), std::vector<float>(6)};
  GpuArray<float> statistics_{seat_.stream(), std::vector<float>(4)};
  std::unique_ptr<Kernel> kernel_;
  Region region_;
};

// Only the first row's label is among columns 3, 4, 5; -ln(1/3), a quarter of it for a batch of 4.
TEST(Softmax, CountsTheLabelsOfItsColumnsAlone) {
  EqualLogits shard(3);
  const auto held = shard.run_forward({4, 0, 3, 3}, true);
  const auto& loss = *static_cast<const LossPart*>(held.get());
  EXPECT_NEAR(loss.loss, std::log(3.0) / 4, 1e-6);
  EXPECT_EQ(loss.correct, 1);
  EXPECT_EQ(shard.statistics(), (std::vector<float>{2, 3, 2, 3}));
}

TEST(Softmax, NeedsNoMemoryForALoss) {
  EqualLogits shard(0);
  shard.run_forward({0, 0, 0, 0}, false);
  EXPECT_EQ(shard.output(), std::vector<float>(6, 1.0F / 3));
}

}  // namespace
}  // namespace strata::cuda
