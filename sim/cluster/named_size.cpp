#include "sim/cluster/named_size.h"

#include <charconv>

#include <fmt/format.h>

namespace strata {
std::optional<int> count_in(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1) return std::nullopt;
  return count;
}

std::string NamedSize::name() const {
  if (family == "cpu") return fmt::format("cpu:{}", devices.value_or(1));
  if (devices) {
    return fmt::format("{}-{}x{}{}", family, hosts.value_or(1), racks ? kNvl : "", *devices);
  }
  return hosts.value_or(1) == 1 ? family : fmt::format("{}-{}", family, *hosts);
}

std::optional<NamedSize> named_size(std::string_view cluster) {
  if (cluster.ends_with(".toml")) return std::nullopt;
  if (cluster.starts_with("cpu:")) {
    const auto devices = count_in(cluster.substr(4));
    if (devices) return NamedSize{"cpu", std::nullopt, devices};
    return std::nullopt;
  }
  const std::size_t dash = cluster.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string family(cluster.substr(0, dash));
  const std::string_view size = cluster.substr(dash + 1);
  const std::size_t x = size.find('x');
  if (x != std::string_view::npos) {
    const bool racks = size.substr(x + 1).starts_with(kNvl);
    const auto hosts = count_in(size.substr(0, x));
    const auto devices = count_in(size.substr(x + 1 + (racks ? kNvl.size() : 0)));
    if (hosts && devices) return NamedSize{family, hosts, devices, racks};
  }
  const auto hosts = count_in(size);
  return NamedSize{hosts ? family : std::string(cluster), hosts.value_or(1), std::nullopt};
}

}  // namespace strata
