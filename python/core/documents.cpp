#include "python/core/documents.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/ask/request.h"
#include "sim/base/error.h"
#include "sim/case/case_loader.h"
#include "sim/case/framework.h"
#include "sim/case/network.h"
#include "sim/cluster/cluster_file.h"
#include "sim/json/catalogue_json.h"
#include "sim/json/fields.h"
#include "sim/report/document.h"
#include "sim/text/units.h"

namespace strata::python {
namespace {

using Json = nlohmann::ordered_json;

Json device_json(const Device& device) {
  Json json{
      {"name", device.name}, {"kind", device.kind}, {"host", device.host}, {"speed", device.speed}};
  if (device.memory) json["memory_bytes"] = device.memory->value;
  return json;
}

Json link_json(const Cluster& cluster, const Link& link) {
  return {{"name", link.name},
          {"from", cluster.vertex_name(link.from)},
          {"to", cluster.vertex_name(link.to)},
          {"bandwidth", link.bandwidth.value},
          {"latency_seconds", link.latency.value},
          {"kind", link.kind}};
}

// Larger ones, and those that are no whole numbers, have four digits.
std::string format_number(double value) {
  constexpr double kExact = 1e15;
  if (value == std::floor(value) && std::abs(value) < kExact) {
    return format_count(static_cast<std::int64_t>(value));
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace

std::string models() {
  return json_text(models_json());
}

std::string clusters() {
  return json_text(clusters_json());
}

std::string frameworks() {
  return json_text(frameworks_json(shipped_frameworks()));
}

std::string show(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<Setting> given;
  for (const auto& [key, value] : settings) given.push_back({key, value});
  const Request request = understand("predict", given);
  return json_text(network_json(load_network(case_of(request), 1).graph));
}

std::string cluster(const std::string& name) {
  const Cluster loaded = CaseLoader().cluster(name);
  Json json{{"name", loaded.name()},
            {"devices", Json::array()},
            {"switches", loaded.switches()},
            {"links", Json::array()}};
  for (const Device& device : loaded.devices()) json["devices"].push_back(device_json(device));
  for (const Link& link : loaded.links()) json["links"].push_back(link_json(loaded, link));
  return json_text(json);
}

std::string cluster_toml(const std::string& name) {
  return print_cluster(CaseLoader().cluster(name));
}

std::string chart(const std::string& kind, const std::string& x_label, const std::string& y_label,
                  const std::vector<std::string>& categories, const std::vector<Series>& series) {
  Chart drawn;
  drawn.kind = kind == "bars" ? ChartKind::bars : ChartKind::lines;
  drawn.x_label = x_label;
  drawn.y_label = y_label;
  drawn.categories = categories;
  for (const auto& [name, x, y] : series) drawn.series.push_back({name, x, y, {}});
  return print_svg_alone(drawn, false);
}

std::string format_value(const std::string& key, double value) {
  const Quantity quantity = key == "seconds" ? Quantity::seconds : key_unit(key).quantity;
  if (quantity == Quantity::none || !has_text(value, quantity)) return format_number(value);
  switch (quantity) {
    case Quantity::seconds:
      return format_seconds(Seconds{value});
    case Quantity::bytes:
      return format_bytes(Bytes{static_cast<std::int64_t>(value)});
    case Quantity::rate:
      return format_rate(BytesPerSecond{value});
    default:
      return format_number(value);
  }
}

}  // namespace strata::python
