#include "sim/strategy/config_text.h"

#include <fmt/format.h>

namespace strata {

std::string config_text(const Degrees& degrees) {
  std::string text;
  for (Dim dim : kDims) {
    if (degrees[dim] == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name(dim), degrees[dim]);
  }
  if (degrees.r > 1) {
    text +=
        fmt::format("{}r={} scatter={}", text.empty() ? "" : " ", degrees.r, name(degrees.scatter));
  }
  return text.empty() ? "one device" : text;
}

std::string config_text(const Config& config) {
  const bool usual = config == config_on_first_devices(config.degrees);
  return config_text(config.degrees) + (usual ? "" : ", placed");
}

}  // namespace strata
