#pragma once

// What a study finds of a case, and its columns, once each: what each is called, whether a person
// looks for it, and where its value stands. Text tables, JSON, CSV, the store and the desktop
// program print a result by this table. A key says its value's unit (key_unit, sim/text/units.h).
// Thread-safe.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sim/text/units.h"

namespace strata {

/// What does not apply is absent: NULL in a store, null in JSON.
struct CaseResult {
  std::string job;
  std::string model, cluster, strategy, sync, dtype;
  std::int64_t devices = 0, batch = 0;
  std::optional<std::int64_t> bucket_bytes;  ///< older stores do not know it
  std::string settings;                      ///< all of them, a JSON object in the order of keys
  bool done = true;                          ///< else `error` says why there is no answer
  std::string error;

  std::optional<double> step_seconds, eq1_seconds, throughput;
  std::optional<std::int64_t> comm_bytes, transfer_bytes, sync_bytes, peak_memory_bytes;
  std::optional<bool> fits;  ///< in the memory of the devices, or the limit that was set
  /// Of all devices' peaks: by the model's arithmetic, and by what kernels compute for it.
  std::optional<double> mfu, hfu;
  std::optional<double> tflops;   ///< 1e12 of the model's FLOPs a second, for each device
  std::optional<bool> plausible;  ///< the utilisation, beside what was published (plausibility.h)
  std::optional<double> measured_share, interpolated_share, analytic_share;
  /// Of the network's activations: those of opaque ops that compute nobody knows how much.
  std::optional<double> uncosted_share;
  std::optional<double> p50_seconds, p95_seconds;  ///< of steps with jitter
  // Solves.
  std::optional<bool> optimal;
  std::optional<double> lower_bound_seconds, table_seconds, solve_seconds;
  std::optional<std::int64_t> final_nodes, max_configs;
  // Runs: predicted beside measured where there was a profile.
  std::optional<double> measured_seconds, measured_spread_seconds, relative_error;
  std::optional<std::int64_t> moved_bytes;

  double wall_seconds = 0;  ///< what the answer took
};

/// A value of a result, or of a query's answer.
using Field = std::variant<std::monostate, std::int64_t, double, std::string>;

/// Of an integer or a real number.
std::optional<double> number_in(const Field& field);
/// "" for NULL.
std::string text_of(const Field& field);
/// For people, a number with its unit: "23.1 ms".
std::string text_of(const Field& field, Quantity quantity);

/// What a column is about; the order of the groups is that of the columns but for `record`, which
/// every job has.
enum class ColumnGroup : std::uint8_t { job, question, record, step, prediction, solve, run };
enum class ColumnType : std::uint8_t { text, flag, integer, real };
/// Whether a table that a person looks through has the column.
enum class ColumnRank : std::uint8_t { shown, detail };

struct ColumnSpec {
  /// By ColumnType: what every result has, then what one may lack.
  using Value =
      std::variant<std::string CaseResult::*, bool CaseResult::*, std::int64_t CaseResult::*,
                   double CaseResult::*, std::optional<bool> CaseResult::*,
                   std::optional<std::int64_t> CaseResult::*, std::optional<double> CaseResult::*>;

  std::string_view key;
  ColumnGroup group = ColumnGroup::question;
  Value value = {};
  ColumnRank rank = ColumnRank::shown;
  std::string_view title = {};    ///< for people where the key, without its unit, does not say it
  std::string_view heading = {};  ///< of a narrow table, where it is not the title
  int decimals = -1;              ///< of its text; -1: as many digits as it is worth
  bool more_is_better = false;
  std::int64_t since = 1;  ///< the version of the store that first had it
};

/// In the order of a row.
std::span<const ColumnSpec> columns();
/// The version of the store that has all of them.
std::int64_t newest_version();
/// Null for a key that is none.
const ColumnSpec* find_column(std::string_view key);
/// Throws InternalError for a key that is none.
const ColumnSpec& column(std::string_view key);

ColumnType type_of(const ColumnSpec& column);
/// Whether a result may lack it.
bool is_optional(const ColumnSpec& column);
std::string title_of(const ColumnSpec& column);
std::string heading_of(const ColumnSpec& column);

Field field_of(const ColumnSpec& column, const CaseResult& result);
/// For people; "-" where it is absent.
std::string text_of(const ColumnSpec& column, const CaseResult& result);

}  // namespace strata
