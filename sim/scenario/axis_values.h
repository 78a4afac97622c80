#pragma once

// The values of one key: a single one, a list, a range, or a list with ranges in it.

#include <cstddef>
#include <string>
#include <vector>

#include "sim/scenario/settings.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

namespace strata {

struct AxisValues {
  std::vector<std::string> texts;
  std::vector<int> lines;  ///< of each in the file
};

/// All of them, in turn, for a job. `room` is how many there may be, and is lowered by those there
/// are. What is wrong goes to `errors`; nothing is returned then.
AxisValues read_values(const SettingSpec& setting, Job job, const Value& value, std::size_t& room,
                       Diagnostics& errors);

}  // namespace strata
