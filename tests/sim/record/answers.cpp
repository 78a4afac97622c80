#include "tests/sim/record/answers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/search/solve.h"
#include "sim/text/file.h"
#include "tests/paths.h"
#include "tests/sim/record/fingerprint.h"
#include "tests/sim/record/recorded_cases.h"

namespace strata::testing {
namespace {

using Row = std::vector<std::string>;

std::string exact(Seconds seconds) {
  return fmt::format("{}", seconds.value);
}

Row name_of(const Case& input, const Strategy& strategy) {
  return {input.cluster.name(), strategy.name(), std::string(name(input.sync.algorithm))};
}

Row step_row(const Case& input, const Prediction& p) {
  Row row = name_of(input, p.strategy);
  for (Seconds seconds : {p.step_seconds(), p.eq1_seconds()}) row.push_back(exact(seconds));
  const Communication& moved = p.communication;
  for (Bytes bytes : {moved.transfer, moved.sync, moved.statistics}) {
    row.push_back(std::to_string(bytes.value));
  }
  const CostSources& from = p.sources;
  for (Seconds seconds : {from.measured, from.interpolated, from.analytic}) {
    row.push_back(exact(seconds));
  }
  row.push_back(std::to_string(p.plan.size()));
  row.push_back(fingerprint(p.strategy).text());
  row.push_back(fingerprint(p.plan, input.graph).text());
  row.push_back(fingerprint(p.timeline).text());
  return row;
}

Row memory_row(const Case& input, const Prediction& p) {
  Row row = name_of(input, p.strategy);
  Bytes sum;
  for (Bytes peak : p.peak_memory) sum += peak;
  row.push_back(std::to_string(std::ranges::max(p.peak_memory).value));
  row.push_back(std::to_string(sum.value));
  row.push_back(carried_fingerprint(p.plan).text());
  return row;
}

// Calls each(case, strategy).
template <class Each>
void for_each_case(std::string_view network, Clusters clusters, const Each& each) {
  for (std::string_view cluster : clusters) {
    Case input = recorded_case(network, cluster);
    for (const Strategy& strategy : recorded_strategies(input)) {
      for (SyncAlgorithm sync : recorded_syncs(input, strategy)) {
        input.sync = sync;
        each(input, strategy);
      }
    }
  }
}

Row optimum_row(const Case& input) {
  SolveOptions options;
  options.objective = Objective::eq1;
  options.simulate = false;
  options.space.reductions = ReductionCuts::none;
  const Solved solved = solve(input, options);
  const Scored& best = solved.best.front();
  return {input.cluster.name(),
          std::string(name(input.sync.algorithm)),
          exact(best.eq1),
          exact(solved.lower_bound),
          solved.optimal ? "yes" : "no",
          std::to_string(solved.variables),
          std::to_string(solved.configs),
          fingerprint(best.strategy).text()};
}

std::string path_of(std::string_view part, std::string_view network) {
  return source_path(fmt::format("tests/golden/record/{}/{}.tsv", part, network));
}

}  // namespace

Table empty_steps() {
  return {3,
          {"cluster", "strategy", "sync", "step_seconds", "eq1_seconds", "transfer_bytes",
           "sync_bytes", "statistics_bytes", "measured_seconds", "interpolated_seconds",
           "analytic_seconds", "tasks", "cuts", "plan", "timeline"},
          {}};
}

Table empty_memory() {
  return {3, {"cluster", "strategy", "sync", "peak_bytes", "sum_of_peaks_bytes", "carried"}, {}};
}

Table empty_optima() {
  return {2,
          {"cluster", "sync", "eq1_seconds", "lower_bound_seconds", "proved", "variables",
           "configs", "cuts"},
          {}};
}

Table case_names(std::string_view network, Clusters clusters) {
  Table table{3, {"cluster", "strategy", "sync"}, {}};
  for_each_case(network, clusters, [&](const Case& input, const Strategy& strategy) {
    table.rows.push_back(name_of(input, strategy));
  });
  return table;
}

Predicted predicted(std::string_view network, Clusters clusters) {
  Predicted answers;
  PredictOptions options;
  options.critical_path = false;
  for_each_case(network, clusters, [&](const Case& input, const Strategy& strategy) {
    const Prediction prediction = predict(input, strategy, options);
    answers.steps.rows.push_back(step_row(input, prediction));
    answers.memory.rows.push_back(memory_row(input, prediction));
  });
  return answers;
}

Table optima(std::string_view network, Clusters clusters) {
  Table table = empty_optima();
  for (std::string_view cluster : clusters) {
    Case input = recorded_case(network, cluster);
    for (SyncAlgorithm sync : {SyncAlgorithm::ring, SyncAlgorithm::ps}) {
      if (input.cluster.device_count() == 1 && sync != SyncAlgorithm::ring) continue;
      input.sync = sync;
      table.rows.push_back(optimum_row(input));
    }
  }
  return table;
}

Table recorded(std::string_view part, std::string_view network, const Table& empty) {
  return parse_table(read_file(path_of(part, network)), empty);
}

void write_record(std::string_view part, std::string_view network, const Table& table) {
  write_file_whole(path_of(part, network), print(table));
}

}  // namespace strata::testing
