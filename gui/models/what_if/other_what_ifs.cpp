#include "gui/models/what_if/other_what_ifs.h"

#include <algorithm>

namespace strata::gui {
namespace {

constexpr std::string_view kPlaceholder = "SELECTOR";
constexpr std::size_t kMostSelectors = 400;  // of a field that completes what is typed

void add_selector(const std::string& selector, std::vector<std::string>& selectors) {
  if (selector.empty() || selectors.size() >= kMostSelectors) return;
  if (std::ranges::find(selectors, selector) == selectors.end()) selectors.push_back(selector);
}

void add_links(const Cluster& cluster, std::vector<std::string>& selectors) {
  for (const Link& link : cluster.links()) add_selector(link.kind, selectors);
  for (const Link& link : cluster.links()) add_selector(link.name, selectors);
}

void add_kinds(const Cluster& cluster, std::vector<std::string>& selectors) {
  for (const Device& device : cluster.devices()) add_selector(device.kind, selectors);
}

void add_devices(const Cluster& cluster, std::vector<std::string>& selectors) {
  add_kinds(cluster, selectors);
  for (const char* some : {"first:1", "last:1"}) add_selector(some, selectors);
  for (const Device& device : cluster.devices()) add_selector(device.host, selectors);
  for (const Device& device : cluster.devices()) add_selector(device.name, selectors);
}

void add_layers(const Graph& graph, std::vector<std::string>& selectors) {
  for (const Layer& layer : graph.layers()) {
    if (!is_input(layer.op)) add_selector(std::string(name(layer.op)), selectors);
  }
  for (const Layer& layer : graph.layers()) {
    if (!is_input(layer.op)) add_selector(layer.name, selectors);
  }
}

}  // namespace

bool has_selector(const WhatIfSpec& what_if) {
  return what_if.key.find(kPlaceholder) != std::string_view::npos;
}

std::string key_with(const WhatIfSpec& what_if, std::string_view selector) {
  std::string key(what_if.key);
  if (has_selector(what_if)) key.replace(key.find(kPlaceholder), kPlaceholder.size(), selector);
  return key;
}

std::vector<std::string> selectors_of(const WhatIfSpec& what_if, const Case& input) {
  if (!has_selector(what_if)) return {};
  std::vector<std::string> selectors{"*"};
  if (what_if.key.starts_with("link.")) add_links(input.cluster, selectors);
  if (what_if.form == WhatIfForm::power) {
    add_kinds(input.cluster, selectors);
  } else if (what_if.key.starts_with("device.")) {
    add_devices(input.cluster, selectors);
  }
  if (what_if.key.starts_with("layer.")) add_layers(input.graph, selectors);
  return selectors;
}

std::vector<std::string> values_of(const WhatIfSpec& what_if) {
  std::vector<std::string> values;
  switch (what_if.form) {
    case WhatIfForm::bandwidth:
      return {"0.5x", "2x", "25 GB/s"};
    case WhatIfForm::latency:
      return {"0.5x", "2x", "10 us"};
    case WhatIfForm::speed:
      if (what_if.key == "communication.network_share") return {"0.5x", "0.125"};
      return {"0.5x", "2x"};
    case WhatIfForm::size:
      return {"80 GiB", "1 GiB"};
    case WhatIfForm::duration:
      return {"0 us", "20 us"};
    case WhatIfForm::share:
      values = {"0", "0.1"};
      break;
    case WhatIfForm::ratio:
      return {"2", "3"};
    case WhatIfForm::load:
      return {"balanced", "zipf:1"};
    case WhatIfForm::power:
      return {"500 W", "300 W"};
    case WhatIfForm::word:
      break;
  }
  values.insert(values.end(), what_if.words.begin(), what_if.words.end());
  return values;
}

}  // namespace strata::gui
