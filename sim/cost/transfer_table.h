#pragma once

// The table of t_X for one edge: the seconds for every pair of choices of its two ends. The same
// times as Eq1::transfer, which takes one pair and any devices; here the volumes of all devices
// come as products over axes (edge_axes.h), group by group (group_network.h).

#include <cstdint>
#include <vector>

#include "sim/base/aligned.h"
#include "sim/cost/axis_sides.h"
#include "sim/cost/group_network.h"
#include "sim/cost/transfer_kernel.h"

namespace strata {

class TransferTable {
 public:
  /// `groups`: those that are looked at; of fewer than all, the times are lower bounds. `span`:
  /// devices that count as one device of the network (between_groups); then degrees, strides and
  /// the span must be powers of two. `returns`: gradients go back. All must outlive this.
  TransferTable(const GroupNetwork& network, const std::vector<std::uint32_t>& groups,
                std::size_t span, const Graph& graph, LayerId consumer, std::size_t input,
                const Cuts& producer_cuts, const Cuts& consumer_cuts, double element_bytes,
                bool returns);

  /// Working memory of one thread.
  struct Scratch {
    AlignedVector<double> factors, products, needed, rows, ones;
    AlignedVector<double> largest;
    std::vector<std::uint32_t> filled;  ///< by axis: the consumer key that its factors are for
    AlignedVector<double> begin, end;   ///< what the columns of a batch need, a lane each
  };

  /// Columns are filled in an order of the table's own, in which neighbours share most work: those
  /// numbered [begin, end) of it, where they are more than what stands in `seconds` (producer
  /// choices x consumer choices, row-major). Tables for one edge must agree in their choices.
  void fill(std::size_t begin, std::size_t end, Scratch& scratch, double* seconds) const;
  std::size_t columns() const { return column_order_.size(); }

 private:
  // A producer's choice, and the first axis whose key differs from the choice before.
  struct Step {
    std::uint32_t choice;
    std::uint32_t level;
  };

  static double overlap(const std::vector<Interval>& needs, const Interval& owned,
                        const Interval& parts);
  void order_choices();
  void write_program();
  void choose_width();
  void fill_needed(std::uint32_t column, std::size_t first, std::size_t width,
                   AlignedVector<double>& needed) const;
  void fill_factors(const AxisSides& data, std::uint32_t consumer_key, std::size_t first,
                    std::size_t width, double* out) const;
  void fill_plain(const AxisSides& data, std::size_t key, std::uint32_t consumer_key,
                  std::size_t first, std::size_t width, double* out) const;
  void fill_joint(const AxisSides& data, std::size_t key, std::uint32_t consumer_key,
                  std::size_t first, std::size_t width, double* out) const;
  void fill_column(std::size_t first, std::size_t width, Scratch& scratch, double* largest) const;
  void prepare(Scratch& scratch) const;
  void fill_batches(std::size_t begin, std::size_t end, Scratch& scratch, double* seconds) const;
  void fill_batch_factors(const AxisSides& data, const std::uint32_t* columns,
                          Scratch& scratch) const;
  const double* product(const Step& step, std::size_t width, Scratch& scratch) const;
  const double* factors(std::size_t level, std::uint32_t choice, const Scratch& scratch) const;
  double seconds_of(const double* largest, std::size_t stride) const;

  const GroupNetwork& network_;
  const std::vector<std::uint32_t>& groups_;
  const TransferKernel& kernel_;
  const Cuts& producer_cuts_;
  const Cuts& consumer_cuts_;
  bool returns_;
  double scale_;  ///< bytes per element of the axes' volume
  std::size_t size_, span_;
  LaneLayout layout_;
  std::size_t padded_, rows_, width_ = LaneLayout::kLanes;
  std::vector<AxisSides> axes_;
  std::size_t keys_ = 0;  ///< of the producer, over all axes
  std::vector<Step> steps_;
  std::vector<std::uint32_t> column_order_;
  MaximaProgram program_;
  std::vector<AlignedVector<double>> divisors_;
};

}  // namespace strata
