#pragma once

// The measured rows of a profile, ready to be asked: the row of a shape, or an estimate between
// the rows of nearby shapes. Immutable; thread-safe.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/profile/measured_cost.h"

namespace strata {

class MeasuredCosts {
 public:
  /// A neighbour's extents differ from the asked shape's by at most this factor, each.
  static constexpr double kNear = 4;
  /// A single neighbour stands for shapes of at most this factor more or less work.
  static constexpr double kReach = 2;

  explicit MeasuredCosts(const std::vector<MeasuredCost>& rows);

  /// The row of this very shape; else, of rows that differ in extents alone and are near, the
  /// nearest one of no more work and the nearest one of no less: log time linear in log work
  /// between them, and the spread. With one of the two only, its time in proportion to the work,
  /// within kReach. Else nothing. Near is the sum over dims of |log ratio|; ties go to the earlier
  /// row.
  std::optional<Cost> operator()(const ShardWork& work, Phase phase) const;

 private:
  struct Row {
    std::vector<double> extents;  ///< logarithms: output, then each input
    double log_work;
    double seconds;
    double spread;  ///< of the seconds
  };
  /// Rows of one signature, dtype, phase, number of inputs and optimizer.
  struct Group {
    std::map<std::vector<Extents>, std::size_t> exact;  ///< output, inputs: position in rows
    std::vector<Row> rows;
  };
  struct Name {
    std::string signature;
    DType dtype;
    Phase phase;
    std::size_t inputs;
    Optimizer optimizer;
    auto operator<=>(const Name&) const = default;
  };

  static std::optional<Cost> between(const Group& group, const Row& asked);

  std::map<Name, Group> groups_;
};

}  // namespace strata
