// Kernels keep nothing of a step: a layer that is given two inputs, and asked for both backward
// passes only then, trains what is before it as if one came after the other.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cpu/cpu_backend.h"
#include "exec/runtime/executor.h"
#include "sim/graph/regions.h"
#include "sim/graph/step_phases.h"
#include "sim/plan/plan_builder.h"

namespace strata {
namespace {

const DeviceId kDevice(0);
constexpr std::uint32_t kShard = 0;

// Two convolutions of one input, and the layer behind the first of them.
Graph network(const Op& op) {
  GraphBuilder builder("net", 2);
  const LayerId data = builder.add("data", Input{{{1, 3, 1, 6, 6}}}, {});
  const LayerId first = builder.add("first", Convolution{.rank = 2, .out_channels = 9}, {data});
  builder.add("second", Convolution{.rank = 2, .out_channels = 9}, {data});
  builder.add("layer", op, {first});
  return std::move(builder).build();
}

// What a pass through a layer works on.
struct Pass {
  LayerId layer;
  BufferId input, output, saved, parameters, parameter_gradients;
  BufferId forward_statistics, backward_statistics, input_gradient;
};

// The layer's output stands for its gradient: any values do.
class HandMadePlan {
 public:
  HandMadePlan(const Graph& graph, bool interleaved)
      : graph_(graph), needs_gradient_(requires_gradient(graph)), builder_(DType::fp32, 1) {
    const LayerId layer = graph.find("layer");
    std::array<Pass, 2> before, passes;
    for (std::size_t k = 0; k < 2; ++k) {
      const LayerId convolution = graph.find(k == 0 ? "first" : "second");
      before[k] = pass(convolution, tensor(BufferKind::data, convolution, input_box(convolution)));
      forward(before[k]);
    }
    const BufferId parameters =
        graph[layer].parameters.total() > 0
            ? values(BufferKind::parameters, layer, graph[layer].parameters.total())
            : BufferId{};
    for (std::size_t k = 0; k < 2; ++k) {
      passes[k] = pass(layer, before[k].output);
      passes[k].parameters = parameters;
      forward(passes[k]);
      if (!interleaved) backward(passes[k], passes[k].output);
    }
    for (std::size_t k = 0; interleaved && k < 2; ++k) backward(passes[k], passes[k].output);
    for (std::size_t k = 0; k < 2; ++k) {
      backward(before[k], passes[k].input_gradient);
      add(before[k].layer, Phase::update,
          {{before[k].parameters, 0, Role::parameters, Access::update},
           {before[k].parameter_gradients, 0, Role::parameter_gradients, Access::read}});
    }
    std::vector<Placement> placements(graph.size());
    for (Placement& placement : placements) placement.devices = {kDevice};
    builder_.place(std::move(placements));
  }

  Plan build() && { return std::move(builder_).build(); }

 private:
  Box input_box(LayerId layer) const { return whole(graph_[graph_[layer].inputs[0]].output); }

  BufferId tensor(BufferKind kind, LayerId layer, const Box& box) {
    return builder_.add_buffer({kDevice, kind, 4, Bytes{4 * volume(box)}, layer, kShard},
                               {&box, 1});
  }
  BufferId values(BufferKind kind, LayerId layer, std::int64_t count) {
    return builder_.add_buffer({kDevice, kind, 4, Bytes{4 * count}, layer, kShard, 0, count});
  }

  Pass pass(LayerId layer, BufferId input) {
    const Box box = whole(graph_[layer].output);
    const Op& op = graph_[layer].op;
    Pass pass{.layer = layer,
              .input = input,
              .output = {},
              .saved = {},
              .parameters = {},
              .parameter_gradients = {},
              .forward_statistics = {},
              .backward_statistics = {},
              .input_gradient = {}};
    pass.output = tensor(BufferKind::activation, layer, box);
    pass.input_gradient = tensor(BufferKind::activation_gradient, layer, input_box(layer));
    const Saved kept = saved(op, {box, {}, DType::fp32});
    if (kept.each_element) pass.saved = tensor(BufferKind::saved, layer, box);
    if (kept.values > 0) pass.saved = values(BufferKind::saved, layer, kept.values);
    if (const std::int64_t count = graph_[layer].parameters.total(); count > 0) {
      pass.parameters = values(BufferKind::parameters, layer, count);
      pass.parameter_gradients = values(BufferKind::parameter_gradients, layer, count);
    }
    const Statistics sums = statistics(op, box);
    if (sums.forward_values > 0) {
      pass.forward_statistics = values(BufferKind::statistics, layer, sums.forward_values);
      pass.backward_statistics = values(BufferKind::statistics, layer, sums.backward_values);
    }
    return pass;
  }

  // One after the other.
  void add(LayerId layer, Phase phase, std::vector<Operand> operands) {
    std::erase_if(operands, [](const Operand& operand) { return !operand.buffer.valid(); });
    const Task task{TaskKind::compute, phase, layer, kDevice, kShard, 0, Stream::device};
    std::vector<TaskId> after;
    if (last_.valid()) after.push_back(last_);
    last_ = builder_.add(task, after, operands);
  }

  void forward(const Pass& p) {
    const Operand input{p.input, 0, Role::input, Access::read};
    if (p.forward_statistics.valid()) {
      add(p.layer, Phase::forward_statistics,
          {input, {p.forward_statistics, 0, Role::statistics, Access::write}});
    }
    add(p.layer, Phase::forward,
        {input,
         {p.forward_statistics, 0, Role::statistics, Access::read},
         {p.parameters, 0, Role::parameters, Access::read},
         {p.output, 0, Role::output, Access::write},
         {p.saved, 0, Role::saved, Access::write}});
  }

  void backward(const Pass& p, BufferId gradient) {
    const PhaseSet phases = step_phases(graph_, p.layer, needs_gradient_);
    const std::vector<Operand> read = {{p.input, 0, Role::input, Access::read},
                                       {p.output, 0, Role::output, Access::read},
                                       {p.saved, 0, Role::saved, Access::read},
                                       {gradient, 0, Role::output_gradient, Access::read}};
    const auto with = [&](std::vector<Operand> written) {
      std::vector<Operand> all = read;
      all.insert(all.end(), written.begin(), written.end());
      return all;
    };
    const Operand of_parameters{p.parameter_gradients, 0, Role::parameter_gradients, Access::write};
    const Operand statistics{p.backward_statistics, 0, Role::statistics, Access::update};
    if (phases[Phase::backward_statistics]) {
      const Operand weighed_by{p.parameters, 0, Role::parameters, Access::read};
      add(p.layer, Phase::backward_statistics, with({statistics, weighed_by, of_parameters}));
    }
    if (phases[Phase::backward_data]) {
      add(p.layer, Phase::backward_data,
          with({statistics,
                {p.parameters, 0, Role::parameters, Access::read},
                {p.input_gradient, 0, Role::input_gradient, Access::write}}));
    }
    if (phases[Phase::backward_weights]) {
      add(p.layer, Phase::backward_weights, with({of_parameters}));
    }
  }

  const Graph& graph_;
  std::vector<bool> needs_gradient_;
  PlanBuilder builder_;
  TaskId last_;
};

// The weights of both convolutions after two steps.
std::vector<float> trained(const Graph& graph, bool interleaved) {
  const Plan plan = HandMadePlan(graph, interleaved).build();
  cpu::CpuBackend backend(1);
  ExecutionOptions options;
  options.learning_rate = 0.1F;
  Executor executor(graph, plan, backend, options);
  std::vector<float> data(static_cast<std::size_t>(volume(graph[LayerId(0)].output)));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i * 7 % 23) / 8 - 1;
  for (std::size_t layer = 1; layer < graph.size(); ++layer) {
    std::vector<float> weights(static_cast<std::size_t>(graph[LayerId(layer)].parameters.total()));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>((i + layer) * 5 % 17) / 16 - 0.5F;
    }
    executor.set_parameters(LayerId(layer), weights);
  }
  executor.run(2, [&](std::uint64_t) {
    Batch batch;
    batch.inputs.emplace_back(data);
    return batch;
  });
  std::vector<float> all = executor.parameters(graph.find("first"));
  const std::vector<float> second = executor.parameters(graph.find("second"));
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

class InFlight : public ::testing::TestWithParam<Op> {};

TEST_P(InFlight, TwoForwardsOfALayerAreTwoInTurn) {
  const Graph graph = network(GetParam());
  const std::vector<float> in_turn = trained(graph, false);
  EXPECT_EQ(trained(graph, true), in_turn);
  // The gradient arrived.
  EXPECT_NE(in_turn[0], static_cast<float>(1 * 5 % 17) / 16 - 0.5F);
}

Pooling pool(PoolMode mode) {
  Pooling op{.mode = mode};
  op.windows.h = op.windows.w = {.kernel = 3, .stride = 2};
  return op;
}

INSTANTIATE_TEST_SUITE_P(
    Ops, InFlight,
    ::testing::Values(Op(BatchNorm{}), Op(LayerNorm{}), Op(pool(PoolMode::max)),
                      Op(pool(PoolMode::average)),
                      Op(AdaptivePooling{.mode = PoolMode::max, .h = 2, .w = 3}), Op(Dropout{0.4}),
                      Op(LocalResponseNorm{}), Op(Activation{}),
                      Op(Activation{.kind = ActivationKind::elu, .slope = -0.5}),
                      Op(Convolution{.rank = 2, .out_channels = 4})),
    [](const auto& tested) {
      const std::string number = std::to_string(tested.index);
      return std::string(name(tested.param)) + "_" + number;
    });

}  // namespace
}  // namespace strata
