#include "gui/models/measured/error_recording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "gui/models/measured/real_run.h"
#include "gui/models/text.h"
#include "gui/models/timeline/plan_recording.h"
#include "sim/plan/task_title.h"

namespace strata::gui {
namespace {

constexpr double kShades = 16;  // on each side of no error

/// What both recordings look at.
struct ErrorSource {
  MeasuredPtr measured;
  Timeline predicted_step, measured_step;
};

struct DrawnStep {
  std::span<const Span> spans;
  Seconds before;  ///< the end of the step before
  Seconds lead;    ///< how much earlier its first task begins
};

DrawnStep drawn_step(const Timeline& timeline, std::size_t step) {
  DrawnStep result{timeline.step(step), step == 0 ? Seconds{} : timeline.step_end(step - 1), {}};
  for (const Span& span : result.spans)
    result.lead = std::max(result.lead, result.before - span.start);
  return result;
}

// So that the step before ended at `lead`. Tasks may have been ready long before, even before 0.
Timeline shifted(const DrawnStep& step, Seconds lead) {
  std::vector<Span> spans;
  const Seconds by = lead - step.before;
  for (const Span& span : step.spans) {
    spans.push_back({span.ready + by, span.start + by, span.end + by});
  }
  return Timeline(step.spans.size(), std::move(spans));
}

class ErrorFacts : public PlanFacts {
 public:
  ErrorFacts(PlanTimeline what, const Comparison& comparison)
      : PlanFacts(std::move(what), {}, {}), comparison_(comparison) {}

  std::vector<std::string> lines(std::uint32_t id, double shift) const override {
    std::vector<std::string> lines = PlanFacts::lines(id, shift);
    const TaskComparison& task = comparison_.tasks[task_of(what().plan, id).task()];
    const Seconds predicted = task.predicted.duration, measured = task.measured.duration;
    lines.push_back(fmt::format("predicted {}, measured {} in the median: {:+.1f} %",
                                human_seconds(predicted).toStdString(),
                                human_seconds(measured).toStdString(),
                                100 * relative_error(predicted, measured)));
    return lines;
  }

 private:
  const Comparison& comparison_;
};

class ErrorRecorder {
 public:
  ErrorRecorder(std::shared_ptr<const ErrorSource> source, const Timeline& step, std::string name)
      : source_(std::move(source)),
        what_{std::move(name),
              source_->measured->graph,
              source_->measured->cluster,
              source_->measured->plan,
              step,
              source_} {}

  std::shared_ptr<Recording> run(bool with_residual) const {
    auto recording = std::make_shared<Recording>(*record(what_));
    recording->steady.reset();
    recording->step.reset();
    std::vector<Lane> lanes;
    for (const Lane& lane : recording->lanes) {
      if (stands_for_tasks(lane.name().kind))
        lanes.emplace_back(lane.name(), coloured(*recording, lane));
      if (with_residual && lane.name().kind == LaneKind::device && lane.name().depth == 0) {
        lanes.push_back(residual(lanes.back()));
      }
    }
    recording->lanes = std::move(lanes);
    recording->places.clear();
    index_places(*recording);
    recording->facts = std::make_shared<ErrorFacts>(what_, source_->measured->comparison);
    return recording;
  }

 private:
  const TaskComparison& task(std::uint32_t id) const {
    return source_->measured->comparison.tasks[task_of(what_.plan, id).task()];
  }
  double error(std::uint32_t id) const {
    return relative_error(task(id).predicted.duration, task(id).measured.duration);
  }

  std::vector<Slice> coloured(Recording& recording, const Lane& lane) const {
    std::vector<Slice> slices(lane.slices().begin(), lane.slices().end());
    for (Slice& slice : slices) {
      const double loud = std::clamp(-error(slice.id) / kLoudestError, -1.0, 1.0);
      SliceStyle style;
      style.shade = Shade::balance;
      style.value = static_cast<float>(std::round(loud * kShades) / kShades);
      slice.style = style_number(recording, style);
    }
    return slices;
  }

  // As high as the error in time, against the largest one of the device.
  Lane residual(const Lane& lane) const {
    double largest = 0;
    for (const Slice& slice : lane.slices()) {
      largest = std::max(largest, std::abs(task(slice.id).duration_difference().value));
    }
    std::vector<Slice> slices;
    for (Slice slice : lane.slices()) {
      const double error = std::abs(task(slice.id).duration_difference().value);
      slice.height = static_cast<float>(largest > 0 ? error / largest : 0);
      if (error > 0) slices.push_back(slice);
    }
    LaneName name = lane.name();
    name.name = fmt::format("error, up to {}", human_seconds({largest}).toStdString());
    name.kind = LaneKind::residual;
    return Lane(std::move(name), std::move(slices));
  }

  std::shared_ptr<const ErrorSource> source_;
  PlanTimeline what_;
};

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

double relative_error(Seconds predicted, Seconds measured) {
  if (measured.value > 0) return (predicted - measured) / measured;
  return predicted.value > 0 ? 1 : 0;
}

ErrorRecordings record_errors(const MeasuredPtr& measured) {
  const DrawnStep predicted =
      drawn_step(measured->predicted, measured->predicted.steady_window().last);
  const DrawnStep real =
      drawn_step(measured->measured, measured_steps(measured->measured).shown().step);
  const Seconds lead = std::max(predicted.lead, real.lead);
  const auto source = std::make_shared<const ErrorSource>(
      ErrorSource{measured, shifted(predicted, lead), shifted(real, lead)});
  return {ErrorRecorder(source, source->predicted_step, "predicted").run(false),
          ErrorRecorder(source, source->measured_step, "measured").run(true)};
}

std::vector<bool> labels_beyond(const Recording& recording, const Measured& measured,
                                double tolerance) {
  std::vector<bool> beyond(recording.labels.size()), looked_up(recording.labels.size());
  const auto& rows = measured.comparison.rows;
  for (std::uint32_t id = 0; id < recording.places.size(); ++id) {
    if (!recording.places[id].valid()) continue;
    const std::uint32_t label = recording.at(recording.places[id]).label;
    if (looked_up[label]) continue;  // the tasks of a row share it
    looked_up[label] = true;
    const Task& task = measured.plan[task_of(measured.plan, id).task];
    const auto row = std::ranges::find(rows, class_of(measured.plan, task), &ErrorRow::of);
    if (row == rows.end()) continue;
    const double error = relative_error(row->predicted.duration, row->measured.duration);
    beyond[label] = std::abs(error) > tolerance;
  }
  return beyond;
}

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
