#include "sim/result/result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

using R = CaseResult;
using enum ColumnGroup;
using enum ColumnRank;

constexpr auto kColumns = std::to_array<ColumnSpec>({
    {"job", job, &R::job},
    {"model", question, &R::model},
    {"cluster", question, &R::cluster},
    {"strategy", question, &R::strategy},
    {"sync", question, &R::sync},
    {.key = "bucket_bytes", .group = question, .value = &R::bucket_bytes, .since = 3},
    {"dtype", question, &R::dtype},
    {"devices", question, &R::devices},
    {"batch", question, &R::batch},
    {"settings", record, &R::settings, detail},
    {"done", record, &R::done, detail},
    {"error", record, &R::error},
    {"step_seconds", step, &R::step_seconds, shown, "step time"},
    {"eq1_seconds", step, &R::eq1_seconds, shown, "Eq. 1"},
    {"throughput", step, &R::throughput, shown, "", "samples/s", 1, true},
    {"comm_bytes", step, &R::comm_bytes, shown, "communication"},
    {"transfer_bytes", step, &R::transfer_bytes},
    {"sync_bytes", step, &R::sync_bytes, shown, "", "of it sync"},
    {"peak_memory_bytes", step, &R::peak_memory_bytes, shown, "", "memory/device"},
    {"fits", step, &R::fits},
    {.key = "mfu",
     .group = step,
     .value = &R::mfu,
     .title = "model FLOPs utilisation",
     .heading = "MFU",
     .more_is_better = true,
     .since = 4},
    {.key = "hfu",
     .group = step,
     .value = &R::hfu,
     .rank = detail,
     .title = "hardware FLOPs utilisation",
     .heading = "HFU",
     .more_is_better = true,
     .since = 4},
    {.key = "tflops",
     .group = step,
     .value = &R::tflops,
     .title = "model TFLOP/s a device",
     .heading = "TFLOP/s",
     .more_is_better = true,
     .since = 6},
    {.key = "plausible", .group = step, .value = &R::plausible, .rank = detail, .since = 5},
    {.key = "measured_share",
     .group = prediction,
     .value = &R::measured_share,
     .more_is_better = true},
    {"interpolated_share", prediction, &R::interpolated_share, detail},
    {"analytic_share", prediction, &R::analytic_share, detail},
    {.key = "uncosted_share",
     .group = prediction,
     .value = &R::uncosted_share,
     .rank = detail,
     .since = 5},
    {.key = "p50_seconds", .group = prediction, .value = &R::p50_seconds, .since = 2},
    {.key = "p95_seconds", .group = prediction, .value = &R::p95_seconds, .since = 2},
    {"optimal", solve, &R::optimal},
    {"lower_bound_seconds", solve, &R::lower_bound_seconds},
    {"table_seconds", solve, &R::table_seconds, detail},
    {"solve_seconds", solve, &R::solve_seconds},
    {"final_nodes", solve, &R::final_nodes},
    {"max_configs", solve, &R::max_configs},
    {"measured_seconds", run, &R::measured_seconds},
    {"measured_spread_seconds", run, &R::measured_spread_seconds, detail},
    {"relative_error", run, &R::relative_error},
    {"moved_bytes", run, &R::moved_bytes},
    {"wall_seconds", record, &R::wall_seconds},
});

template <class T>
Field as_field(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return value;
  }
}
template <class T>
Field as_field(const std::optional<T>& value) {
  return value ? as_field(*value) : Field();
}

std::string number_text(double value, Quantity quantity) {
  const bool printable = has_text(value, quantity);
  if (quantity == Quantity::seconds && printable) return format_seconds({value});
  if (quantity == Quantity::bytes && printable) return format_bytes({std::llround(value)});
  if (value == std::floor(value) && printable) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

}  // namespace

std::optional<double> number_in(const Field& field) {
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&field)) return *real;
  return std::nullopt;
}

std::string text_of(const Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&field)) return fmt::format("{:.6g}", *real);
  return "";
}

std::string text_of(const Field& field, Quantity quantity) {
  const std::optional<double> number = number_in(field);
  return number ? number_text(*number, quantity) : text_of(field);
}

std::span<const ColumnSpec> columns() {
  return kColumns;
}

std::int64_t newest_version() {
  return std::ranges::max_element(kColumns, {}, &ColumnSpec::since)->since;
}

const ColumnSpec* find_column(std::string_view key) {
  const auto* const found = std::ranges::find(kColumns, key, &ColumnSpec::key);
  return found == kColumns.end() ? nullptr : found;
}

const ColumnSpec& column(std::string_view key) {
  if (const ColumnSpec* const found = find_column(key)) return *found;
  throw InternalError(fmt::format("there is no column '{}'", key));
}

ColumnType type_of(const ColumnSpec& column) {
  const std::size_t at = column.value.index();
  return static_cast<ColumnType>(is_optional(column) ? at - 3 : at);  // no text may lack
}

bool is_optional(const ColumnSpec& column) {
  return column.value.index() > static_cast<std::size_t>(ColumnType::real);
}

std::string title_of(const ColumnSpec& column) {
  return column.title.empty() ? plain_name(column.key) : std::string(column.title);
}

std::string heading_of(const ColumnSpec& column) {
  return column.heading.empty() ? title_of(column) : std::string(column.heading);
}

Field field_of(const ColumnSpec& column, const CaseResult& result) {
  return std::visit([&](auto value) { return as_field(result.*value); }, column.value);
}

std::string text_of(const ColumnSpec& column, const CaseResult& result) {
  const Field field = field_of(column, result);
  if (std::holds_alternative<std::monostate>(field)) return "-";
  if (column.decimals >= 0) return fmt::format("{:.{}f}", *number_in(field), column.decimals);
  return text_of(field, key_unit(column.key).quantity);
}

}  // namespace strata
