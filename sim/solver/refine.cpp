#include "sim/solver/refine.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"

namespace strata {
namespace {

// So many moves are evaluated before the best of them is made, whatever the thread count; of one
// place no more than a few, so that a batch looks around.
constexpr std::size_t kBatch = 16, kOfOnePlace = 2;

// From so many starts, the fastest ones, the search goes down.
constexpr std::size_t kPaths = 6, kApart = 3;
// An estimate learns from so many strategies, the fastest ones, and ranks the moves from so many.
constexpr std::size_t kSamples = 150, kBases = 4;

class Refiner {
  using Known = KnownStep;  // of `known_`
  // The moves from one of the strategies, the cheapest first.
  struct Moves {
    Choices from;
    std::vector<Move> all;
  };
  // Down from a start: where it has come, and the moves from there by ranking.
  struct Path {
    const Known* at;
    std::vector<Moves> moves;
    std::size_t turn = 0;
  };

 public:
  Refiner(std::span<const CostTables> rankings, std::span<const Choices> starts,
          const Evaluate& evaluate, const RefineOptions& options, const SolveLimits& limits)
      : tables_(rankings.front()),
        starts_(starts),
        evaluate_(evaluate),
        options_(options),
        limits_(limits),
        estimate_(options.estimate) {
    for (const CostTables& tables : rankings) around_.emplace_back(tables, options.kinds, starts);
  }

  Refinement run() {
    std::vector<Choices> first;
    for (const Choices& start : starts_) {
      if (std::find(first.begin(), first.end(), start) == first.end()) first.push_back(start);
    }
    evaluate(first);
    try {
      go_down();
    } catch (const Cancelled&) {
      stopped_ = true;
    }
    return result();
  }

 private:
  void go_down() {
    for (const Known* start : by_seconds()) {
      if (paths_.size() == kPaths) break;
      const auto is_near = [&](const Path& path) {
        return distance(path.at->first, start->first) < kApart;
      };
      if (std::any_of(paths_.begin(), paths_.end(), is_near)) continue;
      paths_.push_back({start, std::vector<Moves>(around_.size())});
    }
    while (goes_on() && descend()) {
      if (estimate_ && goes_on()) evaluate(estimated_batch());
    }
    while (goes_on()) {
      const std::vector<Choices> batch = next_batch();
      if (batch.empty()) break;
      evaluate(batch);
    }
  }

  bool goes_on() const {
    if (stopped_ || best_ == nullptr || known_.size() >= options_.evaluations) return false;
    return !options_.done || !options_.done(best_->second);
  }

  static std::size_t distance(const Choices& a, const Choices& b) {
    std::size_t differ = 0;
    for (std::size_t v = 0; v < a.size(); ++v) differ += a[v] != b[v];
    return differ;
  }

  // A batch further down from one of the starts: the one that leads in every other turn, the others
  // one after another in between. False where all have come to their ends.
  bool descend() {
    std::stable_sort(paths_.begin(), paths_.end(),
                     [](const Path& a, const Path& b) { return a.at->second < b.at->second; });
    while (!paths_.empty()) {
      const std::size_t others = paths_.size() - 1, turn = turn_++;
      const std::size_t i = turn % 2 == 0 || others == 0 ? 0 : 1 + turn / 2 % others;
      const std::vector<Choices> batch = next_batch(paths_[i]);
      if (batch.empty()) {
        paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      evaluate(batch);
      for (const Choices& choices : batch) {
        const auto known = known_.find(choices);
        if (known != known_.end() && known->second < paths_[i].at->second) paths_[i].at = &*known;
      }
      return true;
    }
    return false;
  }

  // By one ranking after another; empty where every move was evaluated.
  std::vector<Choices> next_batch(Path& path) {
    const Choices& at = path.at->first;
    for (std::size_t tries = 0; tries < around_.size(); ++tries) {
      const std::size_t r = path.turn++ % around_.size();
      if (path.moves[r].from != at)
        path.moves[r] = {at, around_[r].moves(at, limits_.threads, limits_.cancelled)};
      std::vector<Choices> batch = promising(path.moves[r]);
      if (!batch.empty()) return batch;
    }
    left_.insert(at);
    return {};
  }

  // Those of the fastest strategies that are apart from each other.
  static std::vector<const Known*> bases(const std::vector<const Known*>& fastest) {
    std::vector<const Known*> bases;
    for (const Known* known : fastest) {
      if (bases.size() == kBases) break;
      const auto is_near = [&](const Known* base) {
        return distance(base->first, known->first) < kApart;
      };
      if (std::none_of(bases.begin(), bases.end(), is_near)) bases.push_back(known);
    }
    return bases;
  }

  // Those that were worked out for the batch before are taken over.
  std::vector<Moves> moves_from(const std::vector<const Known*>& bases) {
    std::vector<Moves> result;
    for (const Known* base : bases) {
      const auto before = std::find_if(estimated_.begin(), estimated_.end(),
                                       [&](const Moves& m) { return m.from == base->first; });
      result.push_back(before != estimated_.end() ? std::move(*before) : Moves{base->first, {}});
    }
    return result;
  }

  // Orders the moves by what the estimate says of where they lead.
  void rank_by_estimate(Moves& moves) const {
    if (moves.all.empty())
      moves.all = around_.front().moves(moves.from, limits_.threads, limits_.cancelled);
    Choices next = moves.from;
    for (Move& move : moves.all) {
      throw_if_cancelled(limits_.cancelled);
      for (const auto& [variable, choice] : move.changes) next[variable] = choice;
      move.cost = estimate_->seconds(next);
      for (const auto& [variable, choice] : move.changes) next[variable] = moves.from[variable];
    }
    std::sort(moves.all.begin(), moves.all.end());
  }

  // From each base the moves that the estimate thinks the fastest, given all that is known.
  std::vector<Choices> estimated_batch() {
    const std::vector<const Known*> fastest = by_seconds();
    estimate_->learn(std::span(fastest).first(std::min(kSamples, fastest.size())));
    estimated_ = moves_from(bases(fastest));
    parallel_for(estimated_.size(), limits_.threads,
                 [&](std::size_t i, unsigned) { rank_by_estimate(estimated_[i]); });
    std::set<Choices> batch;
    for (const Moves& moves : estimated_) {
      const std::size_t most = std::min(kBatch / kBases, left_to_evaluate() - batch.size());
      for (Choices& choices : promising(moves, most)) batch.insert(std::move(choices));
    }
    return {batch.begin(), batch.end()};
  }

  std::size_t left_to_evaluate() const { return options_.evaluations - known_.size(); }

  bool out_of_time() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return is_set(limits_.cancelled) || spent.count() > limits_.time_limit;
  }

  // The first start first, which is the likeliest answer. What costs much exchanges much: it takes
  // longest, and nothing should wait for it at the end.
  std::vector<std::size_t> costliest_first(const std::vector<Choices>& batch) const {
    std::vector<double> costs;
    std::vector<std::size_t> order;
    for (const Choices& choices : batch) {
      order.push_back(costs.size());
      costs.push_back(tables_.seconds(choices));
    }
    if (order.empty()) return order;
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
    return order;
  }

  // Of equally good ones the first found stays the best. A batch that a limit cuts short counts as
  // far as it came.
  void evaluate(const std::vector<Choices>& batch) {
    std::vector<double> seconds(batch.size(), kInfinity);
    std::vector<char> done(batch.size(), 0);
    const std::vector<std::size_t> order = costliest_first(batch);
    parallel_for(batch.size(), limits_.threads, [&](std::size_t at, unsigned) {
      const std::size_t i = order[at];
      if (out_of_time()) return;
      try {
        seconds[i] = evaluate_(batch[i]);
        done[i] = 1;
      } catch (const Cancelled&) {
      }
    });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (done[i] == 0) {
        stopped_ = true;
        continue;
      }
      const auto& entry = *known_.emplace(batch[i], seconds[i]).first;
      if (entry.second < (best_ ? best_->second : kInfinity)) best_ = &entry;
    }
    report();
  }

  void report() const {
    if (!limits_.progress) return;
    SolveProgress progress;
    progress.stage = "simulation";
    progress.lower_bound = options_.least;
    progress.done = std::min(
        1., static_cast<double>(known_.size()) / static_cast<double>(options_.evaluations));
    if (best_ != nullptr) progress.best = best_->second;
    limits_.progress(progress);
  }

  bool hopeless(const Choices& choices) const {
    return options_.lower_bound && options_.lower_bound(choices) >= best_->second;
  }

  // Where all paths have ended: from the best two choices at once, then from the next best, and so
  // on.
  std::vector<Choices> next_batch() {
    for (const Known* base : by_seconds()) {
      const Choices& at = base->first;
      if (!left_.contains(at)) {
        if (moves_.from != at)
          moves_ = {at, around_.front().moves(at, limits_.threads, limits_.cancelled)};
        std::vector<Choices> batch = promising(moves_);
        if (!batch.empty()) return batch;
        left_.insert(at);
      }
      if (base != best_) continue;
      if (pairs_.from != at) pairs_ = {at, around_.front().pairs(at, limits_.cancelled)};
      std::vector<Choices> batch = promising(pairs_);
      if (!batch.empty()) return batch;
    }
    return {};
  }

  // The allowed ones, the best first.
  std::vector<const Known*> by_seconds() const {
    std::vector<const Known*> order;
    for (const Known& known : known_) {
      if (known.second < kInfinity) order.push_back(&known);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Known* a, const Known* b) { return a->second < b->second; });
    std::stable_partition(order.begin(), order.end(), [&](const Known* k) { return k == best_; });
    return order;
  }

  // The cheapest moves to what was not evaluated yet.
  std::vector<Choices> promising(const Moves& moves, std::size_t most = kBatch) const {
    most = std::min(most, left_to_evaluate());
    std::map<std::uint32_t, std::size_t> of_place;
    std::set<Choices> batch;
    for (const Move& move : moves.all) {
      if (batch.size() == most) break;
      const std::uint32_t place = move.changes.front().variable;
      if (of_place[place] == kOfOnePlace) continue;
      Choices next = moves.from;
      for (const auto& [variable, choice] : move.changes) next[variable] = choice;
      if (known_.contains(next) || hopeless(next)) continue;
      if (!batch.insert(std::move(next)).second) continue;
      ++of_place[place];
    }
    return {batch.begin(), batch.end()};
  }

  Refinement result() const {
    Refinement result{{}, known_.size(), stopped_};
    for (const auto& [choices, seconds] : known_) {
      if (seconds < kInfinity) result.best.push_back({choices, seconds});
    }
    std::stable_sort(result.best.begin(), result.best.end(),
                     [](const Evaluated& a, const Evaluated& b) { return a.seconds < b.seconds; });
    if (best_ == nullptr) return result;
    // Of equally good ones, the one that the search stayed with.
    const auto best = std::find_if(result.best.begin(), result.best.end(),
                                   [&](const Evaluated& e) { return e.choices == best_->first; });
    if (best != result.best.end()) std::rotate(result.best.begin(), best, best + 1);
    return result;
  }

  const CostTables& tables_;
  std::span<const Choices> starts_;
  const Evaluate& evaluate_;
  const RefineOptions& options_;
  const SolveLimits& limits_;
  std::vector<Neighbourhood> around_;  // by ranking
  std::optional<StepEstimate> estimate_;
  std::vector<Moves> estimated_;  // from the last bases
  std::map<Choices, double> known_;
  const Known* best_ = nullptr;
  std::set<Choices> left_;  // from which every move of one choice or stretch was evaluated
  Moves moves_, pairs_;
  std::vector<Path> paths_;
  std::size_t turn_ = 0;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Refinement refine(std::span<const CostTables> rankings, std::span<const Choices> starts,
                  const Evaluate& evaluate, const RefineOptions& options,
                  const SolveLimits& limits) {
  return Refiner(rankings, starts, evaluate, options, limits).run();
}

}  // namespace strata
