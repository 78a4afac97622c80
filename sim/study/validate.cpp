#include "sim/study/validate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/quantile.h"
#include "sim/study/dataset.h"
#include "sim/study/host_memory.h"
#include "sim/study/solve.h"
#include "sim/study/weights.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kFirstRounds = 2;  // before the optimum is sought
constexpr std::size_t kStepsPerTurn = 6;
constexpr std::size_t kFirstSteps = 2;  // of a turn, which find other work's data in the caches
constexpr std::size_t kJitteredSteps = 100;
constexpr double kTie = 0.01;
constexpr std::uint64_t kSeed = 1;

/// A strategy that is run from time to time, between sweeps over the very shards it computes: what
/// the machine's moods do to the one, they do to the other.
class Trial {
 public:
  /// Graph and data must outlive it.
  Trial(Runner& runner, const std::string& devices, const Graph& graph, const Strategy& strategy,
        Plan plan, const Dataset& data, const NetworkWeights& weights)
      : data_(data), plan_(std::move(plan)) {
    run_ = runner.start(devices, graph, plan_, {});
    shards_ = runner.measure(devices, graph, shapes_of(graph, strategy), {});
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!weights[i].empty()) run_->set_parameters(LayerId(i), weights[i]);
    }
  }

  // The last step does not count either: its synchronisation meets no next step.
  void turn(const std::atomic<bool>* cancelled) {
    shards_->round(cancelled);
    last_ = run_->run(
        kStepsPerTurn, [&](std::uint64_t step) { return data_.batch(step); }, cancelled);
    shards_->round(cancelled);
    for (Seconds time : last_.timeline.step_intervals({kFirstSteps - 1, kStepsPerTurn - 2})) {
      times_.push_back(time.value);
    }
    constexpr auto kSteps = static_cast<std::int64_t>(kStepsPerTurn);
    const Communication planned = communication(plan_);
    moved_as_planned_ = moved_as_planned_ && last_.moved.transfer == planned.transfer * kSteps &&
                        last_.moved.sync == planned.sync * kSteps;
  }
  void warm_up(const std::atomic<bool>* cancelled) {
    turn(cancelled);
    times_.clear();
  }
  /// Of every sweep, as of every step: none is left out because the machine was busy.
  std::vector<MeasuredCost> costs() const { return shards_->costs(Sampled::always); }
  Disturbance disturbance() const { return shards_->disturbance(); }

  void report(ValidateCase& result, const Prediction& predicted) const {
    std::vector<double> sorted = times_;
    std::sort(sorted.begin(), sorted.end());
    result.measured = {quantile(sorted, 0.5)};
    result.spread = {(quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2};
    result.samples = sorted.size();
    result.planned = communication(plan_);
    constexpr auto kSteps = static_cast<std::int64_t>(kStepsPerTurn);
    result.moved = {{last_.moved.transfer.value / kSteps},
                    {last_.moved.sync.value / kSteps},
                    {last_.moved.statistics.value / kSteps}};
    result.moved_as_planned = moved_as_planned_;
    result.comparison = compare(plan_, predicted.timeline, last_.timeline);
    result.plan = plan_;
    result.predicted_timeline = predicted.timeline;
    result.measured_timeline = last_.timeline;
  }

 private:
  const Dataset& data_;
  Plan plan_;
  std::unique_ptr<PlanRun> run_;
  std::unique_ptr<Measurer> shards_;
  Execution last_;
  std::vector<double> times_;
  bool moved_as_planned_ = true;
};

/// One model on one number of devices.
class Validation {
 public:
  Validation(Runner& runner, const ValidateRequest& request, const std::string& model, int devices)
      : runner_(runner),
        request_(request),
        devices_(devices),
        name_(fmt::format("{}:{}", request.family, devices)),
        graph_(load_model(model, request.batch.value_or(request.batch_per_device * devices))),
        cluster_(runner.cluster(name_)),
        data_(synthetic_dataset(graph_, kSeed)),
        weights_(initial_weights(graph_, kSeed)) {}

  void run(ValidateReport& report, const std::atomic<bool>* cancelled,
           const std::function<void(const MeasureProgress&)>& progress) {
    const std::size_t rounds = request_.rounds + kFirstRounds;
    const auto tell = [&](std::size_t round) {
      if (progress) progress({fmt::format("{} on {}", graph_.name(), name_), round, rounds});
    };
    const auto moves = runner_.measure(name_, graph_, {}, move_sizes());
    std::vector<MeasuredCost> space;
    {
      const auto shards =
          runner_.measure(name_, graph_, shapes_of(graph_, cluster_, request_.strategies), {});
      for (std::size_t round = 0; round < kFirstRounds; ++round) {
        tell(round);
        shards->round(cancelled);
        moves->round(cancelled);
      }
      space = shards->costs(Sampled::always);
      report.disturbance += shards->disturbance();
    }
    start_trials(profile(space, *moves));
    for (auto& trial : trials_) trial->warm_up(cancelled);
    for (std::size_t round = kFirstRounds; round < rounds; ++round) {
      tell(round);
      moves->round(cancelled);
      for (auto& trial : trials_) trial->turn(cancelled);
    }
    for (const auto& trial : trials_) report.disturbance += trial->disturbance();
    conclude(profile(std::move(space), *moves), *moves, report);
  }

 private:
  Profile profile(std::vector<MeasuredCost> costs, const Measurer& moves) const {
    const Bytes memory = memory_of_a_device(cluster_.device_count());
    return profile_of(std::move(costs), moves.moves(),
                      {cluster_[DeviceId(0)].kind, runner_.description(name_), request_.date,
                       request_.command, memory, devices_});
  }

  // Strategies that are the same, as all are on one device, are run once. All of them are in memory
  // at once, beside the shards that were measured.
  void start_trials(const Profile& first) {
    const Case input = measured_case(graph_, cluster_, first, request_.sync);
    std::vector<Plan> plans;
    for (const std::string& name : request_.strategies) {
      Strategy strategy = load_strategy(name, input);
      const auto same = std::find_if(strategies_.begin(), strategies_.end(), [&](const auto& s) {
        return std::ranges::equal(s.configs(), strategy.configs());
      });
      trial_of_.push_back(static_cast<std::size_t>(same - strategies_.begin()));
      if (same != strategies_.end()) continue;
      plans.push_back(lower_to_run(graph_, cluster_, strategy, request_.sync));
      strategies_.push_back(std::move(strategy));
    }
    check_memory(plans);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      trials_.push_back(std::make_unique<Trial>(runner_, name_, graph_, strategies_[i],
                                                std::move(plans[i]), data_, weights_));
    }
  }

  void check_memory(const std::vector<Plan>& plans) const {
    // Beside each plan, the shards that are measured beside it: a step's tensors once more, and
    // parameters of their own.
    const auto devices = static_cast<std::int64_t>(cluster_.device_count());
    const Bytes shards{graph_.parameters() * devices * static_cast<std::int64_t>(sizeof(float))};
    Bytes needed;
    for (const Plan& plan : plans) needed += memory_estimate(plan, cluster_) * 2 + shards;
    const auto free = request_.memory ? request_.memory : available_memory();
    if (!free || needed <= *free) return;
    throw EnvironmentError(fmt::format(
        "not enough memory: the strategies of {} on {}, which take turns, need about {}, {} is "
        "free; a smaller --batch or fewer --strategies need less",
        graph_.name(), name_, format_bytes(needed), format_bytes(*free)));
  }

  // A strategy's prediction takes what was measured beside it.
  void conclude(const Profile& space, const Measurer& moves, ValidateReport& report) const {
    Profile all = space;
    for (std::size_t k = 0; k < request_.strategies.size(); ++k) {
      const Trial& trial = *trials_[trial_of_[k]];
      const Profile own = merged(space, profile(trial.costs(), moves));
      const Case input = measured_case(graph_, cluster_, own, request_.sync);
      const Prediction predicted = predict(input, strategies_[trial_of_[k]]);
      ValidateCase result;
      result.model = graph_.name();
      result.devices = devices_;
      result.batch = graph_.batch();
      result.strategy = request_.strategies[k];
      result.predicted = predict_jitter(input, predicted, {kSeed, kJitteredSteps}).p50;
      result.eq1 = predicted.eq1_seconds();
      result.graph = graph_;
      result.cluster = input.cluster;
      trial.report(result, predicted);
      report.cases.push_back(std::move(result));
      all = merged(all, own);
    }
    if (devices_ != request_.devices) return;
    report.profile = report.profile.kind.empty() ? all : merged(report.profile, all);
  }

  Runner& runner_;
  const ValidateRequest& request_;
  int devices_;
  std::string name_;
  Graph graph_;
  Cluster cluster_;
  Dataset data_;
  NetworkWeights weights_;
  std::vector<Strategy> strategies_;   // distinct ones
  std::vector<std::size_t> trial_of_;  // by the request's strategy
  std::vector<std::unique_ptr<Trial>> trials_;
};

bool are_rivals(const ValidateCase& a, const ValidateCase& b) {
  return a.model == b.model && a.devices == b.devices;
}

// The standard error of a median, where the spread (half the distance between the quartiles) is
// 0.674 standard deviations: 1.253 of these, over the root of their number.
double standard_error(const ValidateCase& c) {
  const auto samples = static_cast<double>(std::max<std::size_t>(c.samples, 1));
  return 1.253 / 0.674 * c.spread.value / std::sqrt(samples);
}

// By more than chance makes of one time in twenty cases.
bool is_faster(const ValidateCase& a, const ValidateCase& b) {
  const double chance = 2 * std::hypot(standard_error(a), standard_error(b));
  return a.measured.value + std::max(kTie * a.measured.value, chance) < b.measured.value;
}

// Calls visit(a, b) for rivals of which a was faster.
template <class Visit>
void for_ordered_pairs(const std::vector<ValidateCase>& cases, Visit visit) {
  for (const ValidateCase& a : cases) {
    for (const ValidateCase& b : cases) {
      if (are_rivals(a, b) && is_faster(a, b)) visit(a, b);
    }
  }
}

// Before hours are spent: models and strategies that are not there, and two models of one name.
void refuse_unsound(Runner& runner, const ValidateRequest& request) {
  std::set<std::string> names;
  for (const std::string& model : request.models) {
    const Graph graph =
        load_model(model, request.batch.value_or(request.batch_per_device * request.devices));
    class_count(graph);  // a network without a loss has nothing to train
    if (!names.insert(graph.name()).second) {
      throw InputError(
          fmt::format("two models are named {}; allowed: each name once", graph.name()));
    }
    shapes_of(graph, runner.cluster(fmt::format("{}:{}", request.family, request.devices)),
              request.strategies);
  }
}

}  // namespace

double ValidateReport::mean_absolute_error() const {
  double sum = 0;
  for (const ValidateCase& c : cases) sum += std::abs(c.relative_error());
  return cases.empty() ? 0 : sum / static_cast<double>(cases.size());
}

double ValidateReport::max_absolute_error() const {
  double most = 0;
  for (const ValidateCase& c : cases) most = std::max(most, std::abs(c.relative_error()));
  return most;
}

std::size_t ValidateReport::ranked_pairs() const {
  std::size_t pairs = 0;
  for_ordered_pairs(cases, [&](const ValidateCase&, const ValidateCase&) { ++pairs; });
  return pairs;
}

double ValidateReport::rank_agreement() const {
  std::size_t agree = 0;
  for_ordered_pairs(cases, [&](const ValidateCase& a, const ValidateCase& b) {
    agree += a.predicted < b.predicted;
  });
  const std::size_t pairs = ranked_pairs();
  return pairs == 0 ? 1 : static_cast<double>(agree) / static_cast<double>(pairs);
}

bool ValidateReport::fastest_first() const {
  return std::all_of(cases.begin(), cases.end(), [&](const ValidateCase& c) {
    const auto predicted_faster = [&](const ValidateCase& other) {
      return are_rivals(c, other) && other.predicted < c.predicted;
    };
    const auto really_faster = [&](const ValidateCase& other) {
      return are_rivals(c, other) && is_faster(other, c);
    };
    return std::any_of(cases.begin(), cases.end(), predicted_faster) ||
           std::none_of(cases.begin(), cases.end(), really_faster);
  });
}

ValidateReport validate(Runner& runner, const ValidateRequest& request,
                        const std::atomic<bool>* cancelled,
                        const std::function<void(const MeasureProgress&)>& progress) {
  refuse_unsound(runner, request);
  ValidateReport report;
  for (const std::string& model : request.models) {
    for (int devices = request.each_count ? 1 : request.devices; devices <= request.devices;
         ++devices) {
      Validation(runner, request, model, devices).run(report, cancelled, progress);
    }
  }
  return report;
}

}  // namespace strata
