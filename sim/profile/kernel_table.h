#pragma once

// Measured times of kernels by their shapes: what a library takes for a matrix product, an
// attention, a convolution or a pass over memory, whatever layer asks for it (docs/profiles.md,
// "Kernel tables"). Rows are text of comma-separated columns beside the profile. Values;
// thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/graph/ops/phase.h"

namespace strata {

enum class KernelKind : std::uint8_t {
  product,             ///< y[m,n] = x[m,k] w[k,n], `batch` of them
  attention,           ///< fused, causal, forward; as many queries as keys
  attention_training,  ///< fused, forward and backward together
  convolution,         ///< 2-D, square, one group, forward
  elementwise          ///< a pass that reads or writes each element of `tensors` tensors once
};
inline constexpr std::size_t kKernels = 5;
inline constexpr std::size_t kMaxKernelColumns = 7;

/// The numbers that a row names, in the order of the kernel's columns; 0 beyond them.
using KernelShape = std::array<std::int64_t, kMaxKernelColumns>;

/// A column of a kernel's rows.
struct KernelColumn {
  std::string_view name;
  std::int64_t least;
  /// What a file without the column means; nothing where each file has it.
  std::optional<std::int64_t> absent = std::nullopt;
};

/// A number of a kernel's model, which is fitted to its rows.
struct KernelParameter {
  std::string_view name;
  double least, most;
};

/// What a kernel is: the one table of their names.
struct KernelFacts {
  std::string_view name;
  std::string_view summary;
  std::span<const KernelColumn> columns;
  std::span<const KernelParameter> parameters;
};
const KernelFacts& facts(KernelKind kernel);
std::string_view name(KernelKind kernel);
std::optional<KernelKind> find_kernel(std::string_view name);

struct KernelRow {
  KernelShape shape{};
  double ms = 0;  ///< as the file says it, so that it is written as it was read

  Seconds seconds() const { return {ms * 1e-3}; }

  bool operator==(const KernelRow&) const = default;
};

/// Invariant: parameters as facts(kernel) has them; rows sorted by shape, each shape once.
struct KernelTable {
  KernelKind kernel = KernelKind::product;
  DType dtype = DType::fp32;
  std::string source;   ///< who measured, with what, where the figures were published
  std::string licence;  ///< of the figures
  std::string date;     ///< ISO, of the import
  std::string note;     ///< how rows were chosen and corrected
  std::vector<double> parameters;
  std::string file;  ///< of the rows, beside the profile
  std::vector<KernelRow> rows;

  bool operator==(const KernelTable&) const = default;
};

/// Rows of the kernel in the order of the text: a first line of column names (in any order; what
/// the kernel has no column for is skipped), then rows; times are in a column `ms`. Lines that
/// start with # are comments. Throws InputError "FILE:LINE: ...", a line for each bad row.
std::vector<KernelRow> parse_kernel_rows(KernelKind kernel, std::string_view text,
                                         const std::string& file);

/// The kernel whose columns the first line of the text names, comments left out; nothing where none
/// has all of its columns there.
std::optional<KernelKind> kernel_of_header(std::string_view text);

/// Sorted by shape; of a shape measured more than once, the median. Columns and times are printed
/// so that parse_kernel_rows reads them back equal to the bit.
std::vector<KernelRow> sorted_rows(std::vector<KernelRow> rows);
std::string print_kernel_rows(KernelKind kernel, const std::vector<KernelRow>& rows);

}  // namespace strata
