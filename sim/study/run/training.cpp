#include "sim/study/run/training.h"

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

class Trainer {
 public:
  Trainer(PlanRun& run, const Plan& plan, const BatchOf& batch_of, const TrainOptions& options)
      : run_(run), plan_(plan), batch_of_(batch_of), options_(options) {}

  Training train() && {
    std::size_t piece = options_.steps < kFirstPiece + 3 ? options_.steps : kFirstPiece;
    while (piece > 0 && run_piece(piece)) {
      piece = next_piece(options_.steps - done(), result_.last.step_seconds());
      if (done() == options_.steps) break;
    }
    result_.played = !played_.empty();
    result_.times = step_times(result_.played   ? played_
                               : timed_.empty() ? std::vector{alone_}
                                                : timed_);
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
    keep_times(piece.timeline, piece.played);
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

  void keep_times(const Timeline& timeline, StepRange played) {
    alone_ = timeline.steps() > 1
                 ? timeline.step_end(timeline.steps() - 1) - timeline.step_end(timeline.steps() - 2)
                 : timeline.step_end(0);
    const std::size_t first = std::max<std::size_t>(options_.warmup, done() + 1) - done();
    append(timed_, timeline.step_intervals({first - 1, timeline.steps() - 1}));
    const std::size_t of_played = std::max(first, played.begin);
    if (of_played >= played.end) return;
    append(played_, timeline.step_intervals({of_played - 1, played.end - 1}));
  }

  PlanRun& run_;
  const Plan& plan_;
  const BatchOf& batch_of_;
  const TrainOptions& options_;
  Training result_;
  Communication moved_;
  std::vector<Seconds> timed_, played_;  ///< of all steps but the first ones; of those played
  Seconds alone_;                        ///< of the last step
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

Training train(PlanRun& run, const Plan& plan, const BatchOf& batch_of,
               const TrainOptions& options) {
  return Trainer(run, plan, batch_of, options).train();
}

}  // namespace strata
