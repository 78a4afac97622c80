#pragma once

// The tables and views of the file, version 2 (docs/store.md), and how a file of version 1 becomes
// one of version 2: it lacks the columns p50_seconds and p95_seconds of `result`.

#include <cstdint>
#include <string_view>

#include "sim/store/sqlite.h"

namespace strata {

/// "STRA": by it a file is known as Strata's.
inline constexpr std::int64_t kApplicationId = 0x53545241;
inline constexpr std::int64_t kSchemaVersion = 2;

/// The columns of `result` that a StoredResult fills, after its key and in its order.
inline constexpr std::string_view kAnswerColumns =
    "job, model, cluster, strategy, sync, dtype, devices, batch, settings, done, error, "
    "step_seconds, eq1_seconds, throughput, comm_bytes, transfer_bytes, sync_bytes, "
    "peak_memory_bytes, fits, measured_share, interpolated_share, analytic_share, p50_seconds, "
    "p95_seconds, optimal, lower_bound_seconds, table_seconds, solve_seconds, final_nodes, "
    "max_configs, measured_seconds, measured_spread_seconds, relative_error, moved_bytes, "
    "wall_seconds";

/// Makes everything in a database that is empty, inside the caller's transaction.
void make_schema(Database& database);

std::int64_t schema_version(Database& database);
/// Throws InputError for a version that is newer than ours, or was never one; it names both.
void check_version(Database& database);

/// From an older version to ours, inside the caller's transaction.
void migrate(Database& database);

}  // namespace strata
