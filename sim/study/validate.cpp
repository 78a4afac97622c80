#include "sim/study/validate.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/plan/lower.h"
#include "sim/study/dataset.h"
#include "sim/study/host_memory.h"
#include "sim/study/solve.h"
#include "sim/study/weights.h"

namespace strata {
namespace {

constexpr std::size_t kFirstRounds = 2;  // before the optimum is sought
constexpr std::size_t kStepsPerTurn = 2;
constexpr double kTie = 0.01;
constexpr std::uint64_t kSeed = 1;

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// A plan that is run from time to time.
class Trial {
 public:
  /// Graph and data must outlive it.
  Trial(Runner& runner, const std::string& devices, const Graph& graph, Plan plan,
        const Dataset& data, const NetworkWeights& weights)
      : data_(data), plan_(std::move(plan)) {
    run_ = runner.start(devices, graph, plan_, {});
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!weights[i].empty()) run_->set_parameters(LayerId(i), weights[i]);
    }
  }

  // The last step of a turn follows another, as in a long run.
  void turn(const std::atomic<bool>* cancelled) {
    last_ = run_->run(
        kStepsPerTurn, [&](std::uint64_t step) { return data_.batch(step); }, cancelled);
    const Timeline& t = last_.timeline;
    times_.push_back((t.step_end(kStepsPerTurn - 1) - t.step_end(kStepsPerTurn - 2)).value);
  }
  void warm_up(const std::atomic<bool>* cancelled) {
    turn(cancelled);
    times_.clear();
  }

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
    result.comparison = compare(plan_, predicted.timeline, last_.timeline);
  }

 private:
  const Dataset& data_;
  Plan plan_;
  std::unique_ptr<PlanRun> run_;
  Execution last_;
  std::vector<double> times_;
};

/// One number of devices.
class Validation {
 public:
  Validation(Runner& runner, const ValidateRequest& request, int devices)
      : runner_(runner),
        request_(request),
        devices_(devices),
        name_(fmt::format("{}:{}", request.family, devices)),
        graph_(
            load_model(request.model, request.batch.value_or(request.batch_per_device * devices))),
        cluster_(runner.cluster(name_)),
        space_(graph_, cluster_),
        data_(synthetic_dataset(graph_, kSeed)),
        weights_(initial_weights(graph_, kSeed)) {}

  void run(ValidateReport& report, const std::atomic<bool>* cancelled,
           const std::function<void(const ValidateProgress&)>& progress) {
    const auto measurer = runner_.measure(name_, graph_, shapes(), move_sizes());
    const std::size_t rounds = request_.rounds + kFirstRounds;
    const auto tell = [&](std::size_t round) {
      if (progress) progress({devices_, round, rounds});
    };
    for (std::size_t round = 0; round < kFirstRounds; ++round) {
      tell(round);
      measurer->round(cancelled);
    }
    start_trials(profile(*measurer));
    for (auto& trial : trials_) trial->warm_up(cancelled);
    for (std::size_t round = kFirstRounds; round < rounds; ++round) {
      tell(round);
      measurer->round(cancelled);
      for (auto& trial : trials_) trial->turn(cancelled);
    }
    report.disturbed += measurer->disturbed_rounds();
    report.profiles.push_back(profile(*measurer));
    conclude(report);
  }

 private:
  std::vector<MeasureRequest> shapes() const {
    const bool optimal =
        std::count(request_.strategies.begin(), request_.strategies.end(), "optimal") > 0;
    std::vector<MeasureRequest> all;
    if (optimal) all = shapes_of(graph_, space_);
    const Profile nothing;
    for (const std::string& strategy : request_.strategies) {
      if (strategy == "optimal") continue;
      const Case input{graph_, cluster_, request_.sync, DType::fp32, {}};
      const auto more = shapes_of(graph_, load_strategy(strategy, input));
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  Profile profile(const Measurer& measurer) const {
    const Bytes memory = available_memory().value_or(Bytes{std::int64_t{1} << 40});
    return profile_of(measurer, {cluster_[DeviceId(0)].kind, runner_.description(name_),
                                 request_.date, "strata validate " + request_.model, memory});
  }

  Plan lowered(const Strategy& strategy) const {
    LowerOptions options;
    options.sync = request_.sync;
    return lower(graph_, cluster_, strategy, options);
  }

  // Strategies that are the same, as all are on one device, are run once.
  void start_trials(const Profile& first) {
    const Case input = measured_case(graph_, cluster_, first, request_.sync);
    for (const std::string& name : request_.strategies) {
      Strategy strategy = load_strategy(name, input);
      const auto same = std::find_if(strategies_.begin(), strategies_.end(), [&](const auto& s) {
        return std::ranges::equal(s.configs(), strategy.configs());
      });
      trial_of_.push_back(static_cast<std::size_t>(same - strategies_.begin()));
      if (same != strategies_.end()) continue;
      trials_.push_back(
          std::make_unique<Trial>(runner_, name_, graph_, lowered(strategy), data_, weights_));
      strategies_.push_back(std::move(strategy));
    }
  }

  void conclude(ValidateReport& report) const {
    const Case input = measured_case(graph_, cluster_, report.profiles.back(), request_.sync);
    for (std::size_t k = 0; k < request_.strategies.size(); ++k) {
      const Prediction predicted = predict(input, strategies_[trial_of_[k]]);
      ValidateCase result;
      result.model = graph_.name();
      result.devices = devices_;
      result.batch = graph_.batch();
      result.strategy = request_.strategies[k];
      result.predicted = predicted.step_seconds();
      result.eq1 = predicted.eq1_seconds();
      trials_[trial_of_[k]]->report(result, predicted);
      report.cases.push_back(std::move(result));
    }
  }

  Runner& runner_;
  const ValidateRequest& request_;
  int devices_;
  std::string name_;
  Graph graph_;
  Cluster cluster_;
  SearchSpace space_;
  Dataset data_;
  NetworkWeights weights_;
  std::vector<Strategy> strategies_;   // distinct ones
  std::vector<std::size_t> trial_of_;  // by the request's strategy
  std::vector<std::unique_ptr<Trial>> trials_;
};

// Calls visit(a, b) for pairs of one number of devices whose measured times differ.
template <class Visit>
void for_ordered_pairs(const std::vector<ValidateCase>& cases, Visit visit) {
  for (const ValidateCase& a : cases) {
    for (const ValidateCase& b : cases) {
      if (a.devices == b.devices && a.measured * (1 + kTie) < b.measured) visit(a, b);
    }
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

double ValidateReport::rank_agreement() const {
  std::size_t pairs = 0, agree = 0;
  for_ordered_pairs(cases, [&](const ValidateCase& a, const ValidateCase& b) {
    ++pairs;
    agree += a.predicted < b.predicted;
  });
  return pairs == 0 ? 1 : static_cast<double>(agree) / static_cast<double>(pairs);
}

bool ValidateReport::fastest_first() const {
  return std::all_of(cases.begin(), cases.end(), [&](const ValidateCase& c) {
    const auto beats = [&](const ValidateCase& other, auto time) {
      return other.devices == c.devices && time(other) < time(c);
    };
    const auto faster = [&](const ValidateCase& o) {
      return beats(o, [](const ValidateCase& x) { return x.predicted; });
    };
    const auto really_faster = [&](const ValidateCase& o) {
      return o.devices == c.devices && o.measured * (1 + kTie) < c.measured;
    };
    const bool predicted_fastest = std::none_of(cases.begin(), cases.end(), faster);
    return !predicted_fastest || std::none_of(cases.begin(), cases.end(), really_faster);
  });
}

ValidateReport validate(Runner& runner, const ValidateRequest& request,
                        const std::atomic<bool>* cancelled,
                        const std::function<void(const ValidateProgress&)>& progress) {
  ValidateReport report;
  for (int devices = request.each_count ? 1 : request.devices; devices <= request.devices;
       ++devices) {
    Validation(runner, request, devices).run(report, cancelled, progress);
  }
  return report;
}

}  // namespace strata
