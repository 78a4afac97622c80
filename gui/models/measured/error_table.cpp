#include "gui/models/measured/error_table.h"

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

QString signed_text(const QString& text, double value) {
  return value > 0 ? QLatin1Char('+') + text : text;
}

}  // namespace

// A row is called as each of its tasks is: all are called the same.
void ErrorTable::set_measured(MeasuredPtr measured) {
  beginResetModel();
  measured_ = std::move(measured);
  row_of_.clear();
  titles_.assign(static_cast<std::size_t>(rowCount()), QString());
  std::map<RowKey, int> rows;
  for (int i = 0; i < rowCount(); ++i) rows[{row(i).layer, row(i).kind, row(i).phase}] = i;
  for (std::size_t i = 0; measured_ && i < measured_->plan.size(); ++i) {
    const Task& task = measured_->plan[TaskId(i)];
    const auto found = rows.find({task.layer, task.kind, task.phase});
    row_of_.push_back(found == rows.end() ? -1 : found->second);
    if (row_of_.back() < 0) continue;
    QString& title = titles_[static_cast<std::size_t>(row_of_.back())];
    if (title.isEmpty()) {
      title = QString::fromStdString(task_title(measured_->graph, measured_->plan, task));
    }
  }
  endResetModel();
}

int ErrorTable::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !measured_) return 0;
  return static_cast<int>(measured_->comparison.rows.size());
}

int ErrorTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

const ErrorRow& ErrorTable::row(int index) const {
  return measured_->comparison.rows[static_cast<std::size_t>(index)];
}

std::optional<int> ErrorTable::row_of(TaskId task) const {
  const int row = row_of_[task()];
  return row < 0 ? std::nullopt : std::optional(row);
}

TaskId ErrorTable::worst_task(int index) const {
  TaskId worst;
  const auto error = [&](TaskId id) {
    return std::abs(measured_->comparison.tasks[id()].duration_difference().value);
  };
  for (std::size_t i = 0; i < row_of_.size(); ++i) {
    if (row_of_[i] != index) continue;
    if (!worst.valid() || error(TaskId(i)) > error(worst)) worst = TaskId(i);
  }
  return worst;
}

QVariant ErrorTable::number(int index, int column) const {
  const ErrorRow& row = this->row(index);
  switch (column) {
    case kCount:
      return static_cast<qulonglong>(row.tasks);
    case kPredicted:
      return row.predicted.duration.value;
    case kMeasured:
      return row.measured.duration.value;
    case kDifference:
      return row.difference().value;
    case kError:
      return relative_error(row.predicted.duration, row.measured.duration);
    case kShare:
      return row.share;
    case kWaiting:
      return (row.measured.queueing - row.predicted.queueing).value;
    default:
      return titles_[static_cast<std::size_t>(index)];
  }
}

QString ErrorTable::text(int row, int column) const {
  const QVariant value = number(row, column);
  if (column == kTask || column == kCount) return value.toString();
  if (column == kShare) return human_share(value.toDouble());
  if (column == kError) return signed_text(human_share(value.toDouble()), value.toDouble());
  const QString time = human_seconds({value.toDouble()});
  const bool is_difference = column == kDifference || column == kWaiting;
  return is_difference ? signed_text(time, value.toDouble()) : time;
}

QVariant ErrorTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !measured_) return {};
  if (role == Qt::DisplayRole) return text(index.row(), index.column());
  if (role == Qt::UserRole) return number(index.row(), index.column());
  if (role == Qt::TextAlignmentRole && index.column() != kTask) {
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  }
  return {};
}

QVariant ErrorTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kColumns) return {};
  static const char* const kNames[kColumns] = {"Tasks of a step", "Error",           "Predicted",
                                               "Measured",        "Share of errors", "Difference",
                                               "Waits longer",    "Number"};
  static const char* const kTips[kColumns] = {
      "A layer's tasks that do the same, on all devices",
      "(predicted - measured) / measured: negative where it took longer than predicted",
      "Their durations, predicted, all together",
      "Their durations, measured, all together",
      "Of all tasks' errors in duration, whatever their sign",
      "Measured less predicted",
      "How much longer they waited for their device or their peers than predicted",
      "How many"};
  if (role == Qt::DisplayRole) return tr(kNames[section]);
  if (role == Qt::ToolTipRole) return tr(kTips[section]);
  return {};
}

std::string ErrorTable::csv() const {
  std::string text =
      "tasks,relative_error,predicted_seconds,measured_seconds,share_of_errors,"
      "difference_seconds,queueing_difference_seconds,number\n";
  for (int i = 0; i < rowCount(); ++i) {
    text += csv_cell(titles_[static_cast<std::size_t>(i)].toStdString());
    for (int column = kTask + 1; column < kColumns; ++column) {
      fmt::format_to(std::back_inserter(text), ",{}", number(i, column).toDouble());
    }
    text += "\n";
  }
  return text;
}

}  // namespace strata::gui
