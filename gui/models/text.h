#pragma once

// Numbers as the views write them: sim/text/units.h, as Qt's strings. Pure.

#include <QString>
#include <QStringList>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "sim/strategy/config_text.h"
#include "sim/text/units.h"

namespace strata::gui {

/// "12 us" as "12 µs".
inline QString in_symbols(const std::string& text) {
  return QString::fromStdString(text).replace(QLatin1String(" us"), QString::fromUtf8(" µs"));
}
inline QString human_seconds(Seconds seconds) {
  return in_symbols(format_seconds(seconds));
}
inline std::string seconds_text(Seconds seconds) {
  return human_seconds(seconds).toStdString();
}
/// "385.1 ms", "385.2 ms": both in the larger one's unit, with as many digits as tell them apart.
std::pair<QString, QString> seconds_apart(Seconds a, Seconds b);
inline QString human_bytes(Bytes bytes) {
  return QString::fromStdString(format_bytes(bytes));
}
inline QString human_rate(BytesPerSecond rate) {
  return QString::fromStdString(format_rate(rate));
}
/// "12.3 %".
inline QString human_share(double share) {
  return QString::number(share * 100, 'f', 1) + QStringLiteral(" %");
}
/// "1 layer", "9 layers".
inline QString counted(std::size_t count, const QString& thing) {
  return QStringLiteral("%1 %2%3").arg(count).arg(thing,
                                                  count == 1 ? QString() : QStringLiteral("s"));
}
/// "5 minutes ago", "1 hour ago", "12 days ago".
inline QString human_age(std::chrono::seconds age) {
  const auto seconds = static_cast<std::size_t>(std::max<std::int64_t>(age.count(), 0));
  if (seconds < 60) return QStringLiteral("just now");
  const QString since = seconds < 3600    ? counted(seconds / 60, QStringLiteral("minute"))
                        : seconds < 86400 ? counted(seconds / 3600, QStringLiteral("hour"))
                                          : counted(seconds / 86400, QStringLiteral("day"));
  return since + QStringLiteral(" ago");
}
/// "n=4 tokens=2", "one device"; ", devices 4 to 7" where it is not on the cluster's first ones.
inline QString human_config(const Graph& graph, std::span<const LayerId> layers,
                            const Config& config) {
  return QString::fromStdString(config_text(graph, layers, config));
}
inline QString human_config(const Graph& graph, LayerId layer, const Config& config) {
  return human_config(graph, std::span(&layer, 1), config);
}

/// A layer's output: "128 × 64 × 112 × 112", "8 × 768 × 1024 tokens".
inline QString human_output(const Graph& graph, LayerId layer) {
  const Extents& output = graph[layer].output;
  QStringList text;
  for (const Dim dim : kDims) {
    if (output[dim] > 1 || dim == Dim::n || dim == Dim::c) text << QString::number(output[dim]);
  }
  const bool tokens = output[Dim::w] > 1 && dim_words(graph, layer, Dim::w).name == "tokens";
  return text.join(QStringLiteral(" × ")) + (tokens ? QStringLiteral(" tokens") : QString());
}

}  // namespace strata::gui
