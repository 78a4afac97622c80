#include "sim/solver/join.h"

#include <algorithm>
#include <tuple>

#include "sim/base/parallel.h"

namespace strata {
namespace {

constexpr std::size_t kBlock = 64;          // rows that one piece of work makes
constexpr double kFewOperations = 1 << 22;  // about what starting threads costs, tenfold
constexpr std::size_t kManyProducts = 64;   // that are better made side by side

// Where an entry lies whose position along the axes, the last one running fastest, is `index`.
template <class Axes>
std::size_t offset_of(std::size_t index, const Axes& axes,
                      const std::vector<std::size_t>& strides) {
  std::size_t offset = 0;
  for (std::size_t i = axes.size(); i-- > 0; index /= axes[i].size) {
    offset += index % axes[i].size * strides[i];
  }
  return offset;
}

template <class Axes>
std::size_t size_of(const Axes& axes) {
  std::size_t size = 1;
  for (const auto& axis : axes) size *= axis.size;
  return size;
}

void assign(double* out, const double* in, std::size_t stride, std::size_t count) {
  if (stride == 1) {
    std::copy_n(in, count, out);
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = in[i * stride];
  }
}

void add(double* out, const double* in, std::size_t stride, std::size_t count) {
  if (stride == 1) {
    for (std::size_t i = 0; i < count; ++i) out[i] += in[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] += in[i * stride];
  }
}

}  // namespace

double* JoinScratch::packed(std::size_t size) {
  if (size > size_) {
    packed_ = std::make_unique_for_overwrite<double[]>(size);
    size_ = size;
  }
  return packed_.get();
}

/// Which neighbours are held and which are rows if a certain one is the columns.
struct Join::Split {
  Axis column;
  std::vector<Axis> held, rows;
  bool left_as_it_is = false;  ///< its rows need not be copied

  /// Least is best: few products, whole panels, nothing copied, long panels.
  auto cost(std::size_t panel) const {
    return std::tuple(size_of(held), -static_cast<double>(std::min(column.size, panel)),
                      !left_as_it_is, -static_cast<double>(column.size), column.variable);
  }
};

Join::Join(std::uint32_t v, std::vector<Factor> factors, const std::vector<std::size_t>& choices)
    : v_(v), factors_(std::move(factors)), inner_(choices[v]) {
  std::vector<std::uint32_t> neighbours;
  for (const Factor& factor : factors_) {
    neighbours.insert(neighbours.end(), factor.scope.begin(), factor.scope.end());
  }
  std::sort(neighbours.begin(), neighbours.end());
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  std::erase(neighbours, v);
  for (std::uint32_t other : neighbours) axes_.push_back({other, choices[other]});
  lay_out();
}

Join::Split Join::split_at(std::uint32_t column) const {
  Split split;
  const auto beside_column = [&](const Axis& axis) {
    return std::any_of(factors_.begin(), factors_.end(), [&](const Factor& factor) {
      return factor.mentions(column) && factor.mentions(axis.variable);
    });
  };
  for (const Axis& axis : axes_) {
    if (axis.variable == column) {
      split.column = axis;
    } else {
      (beside_column(axis) ? split.held : split.rows).push_back(axis);
    }
  }
  const auto left = [&](const Factor& factor) {
    return std::any_of(split.rows.begin(), split.rows.end(),
                       [&](const Axis& axis) { return factor.mentions(axis.variable); });
  };
  const auto first = std::find_if(factors_.begin(), factors_.end(), left);
  split.left_as_it_is = first != factors_.end() && first->stride(v_) == 1 &&
                        std::find_if(first + 1, factors_.end(), left) == factors_.end();
  return split;
}

void Join::lay_out() {
  std::optional<Split> best;
  const std::size_t panel = min_plus_kernel().panel_width;
  for (const Axis& axis : axes_) {
    Split split = split_at(axis.variable);
    if (!best || split.cost(panel) < best->cost(panel)) best = std::move(split);
  }
  if (best) {
    column_ = best->column;
    columns_ = best->column.size;
    held_ = std::move(best->held);
    row_axes_ = std::move(best->rows);
  }
  held_size_ = size_of(held_);
  rows_ = size_of(row_axes_);
  for (const Factor& factor : factors_) add_operand(factor);
}

void Join::add_operand(const Factor& factor) {
  Operand operand{&factor, factor.stride(v_), column_ ? factor.stride(column_->variable) : 0,
                  strides(factor, held_), strides(factor, row_axes_)};
  const bool left = std::any_of(operand.rows.begin(), operand.rows.end(),
                                [](std::size_t stride) { return stride > 0; });
  (left ? left_ : right_).push_back(std::move(operand));
}

std::vector<std::size_t> Join::strides(const Factor& factor, const std::vector<Axis>& axes) const {
  std::vector<std::size_t> strides;
  strides.reserve(axes.size());
  for (const Axis& axis : axes) strides.push_back(factor.stride(axis.variable));
  return strides;
}

double Join::operations() const {
  double operations = static_cast<double>(inner_);
  for (const Axis& axis : axes_) operations *= static_cast<double>(axis.size);
  return operations;
}

std::vector<std::uint64_t> Join::key() const {
  std::vector<std::uint64_t> key{inner_};
  for (const Axis& axis : axes_) key.push_back(axis.size);
  std::vector<std::vector<std::uint64_t>> operands;
  for (const Factor& factor : factors_) {
    operands.push_back({factor.id, factor.stride(v_)});
    for (std::size_t stride : strides(factor, axes_)) operands.back().push_back(stride);
  }
  std::sort(operands.begin(), operands.end());
  key.insert(key.begin(), axes_.size());
  for (const auto& operand : operands) key.insert(key.end(), operand.begin(), operand.end());
  return key;
}

// Held axes, then rows, then the column, which runs fastest.
Factor Join::shape() const {
  Factor shape;
  for (const Axis& axis : axes_) shape.scope.push_back(axis.variable);
  shape.strides.resize(axes_.size());
  std::size_t stride = 1;
  const auto lay = [&](const Axis& axis) {
    const auto at = std::find(shape.scope.begin(), shape.scope.end(), axis.variable);
    shape.strides[static_cast<std::size_t>(at - shape.scope.begin())] = stride;
    stride *= axis.size;
  };
  if (column_) lay(*column_);
  std::for_each(row_axes_.rbegin(), row_axes_.rend(), lay);
  std::for_each(held_.rbegin(), held_.rend(), lay);
  return shape;
}

std::shared_ptr<const double[]> Join::make(unsigned threads, const Stop& stop,
                                           JoinScratch& scratch) const {
  auto out = std::make_shared_for_overwrite<double[]>(result_entries());
  if (operations() < kFewOperations) threads = 1;
  if (threads != 1 && held_size_ >= kManyProducts) {
    make_side_by_side(threads, stop, out.get());
  } else {
    make_one_by_one(threads, stop, scratch, out.get());
  }
  return out;
}

// One product after the other, each by all threads.
void Join::make_one_by_one(unsigned threads, const Stop& stop, JoinScratch& scratch,
                           double* out) const {
  const Panels panels(min_plus_kernel(), inner_, columns_);
  double* packed = scratch.packed(panels.size());
  const std::size_t blocks = (rows_ + kBlock - 1) / kBlock;
  for (std::size_t held = 0; held < held_size_; ++held) {
    parallel_for(panels.count(), threads, [&](std::size_t panel, unsigned) {
      stop.check();
      pack(held, panel, panels, packed);
    });
    parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
      stop.check();
      multiply(held, block * kBlock, std::min(rows_, (block + 1) * kBlock), packed, out);
    });
  }
}

// Each product by one thread.
void Join::make_side_by_side(unsigned threads, const Stop& stop, double* out) const {
  const Panels panels(min_plus_kernel(), inner_, columns_);
  std::vector<JoinScratch> scratch(threads ? threads : core_count());
  parallel_for(held_size_, threads, [&](std::size_t held, unsigned worker) {
    double* packed = scratch[worker].packed(panels.size());
    for (std::size_t panel = 0; panel < panels.count(); ++panel) pack(held, panel, panels, packed);
    for (std::size_t first = 0; first < rows_; first += kBlock) {
      stop.check();
      multiply(held, first, std::min(rows_, first + kBlock), packed, out);
    }
  });
}

// A panel of the right matrix: the sum of its operands.
void Join::pack(std::size_t held, std::size_t panel, const Panels& panels, double* packed) const {
  const std::size_t width = panels.width(panel), columns = panels.columns(panel);
  double* const begin = packed + panels.offset(panel);
  for (std::size_t v = 0; v < inner_; ++v) {
    std::fill(begin + v * width, begin + v * width + columns, 0.0);
    std::fill(begin + v * width + columns, begin + (v + 1) * width, kInfinity);
  }
  for (const Operand& operand : right_) {
    const double* entries = operand.factor->entries.get() + offset_of(held, held_, operand.held) +
                            panels.first_column(panel) * operand.column;
    for (std::size_t v = 0; v < inner_; ++v) {
      add(begin + v * width, entries + v * operand.inner, operand.column, columns);
    }
  }
}

void Join::multiply(std::size_t held, std::size_t first, std::size_t last, const double* packed,
                    double* out) const {
  const bool as_it_is = left_.size() == 1 && left_.front().inner == 1;
  const std::size_t stride = inner_ + 8;  // rows a power of two apart would share their cache sets
  std::vector<double> sums(as_it_is ? 0 : (last - first) * stride);
  std::vector<const double*> rows;
  for (std::size_t row = first; row < last; ++row) {
    rows.push_back(left_row(held, row, as_it_is ? nullptr : &sums[(row - first) * stride]));
  }
  min_plus_kernel().multiply(rows.data(), rows.size(), packed, inner_, columns_,
                             out + (held * rows_ + first) * columns_);
}

// A row of the left matrix: the one operand's own, or the sum in `sums`, which holds zeros.
const double* Join::left_row(std::size_t held, std::size_t row, double* sums) const {
  const auto begin = [&](const Operand& operand) {
    return operand.factor->entries.get() + offset_of(held, held_, operand.held) +
           offset_of(row, row_axes_, operand.rows);
  };
  if (!sums) return begin(left_.front());
  for (const Operand& operand : left_) {
    (&operand == &left_.front() ? assign : add)(sums, begin(operand), operand.inner, inner_);
  }
  return sums;
}

}  // namespace strata
