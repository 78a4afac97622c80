#include "sim/solver/screen.h"

#include <algorithm>
#include <numeric>

#include "sim/solver/prune.h"
#include "sim/solver/solve.h"
#include "sim/solver/stop.h"

namespace strata {
namespace {

constexpr int kFreeSweeps = 4;        // that look for good strategies
constexpr int kMostSweeps = 40;       // that drop choices
constexpr double kWorthwhile = 0.97;  // of the choices, left by a sweep that is followed by another

// Of each variable, the numbers that any of the strategies chooses.
std::vector<Choices> choices_of(const std::vector<Choices>& strategies) {
  std::vector<Choices> kept(strategies.front().size());
  for (const Choices& strategy : strategies) {
    for (std::size_t v = 0; v < kept.size(); ++v) kept[v].push_back(strategy[v]);
  }
  for (Choices& numbers : kept) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  return kept;
}

std::size_t count(const std::vector<Choices>& kept) {
  return std::accumulate(kept.begin(), kept.end(), std::size_t{0},
                         [](std::size_t sum, const Choices& c) { return sum + c.size(); });
}

// Entries are rounded to the nearest quantum, in both tables.
double rounding(const CostTables& tables) {
  return tables.quantum * static_cast<double>(tables.variables.size() + tables.edges.size());
}

class Screening {
 public:
  Screening(const SearchSpace& space, std::span<const Choices> known, const BuildTables& build,
            const SolveLimits& limits, ScreenProof& proof, double slack)
      : whole_(space),
        build_(build),
        limits_(limits),
        stop_(limits),
        proof_(proof),
        slack_(slack),
        known_(known.begin(), known.end()),
        result_{space, {}, all_choices(space)} {}

  Screened run() {
    for (const TableDetail detail : {TableDetail::bounds, TableDetail::sampled}) {
      result_.tables = build_(result_.space, detail);
      if (result_.tables.detail == TableDetail::exact) return std::move(result_);
      drop();
    }
    result_.tables = build_(result_.space, TableDetail::exact);
    return std::move(result_);
  }

 private:
  // Choices with which every strategy costs more than one that is known, by more than the slack.
  void drop() {
    Subproblem problem(result_.tables);
    for (int i = 0; i < kFreeSweeps; ++i) {
      sweep(problem, kInfinity);
      Choices decoded = problem.bound.decoded();
      descend(problem.model(), decoded);
      known_.push_back(result_.original(decoded));
    }
    mix_known();
    const double limit = proof_.seconds * (1 + slack_) + rounding(result_.tables);
    for (int i = 0; i < kMostSweeps; ++i) {
      const std::size_t before = count(problem.bound.choices());
      sweep(problem, limit);
      const std::size_t left = count(problem.bound.choices());
      if (static_cast<double>(left) > kWorthwhile * static_cast<double>(before)) break;
    }
    std::vector<Choices> left = problem.bound.choices();
    for (std::size_t v = 0; v < left.size(); ++v) {
      for (std::uint32_t& choice : left[v]) choice = result_.kept[v][choice];
    }
    result_.kept = std::move(left);
    result_.space = whole_.restricted(result_.kept);
  }

  // The best strategy that mixes the known ones; alone it need not be known for long.
  void mix_known() {
    const std::vector<Choices> kept = choices_of(known_);
    const CostTables tables = build_(whole_.restricted(kept), TableDetail::exact);
    const SolveResult found = solve(tables, {}, 1, limits_);
    stop_.check();
    if (found.best.empty()) return;
    const double seconds = found.best.front().seconds + rounding(tables);
    if (seconds >= proof_.seconds) return;
    proof_.seconds = seconds;
    proof_.best = renamed(kept, found.best.front().choices);
    known_ = {proof_.best};
  }

  void sweep(Subproblem& problem, double limit) {
    problem.bound.sweep(limit, limits_);
    const double bound = problem.bound.lower_bound() - rounding(result_.tables);
    proof_.lower_bound = std::max(proof_.lower_bound, std::min(bound, proof_.seconds));
    report();
    stop_.check();
  }

  void report() const {
    if (limits_.progress) {
      limits_.progress({"screening", -1, proof_.seconds, proof_.lower_bound});
    }
  }

  static std::vector<Choices> all_choices(const SearchSpace& space) {
    std::vector<Choices> all(space.size());
    for (std::size_t v = 0; v < space.size(); ++v) {
      all[v].resize(space[v].cuts->size());
      std::iota(all[v].begin(), all[v].end(), 0u);
    }
    return all;
  }

  const SearchSpace& whole_;
  const BuildTables& build_;
  const SolveLimits& limits_;
  Stop stop_;
  ScreenProof& proof_;
  const double slack_;
  std::vector<Choices> known_;  ///< of the whole space
  Screened result_;
};

}  // namespace

Screened screen(const SearchSpace& space, std::span<const Choices> known, const BuildTables& build,
                const SolveLimits& limits, ScreenProof* proof, double slack) {
  ScreenProof unasked;
  return Screening(space, known, build, limits, proof == nullptr ? unasked : *proof, slack).run();
}

}  // namespace strata
