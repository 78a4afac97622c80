#include "sim/search/within_memory.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/cancel.h"
#include "sim/base/parallel.h"
#include "sim/search/outsiders.h"
#include "sim/text/units.h"

namespace strata {
namespace {

// So many strategies are looked at first; then twice as many, and so on, until one fits.
constexpr std::size_t kLookedAt = 8, kMostLookedAt = 512;
// Where none of all these fits, so many lower limits on the sum are tried.
constexpr int kLimits = 8;

class Within {
 public:
  Within(const CostTables& tables, const std::vector<std::vector<std::int64_t>>& floor, Bytes limit,
         std::span<const Choices> known, std::size_t k_best, const PeakMemory& peak,
         const SolveLimits& limits)
      : tables_(tables),
        floor_(floor),
        limit_(limit),
        known_(known.begin(), known.end()),
        count_(std::max(k_best, kLookedAt)),
        peak_(peak),
        limits_(limits) {}

  WithinMemory run() {
    bool fits = false;
    for (std::size_t count = count_; !fits && !is_set(limits_.cancelled); count *= 2) {
      const MemoryResult found =
          strata::solve_within(tables_, floor_, limit_.value, known_, count, limits_);
      result_.least = Bytes{found.least_bytes};
      result_.lower_bound = std::max(result_.lower_bound, found.lower_bound);
      if (!found.fits()) return std::move(result_);
      fits = look_at(found.best);
      raise_bound(found.best);
      if (found.best.size() < count || 2 * count > kMostLookedAt) break;
    }
    look_at_known();
    if (!fits && !is_set(limits_.cancelled)) lower_the_limit(result_.least.value);
    return finished();
  }

 private:
  // Whether one of them fits.
  bool look_at(const std::vector<Solution>& solutions) try {
    std::vector<Bytes> peaks(solutions.size());
    parallel_for(solutions.size(), limits_.threads, [&](std::size_t i, unsigned) {
      throw_if_cancelled(limits_.cancelled);
      const auto at = peaks_.find(solutions[i].choices);
      peaks[i] = at != peaks_.end() ? at->second : peak_(solutions[i].choices);
    });
    bool any = false;
    for (std::size_t i = 0; i < solutions.size(); ++i) {
      peaks_.emplace(solutions[i].choices, peaks[i]);
      any = any || peaks[i] <= limit_;
    }
    return any;
  } catch (const Cancelled&) {
    return false;  // what was looked at before is kept
  }

  void look_at_known() {
    std::vector<Solution> solutions;
    for (const Choices& choices : known_) solutions.push_back({choices, tables_.seconds(choices)});
    look_at(solutions);
  }

  // Those before the first that fits do not: where they are proved to be the cheapest, so is it.
  // One whose peak is not known may fit.
  void raise_bound(const std::vector<Solution>& cheapest) {
    for (const Solution& solution : cheapest) {
      if (!solution.optimal() || !peaks_.contains(solution.choices)) return;
      if (peaks_.at(solution.choices) == kAnyMemory) return;
      result_.lower_bound = std::max(result_.lower_bound, solution.seconds);
      if (peaks_.at(solution.choices) <= limit_) return;
    }
  }

  // Halves the way between a limit on the sum that is too high and one at which something fits.
  void lower_the_limit(std::int64_t low) {
    std::int64_t high = limit_.value;
    if (!try_limit(low)) return;
    for (int i = 0; i < kLimits && !is_set(limits_.cancelled); ++i) {
      const std::int64_t middle = low + (high - low) / 2;
      (try_limit(middle) ? low : high) = middle;
    }
  }

  bool try_limit(std::int64_t bytes) {
    return look_at(strata::solve_within(tables_, floor_, bytes, known_, count_, limits_).best);
  }

  WithinMemory finished() {
    for (const auto& [choices, peak] : peaks_) {
      if (peak > limit_) continue;
      Solution solution{choices, tables_.seconds(choices), result_.lower_bound};
      result_.best.push_back(std::move(solution));
    }
    std::stable_sort(result_.best.begin(), result_.best.end(),
                     [](const Solution& a, const Solution& b) { return a.seconds < b.seconds; });
    if (result_.best.size() > count_) result_.best.resize(count_);
    return std::move(result_);
  }

  const CostTables& tables_;
  const std::vector<std::vector<std::int64_t>>& floor_;
  Bytes limit_;
  std::vector<Choices> known_;
  std::size_t count_;
  const PeakMemory& peak_;
  const SolveLimits& limits_;
  std::map<Choices, Bytes> peaks_;
  WithinMemory result_;
};

}  // namespace

WithinMemory within_memory(const CostTables& tables,
                           const std::vector<std::vector<std::int64_t>>& floor, Bytes limit,
                           std::span<const Choices> known, std::size_t k_best,
                           const PeakMemory& peak, const SolveLimits& limits) {
  return Within(tables, floor, limit, known, k_best, peak, limits).run();
}

namespace {

std::string nearest_text(const Solved& solved) {
  if (!solved.nearest) return "";
  const std::string& name = solved.nearest->strategy.name();
  return fmt::format("; the nearest of those that were tried is {}, which needs {} a device",
                     name.empty() ? "one that is cut layer by layer" : name,
                     format_bytes(solved.nearest->peak_memory));
}

}  // namespace

std::string none_found(const Case& input, const Solved& solved, std::optional<Bytes> limit) {
  const std::string who = fmt::format("{} on {}", input.graph.name(), input.cluster.name());
  const Bytes bytes = limit.value_or(capacity_of_floor(input));
  if (limit == kAnyMemory) return fmt::format("{}: no strategy could be simulated", who);
  const std::string within =
      limit ? fmt::format("within `memory_limit` {} ({})", bytes.value, format_bytes(bytes))
      : least_memory_capacity(input) < bytes
          ? std::string("within the memory that each device has")
          : fmt::format("within the memory of a device ({})", format_bytes(bytes));
  const std::string nearest = nearest_text(solved);
  if (solved.stopped) {
    return fmt::format("{}: stopped before a strategy {} was found{}", who, within, nearest);
  }
  const std::string least = format_bytes(solved.least_memory);
  // What is proved is proved of the space.
  const std::string others =
      of_tokens(input.graph)
          ? "; with stages or `recompute` full less may do, but none that was tried fits"
          : "";
  if (solved.least_memory > bytes) {
    return fmt::format("{}: no strategy {}, proved: each needs at least {} a device{}{}", who,
                       within, least, others, nearest);
  }
  const std::string proved =
      solved.least_memory > Bytes{}
          ? fmt::format("; it is proved that none needs less than {}{}", least, others)
          : "";
  return fmt::format("{}: nothing that was tried fits {}{}{}", who, within, nearest, proved);
}

}  // namespace strata
