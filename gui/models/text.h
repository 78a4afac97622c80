#pragma once

// Numbers as the views write them: sim/text/units.h, as Qt's strings. Pure.

#include <QString>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
/// "n=4 c=2", "one device"; ", placed" where it is not on the cluster's first devices.
inline QString human_config(const Config& config) {
  return QString::fromStdString(config_text(config));
}

}  // namespace strata::gui
