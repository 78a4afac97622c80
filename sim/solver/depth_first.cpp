#include "sim/solver/depth_first.h"

#include <algorithm>

#include "sim/solver/stop.h"

namespace strata {
namespace {

/// An edge to an earlier variable.
struct Back {
  std::uint32_t other = 0;
  const CostTable* table = nullptr;
  bool is_row = false;  ///< the earlier variable's choices are the rows
};

class DepthFirst {
 public:
  DepthFirst(const CostTables& tables, const SolveLimits& limits)
      : tables_(tables),
        limits_(limits),
        stop_(limits),
        back_(tables.variables.size()),
        choices_(tables.variables.size(), 0) {
    for (const CostTables::Edge& edge : tables.edges) {
      back_[std::max(edge.from, edge.to)].push_back(
          {std::min(edge.from, edge.to), edge.table.get(), edge.from < edge.to});
    }
  }

  Solution search() {
    visit(0, 0);
    best_.lower_bound = stopped_ ? sum_of_least() : best_.seconds;
    return best_;
  }

 private:
  void visit(std::uint32_t v, double seconds) {
    if (v == choices_.size()) {
      best_.choices = choices_;
      best_.seconds = seconds;
      return;
    }
    const auto count = static_cast<std::uint32_t>(tables_.variables[v]->size());
    for (std::uint32_t x = 0; x < count && !stops(); ++x) {
      choices_[v] = x;
      const double with = seconds + added(v, x);
      if (with < best_.seconds) visit(v + 1, with);
    }
  }

  double added(std::uint32_t v, std::uint32_t x) const {
    double seconds = (*tables_.variables[v])[x];
    for (const Back& back : back_[v]) {
      const std::uint32_t other = choices_[back.other];
      seconds += back.is_row ? back.table->at(other, x) : back.table->at(x, other);
    }
    return seconds;
  }

  // The clock is looked at once in a while.
  bool stops() {
    if (++nodes_ % kNodes == 0 && !stopped_) {
      stopped_ = stop_.reached();
      if (limits_.progress) {
        limits_.progress({.stage = "depth-first search", .done = -1, .best = best_.seconds});
      }
    }
    return stopped_;
  }

  double sum_of_least() const {
    double sum = 0;
    const auto least = [](const std::vector<double>& entries) {
      return *std::min_element(entries.begin(), entries.end());
    };
    for (const auto& variable : tables_.variables) sum += least(*variable);
    for (const CostTables::Edge& edge : tables_.edges) sum += least(edge.table->seconds);
    return sum;
  }

  static constexpr std::uint64_t kNodes = 1 << 14;

  const CostTables& tables_;
  const SolveLimits& limits_;
  const Stop stop_;
  std::vector<std::vector<Back>> back_;
  Choices choices_;
  Solution best_;
  std::uint64_t nodes_ = 0;
  bool stopped_ = false;
};

}  // namespace

Solution depth_first(const CostTables& tables, const SolveLimits& limits) {
  return DepthFirst(tables, limits).search();
}

}  // namespace strata
