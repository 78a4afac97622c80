// Three steps of SGD of GPT-2, Llama, BERT and ViT beside PyTorch's, whole and cut every way:
// losses, gradients of the first step and weights after the last. tests/golden/onnx/make_tokens.py
// wrote the networks and what PyTorch, transformers and torchvision make of them, and says what it
// is.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "sim/case/network.h"
#include "sim/cluster/cpu_cluster.h"
#include "sim/importers/npy/npy.h"
#include "sim/plan/lower.h"
#include "sim/strategy/hybrid.h"
#include "tests/exec/zoo/trained.h"
#include "tests/paths.h"
#include "tests/sim/plan/random_case.h"

namespace strata {
namespace {

constexpr std::int64_t kBatch = 4;
constexpr std::size_t kSteps = 3;
constexpr float kRate = 0.1F;
constexpr double kTolerance = 1e-4;
constexpr std::uint64_t kRandomStrategies = 20;

/// Tensors by layer, weight then bias.
using ByLayer = std::vector<std::vector<float>>;

/// What a training came to.
struct Steps {
  std::vector<double> losses;
  ByLayer gradients, weights;  ///< of the first step; after the last
};

/// PyTorch's elements: a row each of what they are before, their gradients and what they are after,
/// in the order of the first.
class Elements {
 public:
  explicit Elements(const std::string& file) : rows_(read_npy_floats(file)) {}

  std::size_t size() const { return static_cast<std::size_t>(rows_.shape.at(1)); }
  /// Where the element stands that is `before`; size() where none is.
  std::size_t find(float before) const {
    const auto all = row(0);
    const auto at = std::lower_bound(all.begin(), all.end(), before);
    return at == all.end() || *at != before ? size() : static_cast<std::size_t>(at - all.begin());
  }
  float gradient(std::size_t element) const { return row(1)[element]; }
  float after(std::size_t element) const { return row(2)[element]; }

 private:
  std::span<const float> row(std::size_t k) const {
    return std::span(rows_.values).subspan(k * size(), size());
  }

  NpyArray<float> rows_;
};

using testing::distance;
using testing::largest_length;
using testing::length_of;

class PyTorchSteps : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string file = source_path("tests/golden/onnx/") + GetParam();
    const std::string folder = file.substr(0, file.rfind('/'));
    network_ = load_network(file + ".onnx", kBatch, FileWeights::read);
    fill_zeros();
    expect_elements(Elements(folder + "/training.npy"));
    std::ifstream losses(folder + "/training.json");
    nlohmann::json::parse(losses).get_to(expected_.losses);
    read_data(folder);
  }

  const Graph& graph() const { return network_.graph; }

  void expect_as_pytorch(const Strategy& strategy, int devices) const {
    const Steps found = train(strategy, devices);
    const std::string where = fmt::format("{} on {} devices: ", strategy.name(), devices);
    for (std::size_t k = 0; k < kSteps; ++k) {
      EXPECT_NEAR(found.losses[k], expected_.losses[k], kTolerance) << where << "step " << k;
    }
    // What sums cancel (a key's bias) is rounding: held to a hundredth of the largest gradient.
    const double least = 0.01 * largest_length(expected_.gradients);
    for (std::size_t i = 0; i < graph().size(); ++i) {
      const std::string layer = where + graph()[LayerId(i)].name;
      const auto &gradients = expected_.gradients[i], &weights = expected_.weights[i];
      EXPECT_LE(distance(found.gradients[i], gradients),
                kTolerance * std::max(least, length_of(gradients)))
          << layer << ": gradient";
      EXPECT_LE(distance(found.weights[i], weights), kTolerance * length_of(weights)) << layer;
    }
  }

 private:
  // As make_tokens.py does.
  void fill_zeros() {
    float zeros = 0;
    for (auto& tensor : network_.weights) {
      for (float& value : tensor) {
        if (value == 0) value = ++zeros / 64;
      }
    }
  }

  void expect_elements(const Elements& elements) {
    std::size_t count = 0;
    for (const auto& tensor : network_.weights) {
      auto &gradients = expected_.gradients.emplace_back(),
           &weights = expected_.weights.emplace_back();
      for (float before : tensor) {
        const std::size_t at = elements.find(before);
        ASSERT_LT(at, elements.size()) << "no element is " << before;
        gradients.push_back(elements.gradient(at));
        weights.push_back(elements.after(at));
      }
      count += tensor.size();
    }
    EXPECT_EQ(count, elements.size());
  }

  // Further inputs (BERT's token types) are zero.
  void read_data(const std::string& folder) {
    for (const Layer& layer : graph().layers()) {
      if (!is_input(layer.op)) continue;
      inputs_.push_back(inputs_.empty()
                            ? read_npy_floats(folder + "/input.npy").values
                            : std::vector<float>(static_cast<std::size_t>(volume(layer.output))));
      ASSERT_EQ(inputs_.back().size(), static_cast<std::size_t>(volume(layer.output)));
    }
    labels_ = read_npy_integers(folder + "/labels.npy").values;
  }

  Steps train(const Strategy& strategy, int devices) const {
    const Plan plan = lower(graph(), cpu_cluster(devices), strategy);
    cpu::CpuBackend backend(static_cast<std::size_t>(devices));
    ExecutionOptions options;
    options.learning_rate = kRate;
    options.keep_gradients = true;
    Executor executor(graph(), plan, backend, options);
    for (std::size_t i = 0; i < graph().size(); ++i) {
      executor.set_parameters(LayerId(i), network_.weights[i]);
    }
    const auto batch = [&](std::uint64_t) {
      return Batch{0, {inputs_.begin(), inputs_.end()}, labels_};
    };
    Steps steps;
    const auto run = [&](std::size_t count) {
      const Execution done = executor.run(count, batch);
      steps.losses.insert(steps.losses.end(), done.losses.begin(), done.losses.end());
    };
    run(1);
    for (std::size_t i = 0; i < graph().size(); ++i) {
      steps.gradients.push_back(executor.gradients(LayerId(i)));
    }
    run(kSteps - 1);
    for (std::size_t i = 0; i < graph().size(); ++i) {
      steps.weights.push_back(executor.parameters(LayerId(i)));
    }
    return steps;
  }

  Network network_;
  Steps expected_;
  std::vector<std::vector<float>> inputs_;
  std::vector<std::int64_t> labels_;
};

TEST_P(PyTorchSteps, AreThoseOfOneDevice) {
  expect_as_pytorch(data_parallel(graph(), 1), 1);
}

// Under tp, the vocabulary is cut, too, of the embedding and of the product that tells tokens.
TEST_P(PyTorchSteps, AreThoseOfNamedStrategies) {
  for (int devices : {2, 4}) {
    expect_as_pytorch(data_parallel(graph(), devices), devices);
    for (const char* sizes :
         {"hybrid:tp=2", "hybrid:tp=2,sp=1", "hybrid:cp=2", "hybrid:cp=2,cp_by=heads"}) {
      expect_as_pytorch(hybrid_parallel(graph(), devices, sizes), devices);
    }
  }
  expect_as_pytorch(hybrid_parallel(graph(), 4, "hybrid:tp=2,sp=1,cp=2"), 4);
}

TEST_P(PyTorchSteps, AreThoseOfRandomStrategies) {
  for (std::uint64_t seed = 0; seed < kRandomStrategies; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    for (const std::size_t devices : {2, 4}) {
      strata::testing::Random random(seed);
      expect_as_pytorch(strata::testing::random_strategy(random, graph(), devices),
                        static_cast<int>(devices));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exports, PyTorchSteps,
                         ::testing::Values("gpt2/export18", "llama/export18", "bert/export18",
                                           "vit/export18.free", "encoder/export18",
                                           "decoder/export18.free"),
                         [](const auto& tested) {
                           return tested.param.substr(0, tested.param.find('/'));
                         });

}  // namespace
}  // namespace strata
