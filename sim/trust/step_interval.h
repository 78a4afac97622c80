#pragma once

// How long a step may really take beside what is predicted of it: what published steps of its sort
// took, and of a sort that nobody published, what the nearest did, further apart. Pure;
// thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trust/expected_error.h"

namespace strata {

/// What the steps that an interval rests on have in common with the prediction, the nearest first.
/// `none`: nothing, so that the interval tells no more than how far off any prediction has been.
enum class IntervalBasis : std::uint8_t { sort, framework, family, none };
inline constexpr std::array<std::string_view, 4> kIntervalBasisNames = {"sort", "framework",
                                                                        "family", "none"};

/// 90 of 100 steps take between `low` and `high` times what is predicted.
struct StepInterval {
  double low = 1, high = 1;
  IntervalBasis basis = IntervalBasis::sort;
  std::vector<std::string> figures;  ///< names of published figures
  std::size_t rows = 0;              ///< steps of them
  bool fitted = true;                ///< something in Strata was fitted to all of them
};

/// Of the case that the request was loaded as. Of the sort alone where the request rests on names
/// and some published step has as many devices, hosts and parameters.
StepInterval step_interval(const CaseRequest& request, const Case& input);
/// The same from these records, of which one must be of 5 steps or more.
StepInterval step_interval(std::span<const ErrorRecord> records, const CaseRequest& request,
                           const Case& input);

/// For people; `step` is what the strategy of this name is predicted to take.
std::string interval_text(const StepInterval& interval, std::string_view name, Seconds step);

}  // namespace strata
