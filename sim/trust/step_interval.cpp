#include "sim/trust/step_interval.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/text/units.h"

namespace strata {
namespace {

// By how much an interval is wider, in logarithms, for each thing that the steps it rests on do not
// have in common with the prediction: assumed.
constexpr double kWider = 1.25;

// Fewer steps have intervals that are wide because they are few: they speak for their own sort and
// framework.
constexpr std::size_t kEnoughRows = 5;

void widen(StepInterval& interval, double times) {
  const double middle = std::sqrt(interval.low * interval.high);
  const double half = std::pow(std::sqrt(interval.high / interval.low), times);
  interval.low = middle / half;
  interval.high = middle * half;
}

bool reaches(const ExpectedError& error, const Case& input) {
  return error.devices >= input.cluster.device_count() &&
         error.hosts >= input.cluster.host_count() && error.parameters >= input.graph.parameters();
}

bool has_in_common(IntervalBasis basis, const ErrorRecord& record, const PredictionSort& sort,
                   const Case& input) {
  switch (basis) {
    case IntervalBasis::sort:
      return record.sort == sort && reaches(record.error, input);
    case IntervalBasis::framework:
      // Small networks are bound by what hosts launch: they say nothing of large ones.
      return record.sort.family == sort.family && record.sort.framework == sort.framework &&
             record.error.parameters >= input.graph.parameters();
    case IntervalBasis::family:
      // What steps take that are predicted as no framework runs them says nothing of a framework.
      return record.sort.family == sort.family && record.error.rows >= kEnoughRows &&
             record.error.parameters >= input.graph.parameters() &&
             (sort.framework == kNoFramework || record.sort.framework != kNoFramework);
    case IntervalBasis::none:
      return record.error.rows >= kEnoughRows;
  }
  return false;
}

}  // namespace

StepInterval step_interval(std::span<const ErrorRecord> records, const CaseRequest& request,
                           const Case& input) {
  const PredictionSort sort = sort_of(input);
  const bool of_names = is_of_names(request);
  StepInterval found;
  double wider = 1;
  for (std::size_t i = 0; i < kIntervalBasisNames.size() && found.rows == 0; ++i) {
    found.basis = static_cast<IntervalBasis>(i);
    if (i > 0) wider *= kWider;
    if (found.basis == IntervalBasis::sort && !of_names) continue;
    for (const ErrorRecord& record : records) {
      if (!has_in_common(found.basis, record, sort, input)) continue;
      const bool first = found.rows == 0;
      found.low = first ? record.error.low : std::min(found.low, record.error.low);
      found.high = first ? record.error.high : std::max(found.high, record.error.high);
      found.rows += record.error.rows;
      found.fitted = found.fitted && record.error.fitted;
      if (std::ranges::find(found.figures, record.error.figures) == found.figures.end()) {
        found.figures.push_back(record.error.figures);
      }
    }
  }
  widen(found, wider);
  // Without a framework, a prediction is of software that loses nothing, which some nearly is.
  if (sort.framework == kNoFramework) found.low = std::min(found.low, 1.0);
  return found;
}

StepInterval step_interval(const CaseRequest& request, const Case& input) {
  return step_interval(shipped_errors(), request, input);
}

std::string interval_text(const StepInterval& interval, std::string_view name, Seconds step) {
  if (interval.basis == IntervalBasis::none) {
    return "No published step is near enough to say between which times such steps lie";
  }
  constexpr std::array<std::string_view, 3> kSteps = {
      "published steps of this sort",
      "published steps of such networks that ran alike, on other devices, in other sizes or types",
      "published steps of such networks by other software"};
  return fmt::format(
      "Expect {} to {} of {} ({:.2f} to {:.2f} times the prediction): 90 of 100 steps lie there, "
      "judging by {} {} ({}{})",
      format_seconds(interval.low * step), format_seconds(interval.high * step), name, interval.low,
      interval.high, interval.rows, kSteps[static_cast<std::size_t>(interval.basis)],
      fmt::join(interval.figures, ", "), interval.fitted ? ", to which figures are fitted" : "");
}

}  // namespace strata
