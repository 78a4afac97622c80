#pragma once

// What is recorded of each case, a table for each network. Every number is exact: times as the
// shortest decimals that read back as the same double. Pure; thread-safe.

#include <span>
#include <string>
#include <string_view>

#include "sim/case/predict.h"
#include "tests/sim/record/table.h"

namespace strata::testing {

/// The step: its time, Eq. 1, bytes, where its costs are from, the strategy, the plan and the
/// timeline.
Table empty_steps();
/// Apart, for it may change where all that stays: peaks, and what waits for the step before.
Table empty_memory();
Table empty_optima();

struct Predicted {
  Table steps = empty_steps(), memory = empty_memory();
};

using Clusters = std::span<const std::string_view>;

/// The names of all cases of a network, without an answer.
Table case_names(std::string_view network, Clusters clusters);
Predicted predicted(std::string_view network, Clusters clusters);

/// The optima of Eq. 1, with ring and with a parameter server.
Table optima(std::string_view network, Clusters clusters);

/// tests/golden/record/PART/NETWORK.tsv.
Table recorded(std::string_view part, std::string_view network, const Table& empty);
void write_record(std::string_view part, std::string_view network, const Table& table);

}  // namespace strata::testing
