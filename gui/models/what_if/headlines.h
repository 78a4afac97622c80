#pragma once

// The numbers that people ask for first, and how far each is from the baseline's. Pure.

#include <string>
#include <vector>

#include "gui/models/scene.h"

namespace strata::gui {

struct Headline {
  std::string what, value;
  std::string difference;  ///< "-3.1 ms, -12 %"; empty without a baseline
  double change = 0;       ///< relative to the baseline; positive is worse
  bool wrong = false;      ///< it cannot be so: a device has less memory
  bool operator==(const Headline&) const = default;
};

/// The step time first. `baseline` may be null.
std::vector<Headline> headlines(const Scene& scene, const Scene* baseline);

/// Lines of "what,value,baseline" in plain SI numbers, with a first line of names.
std::string headlines_csv(const Scene& scene, const Scene* baseline);

}  // namespace strata::gui
