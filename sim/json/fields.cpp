#include "sim/json/fields.h"

#include <cstdint>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "sim/strategy/strategy_file.h"

namespace strata {

std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json field_json(const Field& field) {
  if (const auto* whole = std::get_if<std::int64_t>(&field)) return *whole;
  if (const auto* real = std::get_if<double>(&field)) return *real;
  if (const auto* text = std::get_if<std::string>(&field)) return *text;
  return nullptr;
}

nlohmann::ordered_json columns_json(const CaseResult& result,
                                    std::initializer_list<std::string_view> keys) {
  nlohmann::ordered_json json;
  for (const std::string_view key : keys) json[key] = field_json(field_of(column(key), result));
  return json;
}

void add_columns(ColumnGroup group, const CaseResult& result, nlohmann::ordered_json& json) {
  for (const ColumnSpec& column : columns()) {
    const std::string key(column.key);
    if (column.group == group && !json.contains(key)) {
      json[key] = field_json(field_of(column, result));
    }
  }
}

nlohmann::ordered_json extents_json(const Extents& extents) {
  nlohmann::ordered_json json;
  for (Dim dim : kDims) json[name(dim)] = extents[dim];
  return json;
}

nlohmann::ordered_json times_json(const LayerTerms& terms) {
  return {{"compute_seconds", terms.compute.value},
          {"transfer_seconds", terms.transfer.value},
          {"sync_seconds", terms.sync.value}};
}

nlohmann::ordered_json terms_json(const Degrees& degrees, const LayerTerms& terms) {
  nlohmann::ordered_json json{{"config", degrees_json(degrees)}};
  json.update(times_json(terms));
  return json;
}

nlohmann::ordered_json plain_loops_json(const PlainLoops& loops) {
  nlohmann::ordered_json json = {{"products", loops.products}, {"first_status", nullptr}};
  if (loops.products > 0) json["first_status"] = loops.first_status;
  return json;
}

}  // namespace strata
