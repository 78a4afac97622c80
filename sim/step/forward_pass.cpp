#include "sim/graph/regions.h"
#include "sim/step/passes.h"

namespace strata {
namespace {

Read read_of(const StepInProgress& to, LayerId layer, std::uint32_t input, LayerId again_for) {
  const Step& step = to.step;
  Read read{layer, input};
  const auto other = [&](Reading of) {
    read.from = ReadFrom::another_reading;
    read.of = of;
    return read;
  };
  if (const auto first = earlier_reading(to.graph[layer], input)) return other({layer, *first});
  const LayerId first = step[layer].shared_reader;
  if (first.valid()) return other({first, input});
  const auto shared = step.shared_readings.find({layer, input});
  if (shared != step.shared_readings.end()) return other(shared->second);
  if (!again_for.valid()) return read;
  if (comes_from_another_stage(to.graph, step.stages, layer, input)) {
    read.from = ReadFrom::before;
    return read;
  }
  const LayerId producer = to.graph[layer].inputs[input];
  read.when_wanted =
      !step[producer].again || to.strategy.segment(producer) != to.strategy.segment(layer);
  return read;
}

}  // namespace

void add_reads(const StepInProgress& to, LayerId layer, std::uint32_t round, LayerId again_for) {
  for (std::uint32_t input = 0; input < to.graph[layer].inputs.size(); ++input) {
    to.add(read_of(to, layer, input, again_for), round, again_for);
  }
}

void add_forward(const StepInProgress& to, LayerId layer, std::uint32_t round, LayerId again_for) {
  const Layer& l = to.graph[layer];
  const StepLayer& facts = to.step[layer];
  if (is_input(l.op)) return;
  const auto add = [&](const Work& work) { to.add(work, round, again_for); };
  add_reads(to, layer, round, again_for);
  if (to.options.sync.zero >= Zero::parameters) {
    const Phase phase = again_for.valid() ? Phase::backward_data : Phase::forward;
    add(GatherParameters{layer, false, phase});
  }
  if (facts.phases[Phase::forward_statistics]) {
    add(Compute{layer, Phase::forward_statistics});
    add(SumStatistics{layer, Phase::forward_statistics});
  }
  add(Compute{layer, Phase::forward});
  if (facts.divides_sums) add(SumPartialOutputs{layer});
}

}  // namespace strata
