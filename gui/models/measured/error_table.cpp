#include "gui/models/measured/error_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gui/models/measured/error_recording.h"
#include "gui/models/text.h"
#include "sim/plan/task_title.h"

namespace strata::gui {
namespace {

QString signed_text(const QString& text, double value) {
  return value > 0 ? QLatin1Char('+') + text : text;
}

TableCell time_cell(Seconds time) {
  return {human_seconds(time), time.value};
}
TableCell difference_cell(Seconds difference) {
  return {signed_text(human_seconds(difference), difference.value), difference.value};
}
TableCell error_cell(const ErrorRow& row) {
  const double value = relative_error(row.predicted.duration, row.measured.duration);
  return {signed_text(human_share(value), value), value};
}

constexpr std::array<ErrorTable::Spec, ErrorTable::kColumns> kErrorColumns = {{
    {"Tasks of a step", "A layer's tasks that do the same, on all devices", "tasks", false,
     [](auto& /*measured*/, auto& error) { return TableCell{error.title}; }},
    {"Error", "(predicted - measured) / measured: negative where they took longer than predicted",
     "relative_error", true, [](auto& /*measured*/, auto& error) { return error_cell(error.row); }},
    {"Predicted", "Their durations, predicted, all together", "predicted_seconds", true,
     [](auto& /*measured*/, auto& error) { return time_cell(error.row.predicted.duration); }},
    {"Measured", "Their durations, measured, all together", "measured_seconds", true,
     [](auto& /*measured*/, auto& error) { return time_cell(error.row.measured.duration); }},
    {"Share of errors", "Of all tasks' errors in duration, whatever their sign", "share_of_errors",
     true,
     [](auto& /*measured*/, auto& error) {
       return TableCell{human_share(error.row.share), error.row.share};
     }},
    {"Difference", "Predicted less measured: negative where they took longer than predicted",
     "difference_seconds", true,
     [](auto& /*measured*/, auto& error) { return difference_cell(error.row.difference()); }},
    {"Waiting",
     "How long they wait for their device or their peers, predicted less measured: negative where "
     "they waited longer than predicted",
     "queueing_difference_seconds", true,
     [](auto& /*measured*/, auto& error) {
       return difference_cell(error.row.queueing_difference());
     }},
    {"Number", "How many", "number", true,
     [](auto& /*measured*/, auto& error) {
       return TableCell{QString::number(error.row.tasks), static_cast<qlonglong>(error.row.tasks)};
     }},
}};

}  // namespace

// All tasks of a row are called the same.
std::vector<ExplainedError> explained_errors(const Measured& measured) {
  std::vector<ExplainedError> rows;
  std::map<TaskClass, std::size_t> places;
  for (const ErrorRow& row : measured.comparison.rows) {
    places[row.of] = rows.size();
    rows.push_back({row, {}, {}});
  }
  const auto error = [&](TaskId id) {
    return std::abs(measured.comparison.tasks[id()].duration_difference().value);
  };
  for (std::size_t i = 0; i < measured.plan.size(); ++i) {
    const Task& task = measured.plan[TaskId(i)];
    const auto found = places.find(class_of(measured.plan, task));
    if (found == places.end()) continue;
    ExplainedError& row = rows[found->second];
    if (row.title.isEmpty()) {
      row.title = QString::fromStdString(task_title(measured.graph, measured.plan, task));
    }
    if (!row.worst.valid() || error(TaskId(i)) > error(row.worst)) row.worst = TaskId(i);
  }
  return rows;
}

ErrorTable::ErrorTable(QObject* parent) : RowTable(kErrorColumns, parent) {}

std::optional<int> ErrorTable::row_of(TaskId id) const {
  const TaskClass of = class_of(context_->plan, context_->plan[id]);
  const auto found =
      std::ranges::find(rows_, of, [](const ExplainedError& error) { return error.row.of; });
  if (found == rows_.end()) return std::nullopt;
  return static_cast<int>(found - rows_.begin());
}

}  // namespace strata::gui
