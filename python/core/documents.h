#pragma once

// Documents that need no question: what has a name, networks, clusters, charts. All are JSON texts,
// as the command prints them, but for the chart, which is SVG.

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::python {

std::string models();
std::string clusters();
std::string frameworks();
/// Of a network, by the settings that say which: model, dim, seq and allow_unsupported.
std::string show(const std::vector<std::pair<std::string, std::string>>& settings);

/// Devices, switches and links: {"name", "devices"[], "switches"[], "links"[]}.
std::string cluster(const std::string& name);
std::string cluster_toml(const std::string& name);

/// A name, and the places of its points.
using Series = std::tuple<std::string, std::vector<double>, std::vector<double>>;
/// `kind`: lines or bars.
std::string chart(const std::string& kind, const std::string& x_label, const std::string& y_label,
                  const std::vector<std::string>& categories, const std::vector<Series>& series);

/// As people write it, in the unit that the key says; a number without one with its digits.
std::string format_value(const std::string& key, double value);

}  // namespace strata::python
