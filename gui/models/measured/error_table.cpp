#include "gui/models/measured/error_table.h"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "gui/models/measured/error_recording.h"
#include "gui/models/text.h"
#include "sim/formats/task_title.h"

namespace strata::gui {
namespace {

bool belongs(const Task& task, const ErrorRow& row) {
  return task.layer == row.layer && task.kind == row.kind && task.phase == row.phase;
}

QString signed_text(const QString& text, double value) {
  return value > 0 ? QLatin1Char('+') + text : text;
}

}  // namespace

void ErrorTable::set_measured(MeasuredPtr measured) {
  beginResetModel();
  measured_ = std::move(measured);
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

TaskId ErrorTable::worst_task(int index) const {
  const ErrorRow& wanted = row(index);
  TaskId worst;
  const auto error = [&](TaskId id) {
    return std::abs(measured_->comparison.tasks[id()].duration_difference().value);
  };
  for (std::size_t i = 0; i < measured_->plan.size(); ++i) {
    if (!belongs(measured_->plan[TaskId(i)], wanted)) continue;
    if (!worst.valid() || error(TaskId(i)) > error(worst)) worst = TaskId(i);
  }
  return worst;
}

// As one of its tasks is called: all are called the same.
QString ErrorTable::title(const ErrorRow& row) const {
  for (const Task& task : measured_->plan.tasks()) {
    if (belongs(task, row)) {
      return QString::fromStdString(task_title(measured_->graph, measured_->plan, task));
    }
  }
  return {};
}

QVariant ErrorTable::number(const ErrorRow& row, int column) const {
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
      return title(row);
  }
}

QString ErrorTable::text(const ErrorRow& row, int column) const {
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
  const ErrorRow& shown = row(index.row());
  if (role == Qt::DisplayRole) return text(shown, index.column());
  if (role == Qt::UserRole) return number(shown, index.column());
  if (role == Qt::TextAlignmentRole && index.column() != kTask) {
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  }
  return {};
}

QVariant ErrorTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  static const char* const kNames[kColumns] = {"Tasks of a step", "Number",      "Predicted",
                                               "Measured",        "Difference",  "Error",
                                               "Share of errors", "Waits longer"};
  static const char* const kTips[kColumns] = {
      "A layer's tasks that do the same, on all devices",
      "How many",
      "Their durations, predicted, all together",
      "Their durations, measured, all together",
      "Measured less predicted",
      "(predicted - measured) / measured: negative where it took longer than predicted",
      "Of all tasks' errors in duration, whatever their sign",
      "How much longer they waited for their device or their peers than predicted"};
  if (role == Qt::DisplayRole) return tr(kNames[section]);
  if (role == Qt::ToolTipRole) return tr(kTips[section]);
  return {};
}

std::string ErrorTable::csv() const {
  std::string text =
      "tasks,number,predicted_seconds,measured_seconds,difference_seconds,relative_error,"
      "share_of_errors,queueing_difference_seconds\n";
  for (int i = 0; i < rowCount(); ++i) {
    text += title(row(i)).toStdString();
    for (int column = kCount; column < kColumns; ++column) {
      fmt::format_to(std::back_inserter(text), ",{}", number(row(i), column).toDouble());
    }
    text += "\n";
  }
  return text;
}

}  // namespace strata::gui
