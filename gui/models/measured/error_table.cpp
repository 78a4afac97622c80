#include "gui/models/measured/error_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "gui/models/csv.h"
#include "gui/models/measured/error_recording.h"
#include "gui/models/text.h"
#include "sim/formats/task_title.h"

namespace strata::gui {
namespace {

using RowKey = std::tuple<LayerId, TaskKind, Phase>;

constexpr std::array<TableHeading, ErrorTable::kColumns> kErrorHeadings = {{
    {"Tasks of a step", "A layer's tasks that do the same, on all devices", "tasks"},
    {"Error", "(predicted - measured) / measured: negative where they took longer than predicted",
     "relative_error", true},
    {"Predicted", "Their durations, predicted, all together", "predicted_seconds", true},
    {"Measured", "Their durations, measured, all together", "measured_seconds", true},
    {"Share of errors", "Of all tasks' errors in duration, whatever their sign", "share_of_errors",
     true},
    {"Difference", "Predicted less measured: negative where they took longer than predicted",
     "difference_seconds", true},
    {"Waiting",
     "How long they wait for their device or their peers, predicted less measured: negative where "
     "they waited longer than predicted",
     "queueing_difference_seconds", true},
    {"Number", "How many", "number", true},
}};

QString signed_text(const QString& text, double value) {
  return value > 0 ? QLatin1Char('+') + text : text;
}

double number_of(const ErrorRow& row, int column) {
  switch (column) {
    case ErrorTable::kPredicted:
      return row.predicted.duration.value;
    case ErrorTable::kMeasured:
      return row.measured.duration.value;
    case ErrorTable::kDifference:
      return row.difference().value;
    case ErrorTable::kError:
      return relative_error(row.predicted.duration, row.measured.duration);
    case ErrorTable::kShare:
      return row.share;
    case ErrorTable::kWaiting:
      return row.queueing_difference().value;
    default:
      return static_cast<double>(row.tasks);
  }
}

}  // namespace

// All tasks of a row are called the same.
std::vector<ExplainedError> explained_errors(const Measured& measured) {
  std::vector<ExplainedError> rows;
  std::map<RowKey, std::size_t> places;
  for (const ErrorRow& row : measured.comparison.rows) {
    places[{row.layer, row.kind, row.phase}] = rows.size();
    rows.push_back({row, {}, {}});
  }
  const auto error = [&](TaskId id) {
    return std::abs(measured.comparison.tasks[id()].duration_difference().value);
  };
  for (std::size_t i = 0; i < measured.plan.size(); ++i) {
    const Task& task = measured.plan[TaskId(i)];
    const auto found = places.find({task.layer, task.kind, task.phase});
    if (found == places.end()) continue;
    ExplainedError& row = rows[found->second];
    if (row.title.isEmpty()) {
      row.title = QString::fromStdString(task_title(measured.graph, measured.plan, task));
    }
    if (!row.worst.valid() || error(TaskId(i)) > error(row.worst)) row.worst = TaskId(i);
  }
  return rows;
}

ErrorTable::ErrorTable(QObject* parent) : SortableTable(kErrorHeadings, parent) {}

void ErrorTable::show(MeasuredPtr measured, std::vector<ExplainedError> rows) {
  beginResetModel();
  measured_ = std::move(measured);
  rows_ = std::move(rows);
  endResetModel();
}

int ErrorTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

std::optional<int> ErrorTable::row_of(TaskId id) const {
  const Task& task = measured_->plan[id];
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const ExplainedError& error) {
    const ErrorRow& row = error.row;
    return row.layer == task.layer && row.kind == task.kind && row.phase == task.phase;
  });
  if (found == rows_.end()) return std::nullopt;
  return static_cast<int>(found - rows_.begin());
}

QString ErrorTable::text(const ExplainedError& error, int column) {
  if (column == kTask) return error.title;
  const double value = number_of(error.row, column);
  if (column == kCount) return QString::number(error.row.tasks);
  if (column == kShare) return human_share(value);
  if (column == kError) return signed_text(human_share(value), value);
  const QString time = human_seconds({value});
  const bool is_difference = column == kDifference || column == kWaiting;
  return is_difference ? signed_text(time, value) : time;
}

QVariant ErrorTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ExplainedError& error = at(index.row());
  if (role == Qt::DisplayRole) return text(error, index.column());
  if (role == Qt::UserRole && index.column() != kTask) return number_of(error.row, index.column());
  return HeadedTable::data(index, role);
}

void ErrorTable::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= kColumns) return;
  const auto before = [&](const ExplainedError& a, const ExplainedError& b) {
    if (column == kTask) return a.title < b.title;
    return number_of(a.row, column) < number_of(b.row, column);
  };
  sort_rows(rows_, [&](const ExplainedError& a, const ExplainedError& b) {
    return order == Qt::AscendingOrder ? before(a, b) : before(b, a);
  });
}

std::string ErrorTable::csv() const {
  std::string text = csv_head().toStdString();
  for (int i = 0; i < rowCount(); ++i) {
    text += csv_cell(at(i).title.toStdString());
    for (int column = kTask + 1; column < kColumns; ++column) {
      fmt::format_to(std::back_inserter(text), ",{}", number_of(row(i), column));
    }
    text += "\n";
  }
  return text;
}

}  // namespace strata::gui
