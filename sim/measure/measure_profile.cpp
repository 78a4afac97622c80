#include "sim/measure/measure_profile.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/network.h"

namespace strata {
namespace {

/// A network, and all that is measured of it.
struct Subject {
  Graph graph;
  std::vector<MeasureRequest> shapes;
};

Subject load(const ProfileRequest& request, const Cluster& cluster, const std::string& model) {
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  Graph graph =
      load_model(model, batch_of(request.training, devices), Unsupported::refuse, request.dims);
  check_runs(graph);
  auto shapes = shapes_of(graph, cluster, request.strategies);
  return {std::move(graph), std::move(shapes)};
}

// All of them before the first is measured: a name that is wrong is found at once.
std::vector<Subject> load(const ProfileRequest& request, const Cluster& cluster) {
  std::vector<Subject> subjects;
  for (const std::string& model : request.models) subjects.push_back(load(request, cluster, model));
  return subjects;
}

Origin origin_of(const Runner& runner, const ProfileRequest& request) {
  Origin origin = origin_of(runner, request.devices);
  origin.date = request.date;
  origin.command = request.command;
  return origin;
}

// What clocks and power were, where the machine tells.
std::string seen(const std::string& begin, const std::string& end) {
  if (begin.empty() && end.empty()) return "";
  return fmt::format(" Seen before the first model: {}; after the last: {}.", begin, end);
}

using Tell = std::function<void(std::size_t round)>;

/// How many of the rounds were: all, unless it was called off.
std::size_t take_rounds(Measurer& measurer, std::size_t rounds, const Tell& tell,
                        const std::atomic<bool>* cancelled) {
  std::size_t round = 0;
  try {
    for (; round < rounds; ++round) {
      tell(round);
      measurer.round(cancelled);
    }
  } catch (const Cancelled&) {  // what it has seen stays
  }
  return round;
}

/// Of the subject after so many rounds.
std::string called_off(std::span<const Subject> subjects, std::size_t at, std::size_t rounds) {
  std::string text = fmt::format(" Called off: of {}, what {} whole rounds and a part of one took",
                                 subjects[at].graph.name(), rounds);
  for (std::size_t s = at + 1; s < subjects.size(); ++s) {
    text += fmt::format("{}{}", s == at + 1 ? "; nothing of " : ", ", subjects[s].graph.name());
  }
  return text + ".";
}

}  // namespace

ProfileReport measure_profile(Runner& runner, const ProfileRequest& request,
                              const std::atomic<bool>* cancelled,
                              const std::function<void(const MeasureProgress&)>& progress) {
  const Cluster cluster = runner.cluster(request.devices);
  Origin origin = origin_of(runner, request);
  ProfileReport report;
  const std::vector<Subject> subjects = load(request, cluster);
  const std::string before = runner.state(request.devices);
  std::string missing;
  for (std::size_t s = 0; s < subjects.size() && !report.stopped; ++s) {
    const Subject& subject = subjects[s];
    const auto measurer =
        runner.measure(request.devices, subject.graph,
                       {subject.shapes, move_sizes(subject.graph), request.training.dtype,
                        request.recorded, request.training.optimizer});
    const std::string what = fmt::format("{} on {}", subject.graph.name(), request.devices);
    const auto tell = [&](std::size_t round) {
      if (progress) progress({what, round, request.rounds});
    };
    const std::size_t rounds = take_rounds(*measurer, request.rounds, tell, cancelled);
    report.stopped = rounds < request.rounds;
    if (report.stopped) missing = called_off(subjects, s, rounds);
    std::vector<MeasuredCost> costs = measurer->costs(Sampled::calm);
    if (report.stopped && costs.empty()) break;
    origin.method = measurer->method();
    const Profile profile = profile_of(std::move(costs), measurer->moves(), origin);
    report.profile = report.profile.kind.empty() ? profile : merged(report.profile, profile);
    report.disturbance += measurer->disturbance();
  }
  if (report.profile.kind.empty()) throw Cancelled{};
  report.profile.provenance.method += seen(before, runner.state(request.devices)) + missing;
  return report;
}

RowSpread row_spread(std::span<const MeasuredCost> rows) {
  std::vector<double> spreads;
  spreads.reserve(rows.size());
  for (const MeasuredCost& row : rows) spreads.push_back(row.relative_spread());
  if (spreads.empty()) return {};
  std::ranges::sort(spreads);
  return {spreads[spreads.size() / 2], spreads[spreads.size() * 9 / 10]};
}

void check_mergeable(const Profile& older, const std::string& file, const Runner& runner,
                     const std::string& devices) {
  const Origin now = origin_of(runner, devices);
  if (older.kind != now.kind || older.description != now.machine) {
    throw InputError(
        fmt::format("{}: a profile of kind {} ({}); allowed with `merge`: of kind {} ({})", file,
                    older.kind, older.description, now.kind, now.machine));
  }
  if (older.devices == 0 || older.devices == now.devices) return;
  throw InputError(
      fmt::format("{}: measured on {} devices at once; allowed with `merge`: on {}, as `devices` "
                  "says",
                  file, older.devices, now.devices));
}

}  // namespace strata
