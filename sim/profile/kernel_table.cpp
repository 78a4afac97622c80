#include "sim/profile/kernel_table.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "sim/text/diagnostics.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kTime = "ms";
constexpr double kMostMilliseconds = 1e9;
constexpr std::int64_t kMostInShape = std::int64_t{1} << 40;

constexpr KernelColumn kProductColumns[] = {{"batch", 1, 1}, {"m", 1}, {"n", 1}, {"k", 1}};
constexpr KernelColumn kAttentionColumns[] = {
    {"batch", 1}, {"seq", 1}, {"heads", 1}, {"kv_heads", 1}, {"head_dim", 1}};
constexpr KernelColumn kTrainingColumns[] = {{"batch", 1},    {"seq", 1},      {"heads", 1},
                                             {"kv_heads", 1}, {"head_dim", 1}, {"causal", 0}};
constexpr KernelColumn kConvolutionColumns[] = {
    {"batch", 1}, {"in_channels", 1}, {"out_channels", 1}, {"kernel", 1},
    {"size", 1},  {"stride", 1},      {"padding", 0}};
constexpr KernelColumn kElementwiseColumns[] = {{"tensors", 1}, {"elements", 1}};

// Times in seconds, rates in operations and bytes a second, extents in elements.
constexpr KernelParameter kProductParameters[] = {
    {"launch", 0, 1},      {"rate", 1e6, 1e18},    {"bandwidth", 1e6, 1e18},
    {"half_tile", 0, 1e6}, {"half_depth", 0, 1e6}, {"reduction_bandwidth", 1e6, 1e18},
    {"even_waves", 0, 1},  {"cores", 1, 1e6}};
constexpr KernelParameter kAttentionParameters[] = {
    {"launch", 0, 1},     {"rate", 1e6, 1e18}, {"bandwidth", 1e6, 1e18}, {"block", 0, 1},
    {"diagonal", 0, 1e3}, {"longest", 0, 1e3}, {"cores", 1, 1e6}};
constexpr KernelParameter kTrainingParameters[] = {{"launch", 0, 1}, {"rate", 1e6, 1e18}};
constexpr KernelParameter kConvolutionParameters[] = {{"launch", 0, 1},
                                                      {"implicit_rate", 1e6, 1e18},
                                                      {"winograd4_rate", 1e6, 1e18},
                                                      {"winograd2_rate", 1e6, 1e18},
                                                      {"bandwidth", 1e6, 1e18},
                                                      {"half_tile", 0, 1e6},
                                                      {"half_depth", 0, 1e6},
                                                      {"filter_passes", 0, 1e3},
                                                      {"winograd2_blocks", 0.01, 64},
                                                      {"blocks", 0.01, 64},
                                                      {"even_waves", 0, 1},
                                                      {"cores", 1, 1e6}};
constexpr KernelParameter kElementwiseParameters[] = {{"launch", 0, 1}, {"bandwidth", 1e6, 1e18}};

constexpr KernelFacts kFacts[kKernels] = {
    {"product", "matrix products", kProductColumns, kProductParameters},
    {"attention", "fused causal attention, forward", kAttentionColumns, kAttentionParameters},
    {"attention_training", "fused attention, forward and backward", kTrainingColumns,
     kTrainingParameters},
    {"convolution", "convolutions, forward", kConvolutionColumns, kConvolutionParameters},
    {"elementwise", "passes over memory", kElementwiseColumns, kElementwiseParameters}};

template <class T>
std::optional<T> cell_value(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view without_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Editors and spreadsheets put a mark of UTF-8 before the first name, and blanks around names.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells = split(without_return(line), ',');
  for (std::string_view& cell : cells) {
    const std::size_t begin = std::min(cell.find_first_not_of(" \t"), cell.size());
    cell = cell.substr(begin, cell.find_last_not_of(" \t") + 1 - begin);
  }
  return cells;
}

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::size_t place_of(const std::vector<std::string_view>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? kNowhere : static_cast<std::size_t>(at - names.begin());
}

// Where the columns of a file are.
struct Places {
  std::size_t columns = 0, time = 0;
  std::array<std::size_t, kMaxKernelColumns> of{};
};

std::optional<Places> places_in(KernelKind kernel, const std::vector<std::string_view>& names) {
  Places places{names.size(), place_of(names, kTime), {}};
  if (places.time == kNowhere) return std::nullopt;
  const auto columns = facts(kernel).columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    places.of[i] = place_of(names, columns[i].name);
    if (places.of[i] == kNowhere && !columns[i].absent) return std::nullopt;
  }
  return places;
}

KernelRow read_row(KernelKind kernel, const Places& places, std::string_view line) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != places.columns) {
    throw InputError(fmt::format("the first line names {} columns; this row has {}", places.columns,
                                 cells.size()));
  }
  KernelRow row;
  const auto columns = facts(kernel).columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const KernelColumn& column = columns[i];
    if (places.of[i] == kNowhere) {
      row.shape[i] = column.absent.value_or(0);
      continue;
    }
    const auto value = cell_value<std::int64_t>(cells[places.of[i]]);
    if (!value || *value < column.least || *value > kMostInShape) {
      throw InputError(fmt::format("'{}' is no value of {}; allowed: an integer of at least {}",
                                   cells[places.of[i]], column.name, column.least));
    }
    row.shape[i] = *value;
  }
  const auto ms = cell_value<double>(cells[places.time]);
  if (!ms || !(*ms > 0) || *ms > kMostMilliseconds) {
    throw InputError(
        fmt::format("'{}' is no value of ms; allowed: a positive number of "
                    "milliseconds, at most 1e9",
                    cells[places.time]));
  }
  row.ms = *ms;
  return row;
}

std::string names_of(KernelKind kernel) {
  std::string names;
  for (const KernelColumn& column : facts(kernel).columns) {
    if (!column.absent) names += std::string(column.name) + ",";
  }
  return names + std::string(kTime);
}

// A column that a file may lack is left out where no row needs it.
std::vector<std::size_t> printed_columns(KernelKind kernel, const std::vector<KernelRow>& rows) {
  const auto columns = facts(kernel).columns;
  std::vector<std::size_t> printed;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool needed =
        !columns[i].absent || std::any_of(rows.begin(), rows.end(), [&](const KernelRow& row) {
          return row.shape[i] != *columns[i].absent;
        });
    if (needed) printed.push_back(i);
  }
  return printed;
}

}  // namespace

const KernelFacts& facts(KernelKind kernel) {
  return kFacts[static_cast<std::size_t>(kernel)];
}

std::string_view name(KernelKind kernel) {
  return facts(kernel).name;
}

std::optional<KernelKind> find_kernel(std::string_view name) {
  for (std::size_t i = 0; i < kKernels; ++i) {
    if (kFacts[i].name == name) return static_cast<KernelKind>(i);
  }
  return std::nullopt;
}

// Of two kernels whose columns are all there, the one with more of them.
std::optional<KernelKind> kernel_of_header(std::string_view text) {
  text = without_mark(text);
  while (text.starts_with('#')) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  const auto names = cells_of(text.substr(0, text.find('\n')));
  std::optional<KernelKind> best;
  std::size_t most = 0;
  for (std::size_t i = 0; i < kKernels; ++i) {
    const auto kernel = static_cast<KernelKind>(i);
    const std::size_t columns = facts(kernel).columns.size();
    if (columns > most && places_in(kernel, names)) best = kernel, most = columns;
  }
  return best;
}

std::vector<KernelRow> parse_kernel_rows(KernelKind kernel, std::string_view text,
                                         const std::string& file) {
  Diagnostics errors;
  std::vector<KernelRow> rows;
  std::optional<Places> places;
  int line_number = 0;
  for (std::string_view line : split(without_mark(text), '\n')) {
    line = without_return(line);
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    if (!places) {
      places = places_in(kernel, cells_of(line));
      if (!places) {
        fail({file, line_number},
             fmt::format("the first line of a table of {} names the columns {}",
                         facts(kernel).summary, names_of(kernel)));
      }
      continue;
    }
    try {
      rows.push_back(read_row(kernel, *places, line));
    } catch (const InputError& error) {
      errors.add({file, line_number}, error.message());
    }
  }
  if (!places) fail({file, 1}, "the file is empty; a table starts with the names of its columns");
  errors.throw_if_any();
  return rows;
}

std::vector<KernelRow> sorted_rows(std::vector<KernelRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.shape != b.shape ? a.shape < b.shape : a.ms < b.ms;
  });
  std::vector<KernelRow> each;
  each.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end].shape == rows[i].shape) ++end;
    each.push_back(rows[i + (end - i - 1) / 2]);
    i = end;
  }
  return each;
}

std::string print_kernel_rows(KernelKind kernel, const std::vector<KernelRow>& rows) {
  const std::vector<std::size_t> columns = printed_columns(kernel, rows);
  std::string text;
  const auto out = std::back_inserter(text);
  for (std::size_t i : columns) fmt::format_to(out, "{},", facts(kernel).columns[i].name);
  fmt::format_to(out, "{}\n", kTime);
  for (const KernelRow& row : rows) {
    for (std::size_t i : columns) fmt::format_to(out, "{},", row.shape[i]);
    fmt::format_to(out, "{}\n", row.ms);
  }
  return text;
}

}  // namespace strata
