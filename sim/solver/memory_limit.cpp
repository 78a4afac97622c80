#include "sim/solver/memory_limit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/base/cancel.h"
#include "sim/solver/branch_and_bound.h"

namespace strata {
namespace {

using Memory = std::vector<std::vector<std::int64_t>>;

constexpr int kMostPrices = 40;
/// Parts of branch and bound: some minutes at most.
constexpr std::size_t kMostParts = 100000;
constexpr double kMostPenalty = 0x1p50;  // quanta, over all variables

std::int64_t bytes_of(const Memory& memory, const Choices& choices) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < choices.size(); ++v) sum += memory[v][choices[v]];
  return sum;
}

/// Per variable the choice of the fewest bytes, the cheapest of those.
Choices smallest(const CostTables& tables, const Memory& memory) {
  Choices choices;
  for (std::size_t v = 0; v < memory.size(); ++v) {
    std::uint32_t best = 0;
    for (std::uint32_t c = 1; c < memory[v].size(); ++c) {
      const std::vector<double>& seconds = *tables.variables[v];
      if (std::pair(memory[v][c], seconds[c]) < std::pair(memory[v][best], seconds[best])) best = c;
    }
    choices.push_back(best);
  }
  return choices;
}

/// Bytes beyond each variable's least, at a price. Penalties are rounded down to multiples of the
/// quantum and that of the limit up, so price * (bytes - limit) >= penalties - penalty_of_limit and
/// the bound is one on the cost of what fits, to the bit. A product of doubles is within half a
/// quantum of the exact one below 2^53 quanta: one quantum more, or less, is on the safe side.
PricedMemory priced(const CostTables& tables, const Memory& memory, std::int64_t limit,
                    double price) {
  const double quantum = tables.quantum;
  const double most = std::floor(kMostPenalty / static_cast<double>(memory.size())) * quantum;
  const auto quanta = [&](std::int64_t bytes) {
    return std::floor(static_cast<double>(bytes) * (price / quantum));
  };
  PricedMemory result{&memory, limit, {}, 0};
  std::int64_t slack = limit;
  for (const std::vector<std::int64_t>& bytes : memory) {
    const std::int64_t least = *std::min_element(bytes.begin(), bytes.end());
    slack -= least;
    std::vector<double>& penalties = result.penalty.emplace_back();
    for (const std::int64_t b : bytes) {
      penalties.push_back(std::clamp((quanta(b - least) - 1) * quantum, 0.0, most));
    }
  }
  result.penalty_of_limit =
      std::min((quanta(slack) + 2) * quantum, most * static_cast<double>(memory.size()));
  return result;
}

/// Equal sums are shared, as their parts were.
CostTables with_penalties(const CostTables& tables, const PricedMemory& memory) {
  CostTables result = tables;
  std::map<std::vector<double>, CostTables::Vector> made;
  for (std::size_t v = 0; v < tables.variables.size(); ++v) {
    std::vector<double> sum = *tables.variables[v];
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += memory.penalty[v][c];
    CostTables::Vector& shared = made[sum];
    if (!shared) shared = std::make_shared<const std::vector<double>>(sum);
    result.variables[v] = shared;
  }
  return result;
}

class SolveWithin {
 public:
  SolveWithin(const CostTables& tables, const Memory& memory, std::int64_t limit, std::size_t count,
              const SolveLimits& limits)
      : tables_(tables),
        memory_(memory),
        limit_(limit),
        count_(std::max<std::size_t>(count, 1)),
        limits_(limits),
        deadline_(limits.time_limit == kInfinity ? kInfinity
                                                 : steady_seconds() + limits.time_limit),
        known_(count_) {}

  MemoryResult run(std::span<const Choices> known) {
    const Choices least = smallest(tables_, memory_);
    result_.least_bytes = bytes_of(memory_, least);
    if (result_.least_bytes > limit_) {
      result_.lower_bound = kInfinity;
      return result_;
    }
    offer(least);
    for (const Choices& choices : known) offer(choices);
    if (!without_limit(known)) {
      find_price(least);
      if (!closed()) branch();
    }
    return finished();
  }

 private:
  struct Point {
    Choices choices;
    double seconds;
    std::int64_t bytes;
  };

  bool offer(const Choices& choices) {
    if (bytes_of(memory_, choices) > limit_) return false;
    known_.offer(choices, tables_.seconds(choices));
    return true;
  }
  bool closed() const { return count_ == 1 && result_.lower_bound >= known_.best_seconds(); }
  bool out_of_time() const { return is_set(limits_.cancelled) || steady_seconds() > deadline_; }
  SolveLimits remaining() const {
    SolveLimits limits = limits_;
    if (deadline_ < kInfinity) limits.time_limit = std::max(0.0, deadline_ - steady_seconds());
    return limits;
  }
  Point point(Choices choices) const {
    const double seconds = tables_.seconds(choices);
    const std::int64_t bytes = bytes_of(memory_, choices);
    return {std::move(choices), seconds, bytes};
  }

  /// True if the best without the limit are within it, with proof.
  bool without_limit(std::span<const Choices> known) {
    const SolveResult free = solve(tables_, known, count_, remaining());
    raise(free.lower_bound);
    bool all_fit = free.best.size() == count_;
    for (const Solution& solution : free.best) {
      all_fit = offer(solution.choices) && solution.optimal() && all_fit;
    }
    if (!free.best.empty()) too_large_ = point(free.best.front().choices);
    complete_ = all_fit;
    return all_fit;
  }

  void raise(double bound) { result_.lower_bound = std::max(result_.lower_bound, bound); }

  /// Each price makes the two strategies that stand for it cost the same; a cheaper third replaces
  /// one of them, none means that the price is the best.
  void find_price(const Choices& least) {
    if (too_large_.choices.empty() || too_large_.bytes <= limit_) return;
    Point small = point(known_.best().empty() ? least : known_.best().front().choices);
    for (int i = 0; i < kMostPrices && !out_of_time() && !closed(); ++i) {
      if (small.seconds <= too_large_.seconds || small.seconds == kInfinity) return;
      const double price = (small.seconds - too_large_.seconds) /
                           static_cast<double>(too_large_.bytes - small.bytes);
      const PricedMemory memory = priced(tables_, memory_, limit_, price);
      const Choices start[] = {small.choices, too_large_.choices};
      const SolveResult found = solve(with_penalties(tables_, memory), start, 1, remaining());
      const double bound = found.lower_bound - memory.penalty_of_limit;
      if (bound > best_bound_)
        std::tie(best_bound_, result_.seconds_per_byte) = std::pair(bound, price);
      raise(bound);
      if (found.best.empty()) return;
      Point next = point(found.best.front().choices);
      offer(next.choices);
      Point& old = next.bytes <= limit_ ? small : too_large_;
      if (old.bytes == next.bytes && old.seconds == next.seconds) return;
      old = std::move(next);
    }
  }

  void branch() {
    if (is_set(limits_.cancelled)) return;
    const PricedMemory memory = priced(tables_, memory_, limit_, result_.seconds_per_byte);
    BestKnown known(count_, &memory);
    for (const Solution& s : known_.best()) {
      known.offer(s.choices, s.seconds + penalty_of(memory, s.choices));
    }
    BranchOptions options;
    options.deadline = deadline_;
    options.most_parts = std::min(kMostParts, limits_.most_parts);
    Subproblem root(with_penalties(tables_, memory));
    AscentOptions ascent;
    ascent.deadline = deadline_;
    ascend(root, known, ascent, limits_);
    const BranchResult found = branch_and_bound(std::move(root), known, options, limits_);
    for (const Solution& s : known.best()) known_.offer(s.choices, s.seconds);
    complete_ = found.complete;
    raise(found.lower_bound - memory.penalty_of_limit);
  }

  static double penalty_of(const PricedMemory& memory, const Choices& choices) {
    double sum = 0;
    for (std::size_t v = 0; v < choices.size(); ++v) sum += memory.penalty[v][choices[v]];
    return sum;
  }

  MemoryResult finished() {
    result_.best = known_.best();
    if (result_.best.empty()) {
      if (complete_) result_.lower_bound = kInfinity;
      return std::move(result_);
    }
    const double best = known_.best_seconds();
    result_.lower_bound = complete_ ? best : std::min(best, result_.lower_bound);
    for (Solution& s : result_.best) {
      s.lower_bound = complete_ ? s.seconds : result_.lower_bound;
    }
    result_.bytes = bytes_of(memory_, result_.best.front().choices);
    return std::move(result_);
  }

  const CostTables& tables_;
  const Memory& memory_;
  std::int64_t limit_;
  std::size_t count_;
  const SolveLimits& limits_;
  double deadline_;
  BestKnown known_;
  MemoryResult result_;
  Point too_large_{{}, kInfinity, 0};
  double best_bound_ = -kInfinity;
  bool complete_ = false;
};

}  // namespace

MemoryResult solve_within(const CostTables& tables, const Memory& memory, std::int64_t limit,
                          std::span<const Choices> known, std::size_t k_best,
                          const SolveLimits& limits) {
  return SolveWithin(tables, memory, limit, k_best, limits).run(known);
}

}  // namespace strata
