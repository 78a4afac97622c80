#include "gui/models/sweep/result_table.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "gui/models/csv.h"

namespace strata::gui {
namespace {

// What is not there stands last in both directions, equal ones in the order of the store. Of 10^5
// rows, values beside their rows are sorted several times faster than rows by values elsewhere.
void sort_rows(const ResultColumn& column, Qt::SortOrder direction,
               std::vector<std::uint32_t>& rows) {
  const double sign = direction == Qt::DescendingOrder ? -1 : 1;
  std::vector<std::pair<double, std::uint32_t>> there;
  std::vector<std::uint32_t> missing;
  there.reserve(rows.size());
  for (const std::uint32_t row : rows) {
    if (column.has(row)) there.emplace_back(sign * column.values[row], row);
    if (!column.has(row)) missing.push_back(row);
  }
  std::sort(there.begin(), there.end());
  rows.clear();
  for (const auto& [value, row] : there) rows.push_back(row);
  rows.insert(rows.end(), missing.begin(), missing.end());
}

// The first of these names whose column varies.
std::optional<std::size_t> first_that_varies(const ResultSet& results,
                                             std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const auto at = results.find(name);
    if (at && results[*at].varies()) return at;
  }
  return std::nullopt;
}

// What people look for first, from 0; of what-ifs, which have names of their own, 1.
int rank_as_x(const ResultColumn& column) {
  if (repeats(column)) return 6;
  if (column.name == "devices") return 0;
  if (column.name == "batch") return 2;  // it follows the devices
  if (column.numeric) return 1;
  return column.name == "cluster" ? 3 : column.name == "model" ? 4 : 5;
}

bool can_be_x(const ResultColumn& column) {
  return column.setting && column.varies() && column.name != "sweep" && column.name != "strategy";
}

// Of equal rank the one with the most values.
std::optional<std::size_t> usual_x(const ResultSet& results) {
  std::optional<std::size_t> x;
  const auto order = [&](std::size_t i) {
    return std::tuple(rank_as_x(results[i]), -static_cast<std::ptrdiff_t>(results[i].kinds.size()));
  };
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    if (can_be_x(results[i]) && (!x || order(i) < order(*x))) x = i;
  }
  const bool nothing_else = !x || repeats(results[*x]);
  if (const auto strategy = results.find("strategy"); strategy && nothing_else) return strategy;
  return x;
}

std::optional<std::size_t> usual_series(const ResultSet& results, std::size_t x) {
  constexpr std::array<std::string_view, 5> kCompared = {"strategy", "model", "sync", "cluster",
                                                         "dtype"};
  const auto series = first_that_varies(results, kCompared);
  if (series != x) return series;
  return first_that_varies(results, std::span(kCompared).subspan(1));
}

void drop_least(const ResultSet& results, std::size_t most, std::vector<std::size_t>& axes) {
  constexpr std::array<std::string_view, 9> kLeastFirst = {
      "jitter", "seed", "job", "sweep", "dtype", "comm_bytes", "throughput", "cluster", "sync"};
  for (const std::string_view least : kLeastFirst) {
    if (axes.size() <= most) return;
    std::erase_if(axes, [&](std::size_t axis) { return results[axis].name == least; });
  }
  axes.resize(std::min(axes.size(), most));
}

}  // namespace

ResultTable::ResultTable(Results& results, QObject* parent)
    : QAbstractTableModel(parent), results_(results), shown_(results.all()) {
  connect(&results, &Results::changed, this, &ResultTable::take_over);
  order_ = results.rows();
}

int ResultTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int ResultTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_->columns().size());
}

QVariant ResultTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ResultColumn& column = (*shown_)[static_cast<std::size_t>(index.column())];
  const std::uint32_t row = row_at(index.row());
  if (role == Qt::DisplayRole || role == Qt::ToolTipRole) {
    return QString::fromStdString(role == Qt::DisplayRole ? column.text(row) : column.exact(row));
  }
  if (role != Qt::TextAlignmentRole) return {};
  const Qt::AlignmentFlag side = column.numeric ? Qt::AlignRight : Qt::AlignLeft;
  return static_cast<int>(side | Qt::AlignVCenter);
}

QVariant ResultTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ResultColumn& column = (*shown_)[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return QString::fromStdString(plain_name(column));
  if (role == Qt::ToolTipRole) return QString::fromStdString(column.name);
  return {};
}

void ResultTable::sort(int column, Qt::SortOrder order) {
  sorted_by_.clear();
  if (column >= 0 && column < columnCount()) {
    sorted_by_ = QString::fromStdString((*shown_)[static_cast<std::size_t>(column)].name);
  }
  direction_ = order;
  emit layoutAboutToBeChanged();
  const QModelIndexList before = persistentIndexList();
  std::vector<std::uint32_t> rows;
  for (const QModelIndex& index : before) rows.push_back(row_at(index.row()));
  arrange();
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i) {
    after << index(place_of(rows[static_cast<std::size_t>(i)]).value_or(-1), before[i].column());
  }
  changePersistentIndexList(before, after);
  emit layoutChanged();
}

std::optional<int> ResultTable::place_of(std::uint32_t row) const {
  const auto at = std::find(order_.begin(), order_.end(), row);
  if (at == order_.end()) return std::nullopt;
  return static_cast<int>(at - order_.begin());
}

QString ResultTable::csv() const {
  return print_csv(*shown_, order_);
}

QString print_csv(const ResultSet& results, const std::vector<std::uint32_t>& rows) {
  if (results.columns().empty()) return {};
  std::string text;
  const auto line = [&](const auto& field) {
    for (const ResultColumn& column : results.columns()) {
      if (&column != &results.columns().front()) text += ',';
      text += csv_cell(field(column));
    }
    text += '\n';
  };
  line([](const ResultColumn& column) { return column.name; });
  for (const std::uint32_t row : rows) {
    line([&](const ResultColumn& column) { return column.exact(row); });
  }
  return QString::fromStdString(text);
}

void ResultTable::take_over() {
  beginResetModel();
  shown_ = results_.all();
  arrange();
  endResetModel();
}

void ResultTable::arrange() {
  order_ = results_.rows();
  const auto column = shown_->find(sorted_by_.toStdString());
  if (column) sort_rows((*shown_)[*column], direction_, order_);
}

bool repeats(const ResultColumn& column) {
  return column.name == "jitter" || column.name == "seed";
}

std::optional<ChartColumns> usual_columns(const ResultSet& results) {
  constexpr std::array kTimes = {"step_seconds", "measured_seconds", "eq1_seconds",
                                 "solve_seconds"};
  const auto y = std::find_if(kTimes.begin(), kTimes.end(),
                              [&](const char* name) { return results.find(name).has_value(); });
  const auto x = usual_x(results);
  if (y == kTimes.end() || !x) return std::nullopt;
  return ChartColumns{*x, *results.find(*y), usual_series(results, *x)};
}

std::vector<std::size_t> usual_axes(const ResultSet& results, std::size_t most) {
  constexpr std::array kAnswers = {"step_seconds", "throughput", "comm_bytes", "peak_memory_bytes",
                                   "measured_seconds"};
  std::vector<std::size_t> axes, last;
  for (std::size_t i = 0; i < results.columns().size(); ++i) {
    const ResultColumn& column = results[i];
    const bool answer = std::find(kAnswers.begin(), kAnswers.end(), column.name) != kAnswers.end();
    if (!column.varies() || (!column.setting && !answer)) continue;
    (repeats(column) ? last : axes).push_back(i);
  }
  axes.insert(axes.end(), last.begin(), last.end());
  drop_least(results, most, axes);
  return axes;
}

}  // namespace strata::gui
