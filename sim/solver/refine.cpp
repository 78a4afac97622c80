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

// Variables [first, last) take other choices; `change` is what that costs under the tables.
struct Move {
  double change = 0;
  std::uint32_t first = 0, last = 0;
  Choices choices;  // of the stretch
  auto operator<=>(const Move&) const = default;
};

class Refiner {
 public:
  Refiner(const CostTables& tables, std::span<const Choices> starts, const Evaluate& evaluate,
          const RefineOptions& options, const SolveLimits& limits)
      : tables_(tables),
        starts_(starts),
        evaluate_(evaluate),
        options_(options),
        limits_(limits),
        edges_(tables.variables.size()) {
    for (std::uint32_t e = 0; e < tables.edges.size(); ++e) {
      edges_[tables.edges[e].from].push_back(e);
      edges_[tables.edges[e].to].push_back(e);
    }
  }

  Refinement run() {
    std::vector<Choices> first;
    for (const Choices& start : starts_) {
      if (std::find(first.begin(), first.end(), start) == first.end()) first.push_back(start);
    }
    evaluate(first);
    while (!stopped_ && known_.size() < options_.evaluations && best_ != nullptr &&
           best_->second > options_.enough) {
      const std::vector<Choices> batch = next_batch();
      if (batch.empty()) break;
      evaluate(batch);
    }
    return result();
  }

 private:
  bool out_of_time() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return is_set(limits_.cancelled) || spent.count() > limits_.time_limit;
  }

  // The first start is evaluated whatever a limit says. What costs much exchanges much: it takes
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
      const bool first = known_.empty() && at == 0;
      if (!first && out_of_time()) return;
      seconds[i] = evaluate_(batch[i]);
      done[i] = 1;
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
    progress.done = std::min(
        1., static_cast<double>(known_.size()) / static_cast<double>(options_.evaluations));
    if (best_ != nullptr) progress.best = best_->second;
    limits_.progress(progress);
  }

  double cost_of(const Choices& at, std::uint32_t variable, std::uint32_t choice) const {
    double sum = (*tables_.variables[variable])[choice];
    for (const std::uint32_t e : edges_[variable]) {
      const CostTables::Edge& edge = tables_.edges[e];
      sum += edge.from == variable ? edge.table->at(choice, at[edge.to])
                                   : edge.table->at(at[edge.from], choice);
    }
    return sum;
  }

  // One variable after another takes its new choice, each against what is then around it.
  double change_of(const Choices& from, const Move& move) const {
    Choices at = from;
    double sum = 0;
    for (std::uint32_t v = move.first; v < move.last; ++v) {
      const std::uint32_t choice = move.choices[v - move.first];
      if (choice == at[v]) continue;
      sum += cost_of(at, v, choice) - cost_of(at, v, at[v]);
      at[v] = choice;
    }
    return sum;
  }

  // The stretch of equal choices around a variable.
  std::pair<std::uint32_t, std::uint32_t> run_around(const Choices& at, std::uint32_t v) const {
    const auto same = [&](std::uint32_t other) {
      return options_.shapes[other] == options_.shapes[v] && at[other] == at[v];
    };
    std::uint32_t first = v, last = v + 1;
    while (first > 0 && same(first - 1)) --first;
    while (last < at.size() && same(last)) ++last;
    return {first, last};
  }

  void add(const Choices& at, std::uint32_t first, Choices choices,
           std::vector<Move>& moves) const {
    Move move{0, first, first + static_cast<std::uint32_t>(choices.size()), std::move(choices)};
    move.change = change_of(at, move);
    moves.push_back(std::move(move));
  }

  void add_choices(const Choices& at, std::uint32_t v, std::vector<Move>& moves) const {
    const auto [first, last] = run_around(at, v);
    for (std::uint32_t c = 0; c < tables_.variables[v]->size(); ++c) {
      if (c == at[v]) continue;
      add(at, v, {c}, moves);
      if (v == first && last - first > 1) add(at, first, Choices(last - first, c), moves);
    }
  }

  // Where another start differs, stretch by stretch, and from there to the end.
  void add_stretches(const Choices& at, const Choices& other, std::vector<Move>& moves) const {
    const auto size = static_cast<std::uint32_t>(at.size());
    for (std::uint32_t first = 0; first < size;) {
      if (at[first] == other[first]) {
        ++first;
        continue;
      }
      std::uint32_t last = first;
      while (last < size && at[last] != other[last]) ++last;
      add(at, first, {other.begin() + first, other.begin() + last}, moves);
      if (last < size) add(at, first, {other.begin() + first, other.end()}, moves);
      first = last;
    }
  }

  std::vector<Move> moves_from(const Choices& at) const {
    std::vector<Move> moves;
    for (std::uint32_t v = 0; v < at.size(); ++v) add_choices(at, v, moves);
    for (const Choices& other : starts_) add_stretches(at, other, moves);
    std::sort(moves.begin(), moves.end());
    return moves;
  }

  bool hopeless(const Choices& choices) const {
    return options_.lower_bound && options_.lower_bound(choices) >= best_->second;
  }

  // The most promising moves from the best that were not evaluated yet.
  std::vector<Choices> next_batch() const {
    const Choices& at = best_->first;
    const std::size_t most = std::min(kBatch, options_.evaluations - known_.size());
    std::map<std::uint32_t, std::size_t> of_place;
    std::set<Choices> batch;
    for (const Move& move : moves_from(at)) {
      if (batch.size() == most) break;
      if (of_place[move.first] == kOfOnePlace) continue;
      Choices next = at;
      std::copy(move.choices.begin(), move.choices.end(), next.begin() + move.first);
      if (known_.contains(next) || hopeless(next)) continue;
      if (!batch.insert(std::move(next)).second) continue;
      ++of_place[move.first];
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
  std::vector<std::vector<std::uint32_t>> edges_;  // by variable
  std::map<Choices, double> known_;
  const std::pair<const Choices, double>* best_ = nullptr;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Refinement refine(const CostTables& tables, std::span<const Choices> starts,
                  const Evaluate& evaluate, const RefineOptions& options,
                  const SolveLimits& limits) {
  return Refiner(tables, starts, evaluate, options, limits).run();
}

}  // namespace strata
