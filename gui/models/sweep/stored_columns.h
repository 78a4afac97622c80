#pragma once

// The columns that every row of a store has, in the order in which people look for them: what was
// asked for, then what was found. Between the two stand the settings that only some rows have.

#include <array>
#include <cstddef>
#include <string_view>

#include "gui/models/sweep/result_set.h"

namespace strata::gui {

struct StoredColumn {
  std::string_view name;
  bool numeric = false;
  bool setting = false;
  Quantity quantity = Quantity::none;
};

inline constexpr std::array<StoredColumn, 30> kStoredColumns = {
    {{"sweep", false, true},
     {"job", false, true},
     {"model", false, true},
     {"cluster", false, true},
     {"strategy", false, true},
     {"sync", false, true},
     {"dtype", false, true},
     {"devices", true, true},
     {"batch", true, true},
     {"step_seconds", true, false, Quantity::seconds},
     {"eq1_seconds", true, false, Quantity::seconds},
     {"throughput", true},
     {"comm_bytes", true, false, Quantity::bytes},
     {"transfer_bytes", true, false, Quantity::bytes},
     {"sync_bytes", true, false, Quantity::bytes},
     {"peak_memory_bytes", true, false, Quantity::bytes},
     {"fits"},
     {"measured_share", true},
     {"p50_seconds", true, false, Quantity::seconds},
     {"p95_seconds", true, false, Quantity::seconds},
     {"optimal"},
     {"lower_bound_seconds", true, false, Quantity::seconds},
     {"solve_seconds", true, false, Quantity::seconds},
     {"final_nodes", true},
     {"max_configs", true},
     {"measured_seconds", true, false, Quantity::seconds},
     {"relative_error", true},
     {"moved_bytes", true, false, Quantity::bytes},
     {"wall_seconds", true, false, Quantity::seconds},
     {"error"}}};
/// So many of them stand before the other settings.
inline constexpr std::size_t kColumnsBeforeSettings = 8;

}  // namespace strata::gui
