#include "sim/train/train.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/base/quantile.h"

namespace strata {
namespace {

constexpr std::size_t kFirstPiece = 3, kLargestPiece = 256;
constexpr double kPieceSeconds = 0.5;

// As many steps as take kPieceSeconds, but three at least: the first step of a piece has no
// predecessor to be timed from, and the last is never played from a recording.
std::size_t next_piece(std::size_t left, Seconds step) {
  const double fit = kPieceSeconds / std::max(step.value, 1e-9);
  const auto piece =
      static_cast<std::size_t>(std::clamp(fit, 3.0, static_cast<double>(kLargestPiece)));
  return left < piece + 3 ? left : piece;  // no piece of one step or two at the end
}

Communication& operator+=(Communication& sum, const Communication& more) {
  sum.transfer += more.transfer;
  sum.sync += more.sync;
  sum.statistics += more.statistics;
  return sum;
}

void append(std::vector<Seconds>& all, const std::vector<Seconds>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void check_moved(const Communication& moved, const Communication& planned, std::size_t steps) {
  const auto times = static_cast<std::int64_t>(steps);
  if (moved.transfer == planned.transfer * times && moved.sync == planned.sync * times) return;
  throw InternalError(fmt::format(
      "{} steps moved {} bytes of activations and {} of parameters between devices; the plan says "
      "{} and {}",
      steps, moved.transfer.value, moved.sync.value, planned.transfer.value * times,
      planned.sync.value * times));
}

/// Of some steps; the host's where it is known.
struct Times {
  std::vector<Seconds> steps, issue;
};

class Trainer {
 public:
  Trainer(PlanRun& run, const Plan& plan, const BatchOf& batch_of, const TrainOptions& options)
      : run_(run), plan_(plan), batch_of_(batch_of), options_(options) {}

  TrainedSteps train() && {
    std::size_t piece = options_.steps < kFirstPiece + 3 ? options_.steps : kFirstPiece;
    while (piece > 0 && run_piece(piece)) {
      piece = next_piece(options_.steps - done(), result_.last.step_seconds());
      if (done() == options_.steps) break;
    }
    result_.played = !played_.steps.empty();
    const Times& counted = result_.played ? played_ : timed_.steps.empty() ? alone_ : timed_;
    result_.times = step_times(counted.steps);
    if (!counted.issue.empty()) {
      const StepTimes issue = step_times(counted.issue);
      result_.issue = IssueTimes{issue.median, issue.min};
    }
    result_.moved_per_step = communication(plan_);
    result_.moved_per_step.statistics = {moved_.statistics.value /
                                         static_cast<std::int64_t>(done())};
    return std::move(result_);
  }

 private:
  std::size_t done() const { return result_.losses.size(); }

  // False where it was called off.
  bool run_piece(std::size_t steps) try {
    Execution piece = run_.run(steps, batch_of_, options_.cancelled);
    moved_ += piece.moved;
    result_.plain_loops = std::move(piece.plain_loops);
    keep_times(piece);
    result_.losses.insert(result_.losses.end(), piece.losses.begin(), piece.losses.end());
    check_moved(moved_, communication(plan_), done());
    result_.last = std::move(piece.timeline);
    if (options_.progress) options_.progress(done(), result_.losses.back());
    return true;
  } catch (const Cancelled&) {
    if (done() == 0) throw;
    result_.stopped = true;
    return false;
  }

  void keep_times(const Execution& piece) {
    const Timeline& timeline = piece.timeline;
    const std::size_t steps = timeline.steps();
    const Seconds before = steps > 1 ? timeline.step_end(steps - 2) : Seconds{};
    alone_ = {{timeline.step_end(steps - 1) - before}, {}};
    if (!piece.issue.empty()) alone_.issue = {piece.issue.back()};
    const std::size_t first = std::max<std::size_t>({options_.warmup, done(), 1}) - done();
    keep_times(piece, {first, steps}, timed_);
    keep_times(piece, {std::max(first, piece.played.begin), piece.played.end}, played_);
  }

  // Of the range. A piece's first step has no end before it to be timed from; but the host asks for
  // it while all queues are empty, so that no full one holds the host up.
  static void keep_times(const Execution& piece, StepRange range, Times& times) {
    const std::size_t timed = std::max<std::size_t>(range.begin, 1);
    if (timed < range.end) {
      append(times.steps, piece.timeline.step_intervals({timed - 1, range.end - 1}));
    }
    for (std::size_t step = range.begin; step < std::min(range.end, piece.issue.size()); ++step) {
      times.issue.push_back(piece.issue[step]);
    }
  }

  PlanRun& run_;
  const Plan& plan_;
  const BatchOf& batch_of_;
  const TrainOptions& options_;
  TrainedSteps result_;
  Communication moved_;
  Times timed_, played_;  ///< of all steps but the first ones; of those played
  Times alone_;           ///< of the last step
};

}  // namespace

StepTimes step_times(std::vector<Seconds> times) {
  std::sort(times.begin(), times.end());
  const std::size_t n = times.size();
  // The smallest time that at least 90 of 100 steps do not exceed.
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(n)));
  std::vector<double> sorted;
  sorted.reserve(n);
  for (Seconds time : times) sorted.push_back(time.value);
  const Seconds spread{(quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2};
  return {(times[(n - 1) / 2] + times[n / 2]) / 2, times.front(), times[rank - 1], spread, n};
}

TrainedSteps train(PlanRun& run, const Plan& plan, const BatchOf& batch_of,
                   const TrainOptions& options) {
  return Trainer(run, plan, batch_of, options).train();
}

}  // namespace strata
