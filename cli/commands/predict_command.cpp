// `strata predict MODEL --cluster C --strategy S[,S...]`: one step's time, communication and
// memory; several strategies side by side.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/beside_output.h"
#include "cli/output/case_header.h"
#include "cli/output/json.h"
#include "cli/output/memory_output.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/ask/ask.h"
#include "sim/base/error.h"
#include "sim/case/cost_basis.h"
#include "sim/case/flops.h"
#include "sim/case/plausibility.h"
#include "sim/explain/story.h"
#include "sim/exporters/trace/trace.h"
#include "sim/importers/trace/read_trace.h"
#include "sim/json/answer_json.h"
#include "sim/plan/lower.h"
#include "sim/plan/work_kind.h"
#include "sim/replay/replay.h"
#include "sim/strategy/config_text.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kListedLayers = 12;

struct PredictFlags {
  PredictRequest request;
  std::string trace_file, plan_file, beside_file, strategy_file;
  bool json = false;
  bool memory = false;
  bool no_classes = false;

  bool writes_files() const { return !trace_file.empty() || !plan_file.empty(); }
};

// What the files tell of, too.
PredictRequest request_of(const PredictFlags& flags) {
  PredictRequest request = flags.request;
  request.link_rates = !flags.trace_file.empty();
  if (!flags.trace_file.empty()) request.detail = Detail::timelines;
  if (flags.no_classes) request.devices = Simulated::all_devices;
  if (!flags.plan_file.empty() || !flags.beside_file.empty()) {
    request.detail = Detail::timelines;
    request.devices = Simulated::all_devices;
    request.however_large = true;
  }
  return request;
}

void print_comparison(const Case& input, const std::vector<Predicted>& predicted) {
  std::vector<CaseResult> results;
  results.reserve(predicted.size());
  for (const Predicted& each : predicted) results.push_back(result_of(input, each.prediction));
  print("{}", print_results(results, {"strategy", "step_seconds", "eq1_seconds", "throughput",
                                      "comm_bytes", "sync_bytes", "peak_memory_bytes"}));
}

void print_joined_transfers(const std::vector<Predicted>& predicted) {
  std::vector<std::string> joined;
  for (const auto& [p, jitter, fits] : predicted) {
    if (p.plan.joins_transfers()) joined.push_back(p.strategy.name());
  }
  if (joined.empty()) return;
  print(
      "\n{}: where a tensor moves between more than {} pairs of devices, all that a device gets is "
      "simulated as one transfer\n",
      fmt::format("{}", fmt::join(joined, ", ")), format_count(kUsualFlowsPerEdge));
}

void print_layers(const Case& input, const Prediction& p) {
  std::vector<std::size_t> order(p.terms.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return p.terms[a].total() > p.terms[b].total();
  });
  // Layers of equal ops, cuts and costs, as those of a network's blocks, are one row.
  std::vector<std::pair<std::size_t, int>> rows;  // the first of them, and how many
  for (std::size_t i : order) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
      const LayerId a(row.first), b(i);
      return p.terms[row.first] == p.terms[i] && p.strategy[a] == p.strategy[b] &&
             input.graph[a].op == input.graph[b].op;
    });
    if (same != rows.end()) {
      ++same->second;
    } else if (rows.size() < kListedLayers) {
      rows.emplace_back(i, 1);
    }
  }
  TextTable table;
  for (const auto& [i, count] : rows) {
    const LayerTerms& terms = p.terms[i];
    const std::string& name = input.graph[LayerId(i)].name;
    table.add({{"layer", count == 1 ? name : fmt::format("{} and {} more", name, count - 1),
                TextTable::left},
               {"config", config_text(p.strategy[LayerId(i)].degrees), TextTable::left},
               {"compute", format_seconds(terms.compute)},
               {"transfer", format_seconds(terms.transfer)},
               {"sync", format_seconds(terms.sync)}});
  }
  print("\nThe {} costliest layers under Eq. 1 (--json has all):\n\n{}", rows.size(),
        table.print());
}

void print_jitter(const Predicted& predicted) {
  if (!predicted.jitter) return;
  print(
      "\nWith every task's time drawn from its spread, half of the steps of {} take at most {}, "
      "95 % at most {}\n",
      predicted.prediction.strategy.name(), format_seconds(predicted.jitter->p50),
      format_seconds(predicted.jitter->p95));
}

void print_details(const Case& input, const Prediction& p, std::optional<Bytes> limit) {
  const PathShares& path = p.path;
  print(
      "\nThe critical path of a step: {} compute, {} transfers, {} parameter sync, {} "
      "statistics{}\n",
      format_seconds(path.compute), format_seconds(path.transfer), format_seconds(path.sync),
      format_seconds(path.statistics),
      input.runtime.launches.any() ? fmt::format(", {} launches", format_seconds(path.idle)) : "");
  print("{}\n", parts_text(p.breakdown.mean));
  for (const std::string& line : {rests_on_text(p.sources), not_measured_text(input, p)}) {
    if (!line.empty()) print("{}\n", line);
  }
  if (const auto used = flops_utilisation(input, p.strategy, p.step_seconds())) {
    const std::string reason = plausibility(input, *used, p.step_seconds()).reason;
    print("Model FLOPs utilisation: {:.1f}% of the devices' {} peak{}{}\n", 100 * used->model,
          name(input.dtypes.values), reason.empty() ? "" : "; ", reason);
  }
  print("{}", peak_text(input, p, limit));
  print_layers(input, p);
}

void check_files(const PredictFlags& flags, std::size_t strategies) {
  if (flags.writes_files() && strategies != 1) {
    throw InputError(
        fmt::format("--trace and --plan describe one strategy; allowed: one, not {}", strategies));
  }
  if (!flags.strategy_file.empty() && strategies != 1) {
    throw InputError(
        fmt::format("--output writes one strategy, and --strategy names {}", strategies));
  }
  if (!flags.beside_file.empty() && strategies != 1) {
    throw InputError(fmt::format("--beside shows a trace beside one strategy; allowed: one, not {}",
                                 strategies));
  }
  check_strategy_file(flags.strategy_file);
  check_outputs({flags.trace_file, flags.plan_file, flags.strategy_file},
                files_read(flags.request.input, {flags.request.strategy, flags.beside_file}));
}

// Activities for replay have no form for what slows devices.
void check_plan(const PredictFlags& flags, const Case& input) {
  if (flags.plan_file.empty() || input.runtime.communication_share == 0) return;
  throw InputError(
      "--plan has activities that do not slow each other; allowed: communication.share=0, and no "
      "--as of which it is a part (fsdp, mosaic)");
}

// The plan's tasks by name, step by step; a collective's flows are numbered.
std::vector<std::string> activity_names(const Case& input, const Prediction& p,
                                        const PlanWorkload& built) {
  std::vector<std::string> names(built.workload.size());
  for (std::size_t i = 0; i < built.first.size(); ++i) {
    const TaskId id(i % p.plan.size());
    const Task& task = p.plan[id];
    const std::string layer = task.layer.valid() ? input.graph[task.layer].name : "join";
    const std::string name =
        fmt::format("step {} task {}: {} {}", i / p.plan.size(), id(), layer, role_of(task).name);
    for (std::size_t k = built.first[i](); k <= built.last[i](); ++k) {
      if (!names[k].empty()) continue;  // a collective has one task a participant
      const std::size_t part = k - built.first[i]();
      names[k] = part == 0 ? name : fmt::format("{}, flow {}", name, part + 1);
    }
    if (built.launches.empty() || !built.launches[i].valid()) continue;
    names[built.launches[i]()] =
        fmt::format("{}, launch on {}", name, input.cluster[task.device].name);
  }
  return names;
}

Trace read_kernels(const std::string& file) {
  Trace trace = read_trace(file);
  if (has_kernels(trace)) return trace;
  throw InputError(fmt::format(
      "{}: no kernels; allowed: a trace of PyTorch's profiler with GPU activities", file));
}

void write_files(const PredictFlags& flags, const Case& input, const Prediction& p) {
  if (!flags.strategy_file.empty()) {
    write_file_whole(flags.strategy_file, print_strategy(p.strategy, input.graph, input.cluster));
  }
  if (!flags.trace_file.empty()) {
    write_file_whole(flags.trace_file, print_trace(input.graph, input.cluster, p.plan, p.timeline));
  }
  if (!flags.plan_file.empty()) {
    const PlanWorkload built =
        build_workload(p.plan, input.cluster, p.costs, flags.request.steps, input.runtime);
    write_file_whole(flags.plan_file,
                     print_replay(built.workload, input.cluster, activity_names(input, p, built)));
  }
}

void print_what_stands_for_more(const PredictFlags& flags, const Prediction& p) {
  const bool traces = !flags.trace_file.empty() && p.plan.classes() != nullptr;
  const bool repeats = p.plan.rounds() < p.rounds;
  if (!traces && !repeats) return;
  print("{}: {}{}{}\n", p.strategy.name(),
        traces ? "the trace has one device of each class that does the same" : "",
        traces && repeats ? "; " : "",
        repeats ? fmt::format("{} of {} rounds are simulated, which the others repeat",
                              p.plan.rounds(), format_count(p.rounds))
                : "");
}

void print_memory(const Case& input, const std::vector<Predicted>& predicted,
                  std::optional<Bytes> limit) {
  if (predicted.size() > 1) {
    print("\n");
    for (const Predicted& each : predicted) print("{}", peak_text(input, each.prediction, limit));
  }
  for (const Predicted& each : predicted) print("{}", kept_text(input, each.prediction));
}

void print_answer(const PredictFlags& flags, const Answer& answer,
                  const std::optional<Trace>& beside) {
  const Case& input = *answer.input;
  const auto& predicted = std::get<std::vector<Predicted>>(answer.found);
  const Prediction& first = predicted.front().prediction;
  print_header(input);
  print_comparison(input, predicted);
  print("{}\n",
        interval_text(answer.interval.value(), first.strategy.name(), first.step_seconds()));
  for (const Predicted& each : predicted) print_jitter(each);
  print_joined_transfers(predicted);
  for (const Predicted& each : predicted) print_what_stands_for_more(flags, each.prediction);
  if (beside) {
    return print("\n{}", beside_text(input, first, compare_kernels(*beside, input, first)));
  }
  const auto limit = std::get<PredictRequest>(answer.request).search.memory_limit;
  if (predicted.size() == 1) print_details(input, first, limit);
  if (flags.memory) print_memory(input, predicted, limit);
}

void run(const PredictFlags& flags) {
  check_files(flags, split_strategies(flags.request.strategy).size());
  std::optional<Trace> beside;
  if (!flags.beside_file.empty()) beside = read_kernels(flags.beside_file);
  AskOptions options;
  options.warn = warn;
  options.loaded = [&flags](const Case& input) { check_plan(flags, input); };
  const Answer answer = ask(request_of(flags), options);
  const Case& input = *answer.input;
  for (const Predicted& each : std::get<std::vector<Predicted>>(answer.found)) {
    write_files(flags, input, each.prediction);
  }
  if (flags.json) {
    return print_json(to_json(answer, {{flags.memory, beside ? &*beside : nullptr}}));
  }
  print_answer(flags, answer, beside);
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "predict step time, communication and memory of a strategy");
  auto flags = std::make_shared<PredictFlags>();
  add_request(*command, flags->request);
  command->get_option("--strategy")
      ->required()
      ->description(
          fmt::format("{}; several, with commas, side by side", setting("strategy").help));
  command->add_option("-o,--output", flags->strategy_file, "write the strategy to this .json file");
  command->add_option("--trace", flags->trace_file, "write trace-event JSON (Perfetto opens it)");
  command->add_option("--plan", flags->plan_file, "write the plan's activities for strata replay");
  command->add_option("--beside", flags->beside_file,
                      "compare layer by layer with a trace of PyTorch's profiler (JSON)");
  command
      ->add_flag("--no-classes", flags->no_classes,
                 "simulate every device, not one of each class of devices that do the same")
      ->disable_flag_override();
  command
      ->add_flag("--memory", flags->memory,
                 "list what the fullest device keeps for its backward pass")
      ->excludes("--beside")
      ->disable_flag_override();
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
