#include "sim/profile/measured_cost.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "sim/graph/op.h"
#include "sim/text/diagnostics.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kHeader =
    "signature\tdtype\tphase\toutput\tinputs\tseconds\tspread_seconds\tcount\tsource";
constexpr std::size_t kColumns = 9;
constexpr std::int64_t kMaxRowExtent = std::int64_t{1} << 31;
constexpr double kMaxRowSeconds = 1e6;

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// An input of which a shard reads nothing (a concat's) has extents 0.
Extents read_extents(std::string_view text, std::string_view column, std::int64_t min) {
  const std::vector<std::string_view> parts = split(text, ',');
  Extents extents;
  bool good = parts.size() == kDims.size();
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    const auto extent = number<std::int64_t>(parts[i]);
    good = extent && *extent >= min && *extent <= kMaxRowExtent;
    if (good) extents.values[i] = *extent;
  }
  if (good) return extents;
  throw InputError(fmt::format("'{}' is no {}; allowed: five extents n,c,d,h,w of at least {}",
                               text, column, min));
}

std::vector<Extents> read_inputs(std::string_view text) {
  std::vector<Extents> inputs;
  for (std::string_view part : split(text, ';')) inputs.push_back(read_extents(part, "input", 0));
  return inputs;
}

Seconds read_time(std::string_view text, std::string_view column, bool positive) {
  const auto value = number<double>(text);
  if (value && *value <= kMaxRowSeconds && (positive ? *value > 0 : *value >= 0)) return {*value};
  throw InputError(
      fmt::format("'{}' is no value of {}; allowed: a {} number of seconds, at most 1e6", text,
                  column, positive ? "positive" : "non-negative"));
}

DType read_dtype(std::string_view text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  throw InputError(
      fmt::format("'{}' is no dtype; allowed: {}", text, fmt::join(kDTypeNames, ", ")));
}

// Plain SGD's update has no name but the phase's.
std::string phase_text(Phase phase, Optimizer optimizer) {
  return optimizer == Optimizer::sgd ? std::string(name(phase))
                                     : fmt::format("{}_{}", name(phase), name(optimizer));
}

struct KeyedPhase {
  Phase phase;
  Optimizer optimizer;
};

KeyedPhase read_phase(std::string_view text) {
  std::vector<std::string> allowed;
  for (int i = 0; i < kKernelPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    for (std::size_t rule = 0; rule < kOptimizerNames.size(); ++rule) {
      const auto optimizer = static_cast<Optimizer>(rule);
      if (optimizer != Optimizer::sgd && phase != Phase::update) continue;
      allowed.push_back(phase_text(phase, optimizer));
      if (allowed.back() == text) return {phase, optimizer};
    }
  }
  throw InputError(fmt::format("'{}' is no phase; allowed: {}", text, fmt::join(allowed, ", ")));
}

std::int64_t read_count(std::string_view text) {
  const auto count = number<std::int64_t>(text);
  if (count && *count >= 1) return *count;
  throw InputError(fmt::format("'{}' is no count; allowed: an integer of at least 1", text));
}

std::string read_text(std::string_view text, std::string_view column) {
  const bool control = std::any_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (control) throw InputError(fmt::format("the {} has a control character", column));
  return std::string(text);
}

// An op's name, then what else its cost depends on.
std::string read_signature(std::string_view text) {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Op& op : op_prototypes()) {
      const std::string whole = signature(op);
      names.push_back(whole.substr(0, whole.find(' ')));
    }
    return names;
  }();
  if (text.empty()) throw InputError("the signature is empty; allowed: an op's signature");
  std::string known = read_text(text, "signature");
  const std::string_view name = std::string_view(known).substr(0, known.find(' '));
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return known;
  throw InputError(fmt::format("the signature '{}' begins with no op's name; allowed: {}", known,
                               fmt::join(kNames, ", ")));
}

MeasuredCost read_row(std::string_view line) {
  const std::vector<std::string_view> columns = split(line, '\t');
  if (columns.size() != kColumns) {
    throw InputError(fmt::format("a row has {} columns separated by tabs; this one has {}",
                                 kColumns, columns.size()));
  }
  MeasuredCost cost;
  std::string signature = read_signature(columns[0]);
  const DType dtype = read_dtype(columns[1]);
  const auto [phase, optimizer] = read_phase(columns[2]);
  cost.key = {std::move(signature),    dtype,    phase, read_extents(columns[3], "output", 1),
              read_inputs(columns[4]), optimizer};
  cost.seconds = read_time(columns[5], "seconds", true);
  cost.spread = read_time(columns[6], "spread_seconds", false);
  cost.count = read_count(columns[7]);
  cost.source = read_text(columns[8], "source");
  return cost;
}

std::string print(const Extents& extents) {
  return fmt::format("{}", fmt::join(extents.values, ","));
}

std::string print(const std::vector<Extents>& inputs) {
  std::string text;
  for (const Extents& input : inputs) text.append(text.empty() ? "" : ";").append(print(input));
  return text;
}

// A tab or a line's end inside a text would shift the columns.
std::string cell(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

struct CostRow {
  MeasuredCost cost;
  int line;
};

// Sorted by key; of a key that comes twice, the second is an error.
std::vector<MeasuredCost> sorted(std::vector<CostRow> rows, const std::string& file,
                                 Diagnostics& errors) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CostRow& a, const CostRow& b) { return a.cost.key < b.cost.key; });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].cost.key != rows[i - 1].cost.key) continue;
    errors.add({file, rows[i].line}, fmt::format("the same cost stands in line {} already; each "
                                                 "is given once",
                                                 rows[i - 1].line));
  }
  std::vector<MeasuredCost> costs;
  costs.reserve(rows.size());
  for (CostRow& row : rows) costs.push_back(std::move(row.cost));
  return costs;
}

void check_header(std::string_view line, const std::string& file) {
  if (line == kHeader) return;
  fail({file, 1},
       "a table of costs starts with the names of its columns, separated by tabs: "
       "signature dtype phase output inputs seconds spread_seconds count source");
}

}  // namespace

std::vector<MeasuredCost> parse_measured_costs(std::string_view table, const std::string& file) {
  Diagnostics errors;
  std::vector<CostRow> rows;
  int number = 0;
  for (std::string_view line : split(table, '\n')) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (++number == 1) {
      check_header(line, file);
    } else if (!line.empty() && line.front() != '#') {
      try {
        rows.push_back({read_row(line), number});
      } catch (const InputError& error) {
        errors.add({file, number}, error.message());
      }
    }
  }
  std::vector<MeasuredCost> costs = sorted(std::move(rows), file, errors);
  errors.throw_if_any();
  return costs;
}

std::string print_measured_costs(const std::vector<MeasuredCost>& costs) {
  std::string text(kHeader);
  text += '\n';
  for (const MeasuredCost& cost : costs) {
    const CostKey& key = cost.key;
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", cell(key.signature), name(key.dtype),
                    phase_text(key.phase, key.optimizer), print(key.output), print(key.inputs),
                    cost.seconds.value, cost.spread.value, cost.count, cell(cost.source));
  }
  return text;
}

}  // namespace strata
