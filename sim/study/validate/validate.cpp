#include "sim/study/validate/validate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/network.h"
#include "sim/case/rounds.h"
#include "sim/case/weights.h"
#include "sim/measure/host_memory.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/study/validate/trial.h"
#include "sim/text/units.h"
#include "sim/train/dataset.h"

namespace strata {
namespace {

constexpr std::size_t kFirstRounds = 2;  // before the optimum is sought
constexpr std::uint64_t kSeed = 1;

Graph load_for(const ValidateRequest& request, const std::string& model, std::size_t devices) {
  const auto count = static_cast<std::int64_t>(devices);
  const std::int64_t batch = batch_of(request.training, count);
  Network network =
      load_network(model, batch, FileWeights::skip, Unsupported::refuse, request.dims);
  return trained_as(std::move(network), request.training.train).graph;
}

/// How many rounds of turns there are: a number, or as many as a time has room for.
class Rounds {
 public:
  explicit Rounds(const ValidateRequest& request) : request_(request), start_(request.now()) {}

  void begin() { first_turn_ = request_.now(); }
  /// Whether another one fits, by what one took so far.
  bool go_on() const {
    if (!request_.seconds) return done_ < request_.rounds;
    return done_ == 0 || spent() + mean() <= *request_.seconds;
  }
  void end_one() { ++done_; }
  std::size_t done() const { return done_; }
  Seconds mean() const {
    return done_ == 0 ? Seconds{} : (request_.now() - first_turn_) / static_cast<double>(done_);
  }
  /// With those before the turns; where there is a time, what is guessed so far.
  std::size_t total() const {
    if (!request_.seconds) return request_.rounds + kFirstRounds;
    const double more = done_ == 0 ? 1 : std::max(0.0, (*request_.seconds - spent()) / mean());
    return kFirstRounds + done_ + std::max<std::size_t>(1, static_cast<std::size_t>(more));
  }

 private:
  Seconds spent() const { return request_.now() - start_; }

  const ValidateRequest& request_;
  Seconds start_, first_turn_;
  std::size_t done_ = 0;
};

/// One model on one number of devices.
class Validation {
 public:
  Validation(Runner& runner, const ValidateRequest& request, const std::string& model,
             std::size_t devices)
      : runner_(runner),
        request_(request),
        name_(runner.first_of(request.devices, devices)),
        whole_(case_of_batch(request, load_for(request, model, devices), runner.cluster(name_))),
        graph_(graph_of_rounds()),
        data_(synthetic_dataset(whole_.graph, kSeed)),
        weights_(initial_weights(whole_.graph, kSeed)) {}

  /// `keep`: the report's profile is that of these devices.
  void run(ValidateReport& report, bool keep, const std::atomic<bool>* cancelled,
           const std::function<void(const MeasureProgress&)>& progress) {
    Rounds rounds(request_);
    const std::string what = fmt::format("{} on {}", graph_.name(), name_);
    const auto tell = [&](std::size_t round) {
      if (progress) progress({what, round, rounds.total()});
    };
    const auto moves = runner_.measure(
        name_, graph_, {{}, move_sizes(graph_), request_.training.dtype, request_.recorded});
    std::vector<MeasuredCost> space = measure_space(*moves, report, tell, cancelled);
    start_trials(profile(space, *moves));
    for (auto& trial : trials_) trial->warm_up(cancelled);
    report.stopped = !take_turns(rounds, *moves, tell, cancelled);
    for (const auto& trial : trials_) report.disturbance += trial->disturbance();
    std::size_t replays = 0;
    conclude(profile(std::move(space), *moves), *moves, report, keep, [&] {
      if (!report.stopped) throw_if_cancelled(cancelled);
      if (progress)
        progress({what + ", simulated", replays++, trials_.size() * rounds.done(), true});
    });
  }

 private:
  static Case case_of_batch(const ValidateRequest& request, Graph graph, Cluster cluster) {
    Case input{std::move(graph),
               std::move(cluster),
               request.training.sync,
               fp32_parameters(request.training.dtype),
               {}};
    cut_in_time(request.training, input.graph.batch(), input);
    return input;
  }

  // What a search reckons with, or else the first strategy's rounds where all have the same.
  Graph graph_of_rounds() const {
    std::set<std::int64_t> groups;
    bool searches = false;
    for (const AskedStrategy& asked : request_.strategies) {
      const bool searched = searched_objective(name_of(asked)).has_value();
      searches = searches || searched;
      if (!searched) groups.insert(data_parallel_groups(whole_.graph, resolve(asked, whole_)));
    }
    for (std::int64_t own : groups) in_rounds(whole_, own);  // throws where they do not divide
    const bool same = !searches && groups.size() == 1;
    return (same ? in_rounds(whole_, *groups.begin()) : in_largest_rounds(whole_)).graph;
  }

  using Tell = std::function<void(std::size_t round)>;
  using ReplayTold = std::function<void()>;

  // All that a search looks at, beside what bytes take to move.
  std::vector<MeasuredCost> measure_space(Measurer& moves, ValidateReport& report, const Tell& tell,
                                          const std::atomic<bool>* cancelled) {
    const auto shards = runner_.measure(name_, graph_,
                                        {shapes_of(graph_, whole_.cluster, request_.strategies),
                                         {},
                                         request_.training.dtype,
                                         request_.recorded,
                                         request_.training.optimizer});
    for (std::size_t round = 0; round < kFirstRounds; ++round) {
      tell(round);
      shards->round(cancelled);
      moves.round(cancelled);
    }
    report.disturbance += shards->disturbance();
    return shards->costs(Sampled::always);
  }

  // False where it was called off, after a turn at least.
  bool take_turns(Rounds& rounds, Measurer& moves, const Tell& tell,
                  const std::atomic<bool>* cancelled) try {
    rounds.begin();
    while (rounds.go_on()) {
      tell(kFirstRounds + rounds.done());
      moves.round(cancelled);
      for (auto& trial : trials_) trial->turn(cancelled);
      rounds.end_one();
    }
    round_seconds_ = rounds.mean();
    return true;
  } catch (const Cancelled&) {
    if (trials_.front()->turns() == 0) throw;
    round_seconds_ = rounds.mean();
    return false;
  }

  Profile profile(std::vector<MeasuredCost> costs, const Measurer& moves) const {
    Origin origin = origin_of(runner_, name_);
    origin.date = request_.date;
    origin.command = request_.command;
    origin.method = moves.method();
    return profile_of(std::move(costs), moves.moves(), origin);
  }
  // Of the whole batch.
  Case case_of(const Profile& profile) const {
    Case input = measured_case(whole_.graph, whole_.cluster, profile, request_.training.sync,
                               fp32_parameters(request_.training.dtype));
    input.optimizer = request_.training.optimizer;
    input.cut = whole_.cut;
    input.schedule = whole_.schedule;
    input.recompute = whole_.recompute;
    input.train = request_.training.train;
    return input;
  }

  // Strategies that are the same, as all are on one device, are run once. All of them are in memory
  // at once, beside the shards that were measured.
  void start_trials(const Profile& first) {
    const Case input = case_of(first);
    std::vector<Plan> plans;
    for (const AskedStrategy& asked : request_.strategies) {
      Strategy strategy = resolve(asked, input);
      const auto same = std::find_if(strategies_.begin(), strategies_.end(), [&](const auto& s) {
        return std::ranges::equal(s.configs(), strategy.configs());
      });
      trial_of_.push_back(static_cast<std::size_t>(same - strategies_.begin()));
      if (same != strategies_.end()) continue;
      const Case& round =
          *rounds_.emplace_back(std::make_unique<const Case>(in_rounds(input, strategy)));
      plans.push_back(lower_to_run(round, strategy));
      strategies_.push_back(std::move(strategy));
    }
    check_memory(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      trials_.push_back(std::make_unique<Trial>(runner_, name_, rounds_[i]->graph, strategies_[i],
                                                std::move(plans[i]), data_, weights_,
                                                request_.recorded));
    }
  }

  // Beside each plan, the shards that are measured beside it: a step's tensors once more, and
  // parameters and their optimizer's state of their own. Devices with a memory of their own lend a
  // step's to whose turn it is.
  Bytes memory_for(const std::vector<Plan>& plans, bool lent) const {
    const auto devices = static_cast<std::int64_t>(whole_.cluster.device_count());
    const Bytes shards{graph_.parameters() * (1 + state_words(request_.training.optimizer)) *
                       devices * static_cast<std::int64_t>(sizeof(float))};
    Bytes steps, largest, lasting;
    for (const Plan& plan : plans) {
      const Bytes step = memory_estimate(plan, whole_.cluster);
      steps += step * 2;
      largest = std::max(largest, step * 2);
      lasting += shards;
    }
    return lent ? largest + lasting * 2 : steps + lasting;
  }

  std::optional<Bytes> memory_there(std::optional<Bytes> own) const {
    if (request_.memory) return request_.memory;
    if (own) return *own * static_cast<std::int64_t>(whole_.cluster.device_count());
    return available_memory();
  }

  void check_memory(const std::vector<Plan>& plans) const {
    const auto own = runner_.own_memory(name_);
    const Bytes needed = memory_for(plans, own.has_value());
    const auto free = memory_there(own);
    if (!free || needed <= *free) return;
    throw EnvironmentError(fmt::format(
        "not enough memory: the strategies of {} on {}, which take turns, need about {}, {} is "
        "free; a smaller `batch` or fewer `strategies` need less",
        graph_.name(), name_, format_bytes(needed), format_bytes(*free)));
  }

  // A strategy's prediction takes what was measured beside it. Each trial is replayed once, however
  // many of the request's strategies it stands for. Of those called off, what came before counts.
  void conclude(const Profile& space, const Measurer& moves, ValidateReport& report, bool keep,
                const ReplayTold& replayed) const {
    Profile all = space;
    std::vector<ValidateCase> results;
    try {
      for (std::size_t t = 0; t < trials_.size() && trials_[t]->turns() > 0; ++t) {
        const Profile own = merged(space, profile(trials_[t]->costs(), moves));
        results.push_back(concluded(t, in_rounds(case_of(own), strategies_[t]), replayed));
        all = merged(all, own);
      }
    } catch (const Cancelled&) {
      report.stopped = true;
    }
    for (std::size_t k = 0; k < request_.strategies.size(); ++k) {
      if (trial_of_[k] >= results.size()) continue;
      report.cases.push_back(results[trial_of_[k]]);
      report.cases.back().strategy = name_of(request_.strategies[k]);
    }
    if (!keep || results.empty()) return;
    report.profile = report.profile.kind.empty() ? all : merged(report.profile, all);
  }

  // All but the strategy's name.
  ValidateCase concluded(std::size_t trial, const Case& input, const ReplayTold& replayed) const {
    const Prediction predicted = predict(input, strategies_[trial]);
    ValidateCase result;
    result.model = graph_.name();
    result.devices = static_cast<int>(whole_.cluster.device_count());
    result.batch = whole_.graph.batch();
    result.profile = predicted.step_seconds();
    result.eq1 = predicted.eq1_seconds();
    result.round = round_seconds_;
    result.graph = input.graph;
    result.cluster = input.cluster;
    trials_[trial]->report(result, input, predicted, replayed);
    result.verdict = judge(result.error, request_.limit);
    return result;
  }

  Runner& runner_;
  const ValidateRequest& request_;
  std::string name_;
  Case whole_;   // of the batch, which is not yet cut in rounds
  Graph graph_;  // of a round, whose shards are measured before the strategies are known
  Dataset data_;
  NetworkWeights weights_;
  std::vector<Strategy> strategies_;                 // distinct ones
  std::vector<std::unique_ptr<const Case>> rounds_;  // by strategy
  std::vector<std::size_t> trial_of_;                // by the request's strategy
  std::vector<std::unique_ptr<Trial>> trials_;
  Seconds round_seconds_;
};

// Before hours are spent: no rounds, models and strategies that are not there, two models of one
// name, and devices of several kinds.
void refuse_unsound(Runner& runner, const ValidateRequest& request,
                    const std::vector<std::size_t>& counts) {
  if (!request.seconds && request.rounds == 0) throw InputError("rounds: 0; allowed: at least 1");
  for (std::size_t count : counts) origin_of(runner, runner.first_of(request.devices, count));
  const Cluster cluster = runner.cluster(request.devices);
  std::set<std::string> names;
  for (const std::string& model : request.models) {
    const Graph graph = load_for(request, model, cluster.device_count());
    check_runs(graph);
    class_count(graph);  // a network without a loss has nothing to train
    if (!names.insert(graph.name()).second) {
      throw InputError(
          fmt::format("two models are named {}; allowed: each name once", graph.name()));
    }
    shapes_of(graph, cluster, request.strategies);
  }
}

// Few first.
std::vector<std::size_t> device_counts(const Runner& runner, const ValidateRequest& request) {
  const std::size_t all = runner.cluster(request.devices).device_count();
  std::vector<std::size_t> counts;
  for (std::size_t count = request.each_count ? 1 : all; count <= all; ++count) {
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

Seconds steady_now() {
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

ValidateReport validate(Runner& runner, const ValidateRequest& request,
                        const std::atomic<bool>* cancelled,
                        const std::function<void(const MeasureProgress&)>& progress) {
  const std::vector<std::size_t> counts = device_counts(runner, request);
  refuse_unsound(runner, request, counts);
  ValidateReport report;
  report.limit = request.limit;
  try {
    for (const std::string& model : request.models) {
      for (std::size_t devices : counts) {
        Validation validation(runner, request, model, devices);
        validation.run(report, devices == counts.back(), cancelled, progress);
        if (report.stopped) throw Cancelled{};
      }
    }
  } catch (const Cancelled&) {
    report.stopped = true;
    if (report.cases.empty()) throw;
  }
  return report;
}

}  // namespace strata
