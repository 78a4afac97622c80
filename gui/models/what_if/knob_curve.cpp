#include "gui/models/what_if/knob_curve.h"

#include <algorithm>

#include "gui/models/scene.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/cluster/named_size.h"

namespace strata::gui {
namespace {

constexpr int kCoarse = 8;  // gaps of the first round

// More devices than this take seconds each, which nobody waits for while dragging.
bool quick(const Knob& knob, double value, const Document& document) {
  if (knob.turns != Turns::hosts && knob.turns != Turns::devices) return true;
  const auto size = named_size(turned(knob, document, value).input.cluster);
  return !size || size->hosts.value_or(1) * size->devices.value_or(8) <= 128;
}

}  // namespace

std::vector<double> curve_values(const Knob& knob, int round) {
  if (knob.counts()) return round == 0 ? knob.stops : std::vector<double>();
  std::vector<double> values;
  const int gaps = kCoarse << round;
  for (int i = 0; i <= gaps; ++i) {
    if (round > 0 && i % 2 == 0) continue;
    values.push_back(value_at(knob, static_cast<double>(i) / gaps));
  }
  return values;
}

std::vector<CurvePoint> curve_points(const Document& document, const Knob& knob,
                                     const std::vector<double>& values, CaseLoader& loader,
                                     const std::atomic<bool>* cancelled) {
  std::vector<CurvePoint> points;
  for (const double value : values) {
    throw_if_cancelled(cancelled);
    if (!quick(knob, value, document)) continue;
    try {
      points.push_back({value, predicted_step(turned(knob, document, value), loader, cancelled)});
    } catch (const InputError&) {  // there is no such case: the curve has a gap
    }
  }
  return points;
}

std::vector<CurvePoint> merged(std::vector<CurvePoint> a, const std::vector<CurvePoint>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end(),
            [](const CurvePoint& x, const CurvePoint& y) { return x.value < y.value; });
  const auto same = [](const CurvePoint& x, const CurvePoint& y) { return x.value == y.value; };
  a.erase(std::unique(a.begin(), a.end(), same), a.end());
  return a;
}

}  // namespace strata::gui
