#include "sim/ask/answers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/eq1_tables.h"
#include "sim/case/expert_load_text.h"
#include "sim/case/flops.h"
#include "sim/case/network.h"
#include "sim/case/rounds.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/graph/model_file.h"
#include "sim/measure/machine_turn.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/score.h"
#include "sim/search/within_memory.h"
#include "sim/text/file.h"

namespace strata {
namespace {

// An answer is made by one thread: others answer other questions meanwhile.
constexpr unsigned kThreads = 1;

std::string printed(const Profile& profile) {
  std::string text = print_profile(profile) + print_measured_costs(profile.measured);
  for (const KernelTable& table : profile.tables) {
    text += print_kernel_rows(table.kernel, table.rows);
  }
  return text;
}

// Nothing where a file stands in for one that does not ship.
std::string shipped(const std::string& kind) {
  try {
    return printed(load_profile(kind));
  } catch (const InputError&) {
    return "";
  }
}

// What a row calls a file.
std::string shown(const std::string& name) {
  const bool file = is_model_file(name) || name.ends_with(".json");
  return file ? std::filesystem::path(name).stem().string() : name;
}

// What runs start from; two files of one network may differ in nothing else.
std::string file_weights(const CaseRequest& request) {
  const Network network = load_network(request, 1, FileWeights::read);
  std::string bytes;
  for (const auto& layer : network.weights) {
    bytes.append(reinterpret_cast<const char*>(layer.data()), layer.size() * sizeof(float));
  }
  return bytes;
}

void describe(const Case& input, StoredResult& row) {
  row.devices = static_cast<std::int64_t>(input.cluster.device_count());
  row.batch = input.batch();
  row.bucket_bytes = input.sync.bucket_in_use().value;
}

void add_figures(const Case& input, const Predicted& found, StoredResult& row) {
  const Prediction& p = found.prediction;
  add_prediction(p, row);
  add_flops(input, p.strategy, row);
  row.fits = found.fits;
  if (found.jitter) {
    row.p50_seconds = found.jitter->p50.value;
    row.p95_seconds = found.jitter->p95.value;
  }
}

void add_layers(const Graph& graph, const Strategy& strategy, std::span<const LayerTerms> terms,
                StoredResult& row) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Degrees& d = strategy[LayerId(i)].degrees;
    StoredLayer layer{
        graph[LayerId(i)].name,      d[Dim::n], d[Dim::c], d[Dim::d], d[Dim::h], d[Dim::w], d.r,
        std::string(name(d.scatter))};
    layer.compute_seconds = terms[i].compute.value;
    layer.transfer_seconds = terms[i].transfer.value;
    layer.sync_seconds = terms[i].sync.value;
    row.layers.push_back(std::move(layer));
  }
}

// Of settings, which stand beside columns that are called so.
std::string without_marks(std::string text) {
  std::erase(text, '`');
  return text;
}

// What is no number can't be stored, and is nobody's answer.
void check_finite(const StoredResult& row) {
  for (const ColumnSpec& column : columns()) {
    const std::optional<double> number = number_in(field_of(column, row));
    if (!number || std::isfinite(*number)) continue;
    throw InputError(fmt::format("{} is {}; allowed: a finite number", column.key, *number));
  }
}

// What was asked, of which nothing is known but why.
StoredResult without_answer(StoredResult asked, const StoredResult& row, std::string why) {
  asked.devices = row.devices;
  asked.batch = row.batch;
  asked.done = false;
  asked.error = without_marks(std::move(why));
  return asked;
}

}  // namespace

Answers::Answers(std::string version, Runner* runner)
    : version_(std::move(version)), runner_(runner) {}

template <class Content>
StoredInput Answers::input(std::string kind, const std::string& name, const Content& content,
                           const std::string& read_with) {
  const auto key = std::tuple(kind, name, read_with);
  {
    const std::lock_guard guard(lock_);
    const auto known = hashes_.find(key);
    if (known != hashes_.end()) return {std::move(kind), name, known->second};
  }
  const CaseKey hash = hash_of(content());
  const std::lock_guard guard(lock_);
  hashes_[key] = hash;
  return {std::move(kind), name, hash};
}

// By what is in them: a file may move, and what is built in may change with the version.
std::vector<StoredInput> Answers::inputs(const Question& question) {
  const CaseRequest& request = question.input();
  const std::string strategy = question.strategy();
  std::vector<StoredInput> all;
  const std::string dims = print_open_dims(request.dims);
  const auto network = [&] {
    CaseRequest whole = request;  // what it trains is a setting beside the network
    whole.training.train.clear();
    return print_model(load_network(whole, 1).graph);
  };
  all.push_back(input("model", network_name(request), network, dims));
  if (question.job != Job::run) {
    all.push_back(input("cluster", request.cluster,
                        [&] { return print_cluster(load_cluster(request.cluster)); }));
  }
  for (const std::string& file : request.profiles) {
    all.push_back(input("profile", file, [&] { return printed(read_profile(file)); }));
  }
  if (strategy.ends_with(".json")) {
    all.push_back(input("strategy", strategy, [&] { return read_file(strategy); }));
  }
  if (request.training.schedule.ends_with(".csv")) {
    all.push_back(input("schedule", request.training.schedule,
                        [&] { return read_file(request.training.schedule); }));
  }
  for (const auto& [key, value] : request.sets) {
    if (names_counts(key, value)) {
      all.push_back(input("counts", value, [file = value] { return read_file(file); }));
    }
  }
  if (question.job == Job::run) {
    if (request.model.ends_with(".onnx")) {
      all.push_back(input(
          "weights", request.model, [&] { return file_weights(request); }, dims));
    }
    const std::string machine = runner_->description(question.where());
    all.push_back(input("machine", machine, [&] { return std::string_view(machine); }));
    return all;
  }
  for (const std::string& kind : loader_.kinds(request.cluster)) {
    all.push_back(input("profile", kind, [&] { return shipped(kind); }));
  }
  return all;
}

CaseKey Answers::key(const Question& question) {
  std::string text = fmt::format("{}\n{}\n{}\n", version_, name(question.job), question.known_by);
  // Not said in the settings, it is the usual one, which stores had not before there were buckets.
  const Bytes bucket = question.input().training.sync.bucket_in_use();
  if (bucket > Bytes{}) text += fmt::format("bucket {}\n", bucket.value);
  // Stores had it under Eq. 1 alone, whatever memory it takes, before that was the usual search.
  const auto* const solve = std::get_if<SolveRequest>(&question.request);
  const auto objective = solve != nullptr ? std::optional(objective_of(solve->search))
                                          : searched_objective(question.strategy());
  if (objective) text += fmt::format("{}, in memory\n", print_setting("objective", *objective));
  for (const StoredInput& input : inputs(question)) {
    text += fmt::format("{} {}\n", input.kind, hex(input.hash));
  }
  return hash_of(text);
}

std::vector<WrongSetting> Answers::wrong(const Question& question) {
  return wrong_settings(question, loader_, runner_);
}

StoredResult Answers::answer(const Question& question, const std::atomic<bool>* cancelled) {
  StoredResult row;
  row.key = key(question);
  row.job = name(question.job);
  row.model = shown(question.input().model);
  row.cluster = question.job == Job::run ? question.where() : shown(question.where());
  row.strategy = shown(question.strategy());
  row.sync = name(question.input().training.sync.algorithm);
  row.bucket_bytes = question.input().training.sync.bucket_in_use().value;
  row.dtype = name(question.input().training.dtype);
  row.settings = question.settings;
  row.inputs = inputs(question);
  std::optional<MachineTurn> turn;
  if (question.job == Job::run) turn.emplace(cancelled);
  const StoredResult asked = row;
  const auto start = std::chrono::steady_clock::now();
  try {
    if (question.job == Job::predict) predicted(question, row, cancelled);
    if (question.job == Job::solve) solved(question, row, cancelled);
    if (question.job == Job::run) ran(question, row, cancelled);
    if (row.done) check_finite(row);
  } catch (const InputError& error) {
    row = without_answer(asked, row, error.message());
  } catch (const RunFailed& error) {
    row = without_answer(asked, row, error.message());
  } catch (const EnvironmentError& error) {  // a run that is too large: the next one may not be
    if (question.job != Job::run) throw;
    row = without_answer(asked, row, error.message());
  }
  row.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

Answer Answers::asked(const Request& request, StoredResult& row,
                      const std::atomic<bool>* cancelled) {
  AskOptions options;
  options.loaded = [&row](const Case& input) { describe(input, row); };
  options.cancelled = cancelled;
  options.loader = &loader_;
  options.runner = runner_;
  options.threads = kThreads;
  options.warnings = Warnings::none;
  return ask(request, options);
}

void Answers::predicted(const Question& question, StoredResult& row,
                        const std::atomic<bool>* cancelled) {
  auto request = std::get<PredictRequest>(question.request);
  request.detail = Detail::figures;
  request.must_fit = true;
  const Answer answer = asked(request, row, cancelled);
  const Predicted& found = std::get<std::vector<Predicted>>(answer.found).front();
  add_figures(*answer.input, found, row);
  const Prediction& p = found.prediction;
  if (question.layers) add_layers(answer.input->graph, p.strategy, p.terms, row);
}

void Answers::solved(const Question& question, StoredResult& row,
                     const std::atomic<bool>* cancelled) {
  const auto& request = std::get<SolveRequest>(question.request);
  const Answer answer = asked(request, row, cancelled);
  const Case& input = *answer.input;
  const Solved& found = std::get<Solved>(answer.found);
  if (found.stopped) throw_if_cancelled(cancelled);
  row.optimal = found.optimal;
  row.lower_bound_seconds = found.lower_bound.value;
  row.table_seconds = found.table_seconds;
  row.solve_seconds = found.solve_seconds;
  row.final_nodes = static_cast<std::int64_t>(found.final_nodes);
  row.max_configs = static_cast<std::int64_t>(found.max_configs);
  row.fits = !found.best.empty();
  if (found.best.empty()) {
    row.done = false;
    row.error = without_marks(none_found(input, found, request.search.memory_limit));
    return;
  }
  const Scored& best = found.best.front();
  row.eq1_seconds = best.eq1.value;
  if (best.simulated()) {
    PredictRequest figures;
    figures.steps = request.steps;
    figures.jitter = request.jitter;
    figures.search.memory_limit = request.search.memory_limit;
    figures.detail = Detail::figures;
    add_figures(input, strata::predicted(figures, input, best.strategy), row);
  }
  row.strategy = best.strategy.name();
  if (!question.layers) return;
  const Case cut = in_rounds(input, best.strategy);
  const std::vector<const CostModel*> models = cost_models(cut);
  Eq1 eq1(cut.graph, cut.cluster, models, cut.sync.algorithm, compute_settings(cut));
  add_layers(cut.graph, best.strategy, eq1.terms(best.strategy, cut.rounds), row);
}

Seconds Answers::eq1_seconds(const CaseRequest& asked, const RunReport& report) {
  const Training& training = asked.training;
  Case input{report.graph, report.cluster, training.sync, DType::fp32, {}};
  cut_in_time(training, report.graph.batch(), input);
  input.models = loader_.cost_models(report.cluster, asked.profiles);
  input.optimizer = training.optimizer;
  return score_eq1(input, report.strategy).eq1;
}

void Answers::ran(const Question& question, StoredResult& row, const std::atomic<bool>* cancelled) {
  const Answer answer = asked(question.request, row, cancelled);
  const RunReport& report = std::get<RunAnswer>(answer.found).report;
  if (report.trained.stopped) throw Cancelled();
  row.devices = static_cast<std::int64_t>(report.cluster.device_count());
  row.batch = report.graph.batch();
  const StepTimes& times = report.trained.times;
  row.measured_seconds = times.median.value;
  row.measured_spread_seconds = times.spread.value;
  row.throughput = report.throughput();
  add_communication(communication(report.plan), row);
  row.moved_bytes = report.trained.moved_per_step.total().value;
  if (!report.predicted) return;
  row.step_seconds = report.predicted->step_seconds().value;
  row.eq1_seconds = eq1_seconds(question.input(), report).value;
  row.relative_error = (*row.step_seconds - *row.measured_seconds) / *row.measured_seconds;
}

}  // namespace strata
