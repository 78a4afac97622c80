#include "sim/json/profile_json.h"

#include <nlohmann/json.hpp>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json share_json(const LeftOutErrors::Share& share) {
  return {{"median", share.median}, {"p95", share.p95}};
}

Json size_json(const LeftOutErrors::Size& size) {
  return {{"rows", size.rows},
          {"interpolated", share_json(size.table)},
          {"roofline", share_json(size.roofline)}};
}

Json left_out_json(const LeftOutErrors& errors) {
  Json json = size_json(errors.all);
  json["sizes"] = Json::array();
  for (const LeftOutErrors::Size& size : errors.sizes) {
    json["sizes"].push_back({{"least_seconds", size.least_seconds}});
    json["sizes"].back().update(size_json(size));
  }
  return json;
}

Json table_json(const ImportedTable& imported) {
  Json json = {{"kernel", name(imported.table.kernel)},
               {"dtype", name(imported.table.dtype)},
               {"rows_read", imported.read},
               {"rows_kept", imported.table.rows.size()},
               {"left_out", left_out_json(imported.left_out)},
               {"kept", left_out_json(imported.kept)}};
  if (imported.repeated > 0) json["rows_repeated"] = imported.repeated;
  if (imported.too_short > 0) json["rows_too_short"] = imported.too_short;
  for (const FileOverhead& each : imported.overheads) {
    json["overheads"].push_back({{"file", each.file},
                                 {"seconds", each.overhead.each.value},
                                 {"growth_seconds", each.overhead.growth.value}});
  }
  return json;
}

}  // namespace

Json profile_json(const ProfileRequest& request, const ProfileReport& report, Seconds took,
                  const std::string& file) {
  const Profile& profile = report.profile;
  const RowSpread spread = row_spread(profile.measured);
  Json json = {{"models", request.models},
               {"device_names", request.devices},
               {"dtype", name(request.training.dtype)},
               {"optimizer", name(request.training.optimizer)},
               {"graph", request.recorded},
               {"kind", profile.kind},
               {"machine", profile.description},
               {"rounds", request.rounds},
               {"measure_seconds", took.value},
               {"measured_costs", profile.measured.size()},
               {"measured_moves", profile.moves.size()},
               {"relative_spread", {{"median", spread.median}, {"p90", spread.p90}}},
               {"sweeps", report.disturbance.of},
               {"disturbed_sweeps", report.disturbance.left_out},
               {"stopped", report.stopped}};
  if (!file.empty()) json["profile"] = file;
  return json;
}

Json imported_tables_json(const std::string& kind, std::span<const ImportedTable> tables,
                          std::span<const std::size_t> replaced, const std::string& file) {
  Json json = {{"kind", kind}, {"tables", Json::array()}};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    json["tables"].push_back(table_json(tables[i]));
    if (replaced[i] > 0) json["tables"].back()["rows_replaced"] = replaced[i];
  }
  if (!file.empty()) json["profile"] = file;
  return json;
}

}  // namespace strata
