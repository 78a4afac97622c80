#pragma once

// Numbers as the views write them: sim/text/units.h, as Qt's strings. Pure.

#include <QString>

#include "sim/strategy/strategy.h"
#include "sim/text/units.h"

namespace strata::gui {

inline QString human_seconds(Seconds seconds) {
  return QString::fromStdString(format_seconds(seconds)).replace(QLatin1String(" us"), QString::fromUtf8(" µs"));
}
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
/// "n=4 c=2", "one device"; ", placed" where it is not on the cluster's first devices.
inline QString human_config(const Config& config) {
  QStringList cuts;
  for (const Dim dim : kDims) {
    if (config.degrees[dim] == 1) continue;
    cuts << QStringLiteral("%1=%2")
                .arg(QLatin1String(name(dim).data(), 1))
                .arg(config.degrees[dim]);
  }
  const bool usual = config == config_on_first_devices(config.degrees);
  return (cuts.isEmpty() ? QStringLiteral("one device") : cuts.join(QLatin1Char(' '))) +
         (usual ? QString() : QStringLiteral(", placed"));
}

}  // namespace strata::gui
