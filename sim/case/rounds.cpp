#include "sim/case/rounds.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/strategy/stages.h"
#include "sim/text/units.h"

namespace strata {

ScheduleChoice read_schedule_choice(const std::string& text) {
  ScheduleChoice choice;
  if (text.empty()) return choice;
  if (text.ends_with(".csv")) {
    choice.file = text;
    choice.own = read_schedule(text);
    if (!choice.own.empty()) return choice;
    throw InputError(text + ": no stage; allowed: a line for each, as 0F0,0B0");
  }
  choice.kind = schedule_kind(text);
  if (choice.kind) return choice;
  throw InputError(fmt::format("unknown schedule '{}'; allowed: {}, or a file ending in .csv", text,
                               schedule_names()));
}

void cut_in_time(const Training& training, std::int64_t batch, Case& input) {
  if (training.micro_batch) input.cut = {batch, *training.micro_batch};
  input.schedule = read_schedule_choice(training.schedule);
  input.schedule.overlap = training.overlap;
  input.recompute = training.recompute;
}

std::string schedule_used(const Case& input, const Strategy& strategy, std::uint32_t rounds) {
  if (!input.schedule.own.empty()) return input.schedule.file;
  if (rounds == 1 && !input.schedule.is_given()) return "";
  const Pipeline pipeline = pipeline_of(input.graph, stages_of(input.graph, strategy));
  return std::string(name(input.schedule.kind.value_or(usual_schedule(pipeline))));
}

std::int64_t data_parallel_groups(const Graph& graph, const Strategy& strategy) {
  std::int64_t groups = 1;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_input(graph[LayerId(i)].op)) continue;
    groups = std::max<std::int64_t>(groups, strategy[LayerId(i)].degrees[Dim::n]);
  }
  return groups;
}

bool divide_in_rounds(const Case& input, std::int64_t groups) {
  if (!input.cut) return true;
  const auto [batch, micro_batch] = *input.cut;
  if (micro_batch > batch / groups) return false;
  const std::int64_t samples = micro_batch * groups;
  return batch % samples == 0 && batch / samples <= kMostMicroBatches &&
         samples <= input.graph.largest_batch();
}

void check_round(const Case& input, std::int64_t groups) {
  const std::int64_t most = input.graph.largest_batch();
  if (!input.cut || input.cut->samples <= most / groups) return;
  throw InputError(fmt::format(
      "micro-batches of {} for each of {} data-parallel groups are too large a round for {}; "
      "allowed: rounds of up to {} samples, so fewer groups",
      format_count(input.cut->samples), format_count(groups), input.graph.name(),
      format_count(most)));
}

Case in_largest_rounds(const Case& input) {
  auto groups = static_cast<std::int64_t>(input.cluster.device_count());
  while (groups > 1 && !divide_in_rounds(input, groups)) --groups;
  return in_rounds(input, groups);
}

Case in_rounds(const Case& input, std::int64_t groups) {
  if (!input.cut) return input;
  const auto [batch, micro_batch] = *input.cut;
  const std::int64_t samples = micro_batch <= batch / groups ? micro_batch * groups : batch + 1;
  if (samples > batch || batch % samples != 0) {
    throw InputError(fmt::format(
        "micro-batches of {} for each of {} data-parallel groups do not divide a batch of {}",
        micro_batch, groups, batch));
  }
  if (batch / samples > kMostMicroBatches) {
    throw InputError(fmt::format("a batch of {} in rounds of {}: {} rounds; allowed: up to {}",
                                 batch, samples, batch / samples, kMostMicroBatches));
  }
  check_round(input, groups);
  Case cut = input;
  cut.cut.reset();
  cut.rounds = static_cast<std::uint32_t>(batch / samples);
  if (samples != input.graph.batch()) cut.graph = input.graph.with_batch(samples);
  return cut;
}

}  // namespace strata
