#pragma once

// A prediction beside its measurement: a step of the steady state each, of those measured the
// median (measured_steps.h), both beginning where the step before ended. A slice's id is its task;
// its colour says by how much the prediction of its duration was wrong. The measured recording has
// a residual lane for each device, as high as its tasks' errors. Pure; thread-safe.

#include <utility>
#include <vector>

#include "gui/models/scene.h"
#include "gui/models/timeline/plan_recording.h"

namespace strata::gui {

/// (predicted - measured) / measured, as `strata validate` says it: negative where it took longer
/// than predicted. 0 where neither takes time, 1 where only the predicted one does.
double relative_error(Seconds predicted, Seconds measured);

/// Colours tell errors apart up to this one.
inline constexpr double kLoudestError = 0.5;

struct ErrorRecordings {
  RecordingPtr predicted, measured;
};
ErrorRecordings record_errors(const MeasuredPtr& measured);

/// By label of either recording: those whose row of the comparison is wrong by more than
/// `tolerance`.
std::vector<bool> labels_beyond(const Recording& recording, const Measured& measured,
                                double tolerance);

}  // namespace strata::gui
