#pragma once

// What a slider turns: one number of the Document each. A what-if is turned as a factor of what the
// cluster or the profile says (1: as it is), a size as a count. Values and pure functions.

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/document/document.h"
#include "sim/case/case_loader.h"
#include "sim/text/what_if_key.h"

namespace strata::gui {

enum class Turns : std::uint8_t { what_if, batch, hosts, devices };

struct Knob {
  Turns turns = Turns::what_if;
  std::string key;                 ///< a what-if's; of sizes: "batch", "hosts", "devices"
  std::string group, title;        ///< "Network", "Bandwidth, inter"
  double least = 1, most = 1;      ///< of the slider, whose scale is logarithmic
  double usual = 1;                ///< where a reset puts it
  double base = 0;                 ///< bytes a second, or seconds, at 1; 0 where it has no unit
  std::vector<double> stops = {};  ///< the values of a size that a slider stops at, ascending
  /// What a selector may be that means the link of `base`: others of these multiply with this.
  std::vector<std::string> selectors = {};
  WhatIfForm form = WhatIfForm::speed;  ///< of the what-if
  bool mixed = false;                   ///< the links differ in it: a factor has no one meaning

  bool counts() const { return !stops.empty(); }
  bool operator==(const Knob&) const = default;
};

/// All that the document lets be turned; `cluster` as its name gives it, without what-ifs. What-ifs
/// of the document that no usual knob stands for (one link, one layer) come last.
std::vector<Knob> knobs_of(const Document& document, const Cluster& cluster);
/// The speed of a layer, of an op's layers, or of all ("*").
Knob layer_knob(const std::string& selector);

/// Where the document has it.
double value_of(const Knob& knob, const Document& document);
Document turned(const Knob& knob, const Document& document, double value);
/// With what somebody typed: "2x" or "2", "25 GB/s", "64"; empty: as usual. Throws InputError.
Document typed(const Knob& knob, const Document& document, std::string_view text);
/// As typed() takes it: "2x", "64".
std::string text_of(const Knob& knob, double value);
/// What it comes to, with all what-ifs of the document: "25 GB/s"; empty where the text says it
/// all, or where links differ.
std::string meaning_of(const Knob& knob, const Document& document);

/// Of the slider, from 0 to 1, and back; a value off the scale is at its end.
double position_of(const Knob& knob, double value);
double value_at(const Knob& knob, double position);

// What the step time does over a slider's whole range, all else being as it is: computed coarsely
// first, then finer, so that something is there at once. Pure functions; thread-safe.

struct CurvePoint {
  double value = 1;
  Seconds step;
  bool operator==(const CurvePoint&) const = default;
};

/// How many rounds there are: each after the first fills the gaps of those before.
inline constexpr int kCurveRounds = 3;

/// The values that a round asks for, ascending; of a size its stops, in the first round.
std::vector<double> curve_values(const Knob& knob, int round);

/// Without the values for which nothing can be predicted. Throws Cancelled once the flag is set.
std::vector<CurvePoint> curve_points(const Document& document, const Knob& knob,
                                     const std::vector<double>& values, CaseLoader& loader,
                                     const std::atomic<bool>* cancelled);

/// Both together, by value.
std::vector<CurvePoint> merged(std::vector<CurvePoint> a, const std::vector<CurvePoint>& b);

}  // namespace strata::gui
