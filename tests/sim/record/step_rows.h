#pragma once

// Predictions of single cases, a row for each, so that they can be compared before and after a
// change that should leave all of them as they are. Pure; thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "sim/case/case_loader.h"
#include "sim/case/predict.h"
#include "tests/metamorphic/drawn_case.h"
#include "tests/sim/record/table.h"

namespace strata::testing {

/// `exact`: doubles with 17 significant digits, and fingerprints of all else that is predicted: of
/// the strategy, the plan, the costs, the timeline, Eq. 1's terms, the critical path, the peaks and
/// the breakdown of all devices. `brief`: 12 digits, and no fingerprints.
enum class RowForm : std::uint8_t { exact, brief };

/// Named by case and `devices` ("classes", "all"). The last column is the error of a case that is
/// refused.
Table empty_step_rows(RowForm form);

/// One of each class of devices and a few rounds, or all devices and all rounds. `left_out`: what
/// errors begin the names of files with.
std::vector<std::string> step_row(CaseLoader& loader, const std::string& name,
                                  const DrawnCase& said, Simulated devices, RowForm form,
                                  std::string_view left_out = {});

/// Drawn as the metamorphic tests do it, by seed: a row by classes and one of all devices.
/// `folder`: for its files, which are gone afterwards.
std::vector<std::vector<std::string>> drawn_rows(CaseLoader& loader, std::uint64_t seed,
                                                 const std::string& folder, RowForm form);

/// A line for each cell of `now` that is not as recorded: text and whole numbers to the letter,
/// others to 1e-9 of themselves or of the step. Empty where there is none.
std::string step_differences(const Table& recorded, const Table& now, std::size_t most = 20);

}  // namespace strata::testing
