#pragma once

// How many hosts and devices a cluster has, told by its name. Pure; thread-safe.

#include <optional>
#include <string>
#include <string_view>

namespace strata {

/// Before the number of devices that a rack's NVLink joins.
inline constexpr std::string_view kNvl = "NVL";

/// The size in a preset's name: "p100-4x4", "gb200-2xNVL72", "dgx1-p100-2", "cpu:4". Nothing for
/// files.
struct NamedSize {
  std::string family;
  std::optional<int> hosts, devices;  ///< devices: of a host
  bool racks = false;                 ///< `hosts` are racks, whose devices NVLink joins
  std::string name() const;
  bool operator==(const NamedSize&) const = default;
};
std::optional<NamedSize> named_size(std::string_view cluster);

/// A whole number from 1 on; nothing for other texts.
std::optional<int> count_in(std::string_view text);

}  // namespace strata
