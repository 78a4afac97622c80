#pragma once

// One side of a phase map: a number of a case, at several values. Pure; thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

inline constexpr std::string_view kBatchKey = "batch", kBatchPerDeviceKey = "batch_per_device",
                                  kHostsKey = "hosts", kDevicesPerHostKey = "devices_per_host";

/// `key`: one of those above, or a what-if's (WhatIfs). Hosts and devices are those in the name of
/// a preset cluster. `values`: as texts, "64" or "0.5x".
struct MapAxis {
  std::string key;
  std::vector<std::string> values;

  bool operator==(const MapAxis&) const = default;
};

/// The case with this value in place of its own. Throws InputError for a key that is unknown, that
/// the case has not, or that takes no such value; what a what-if makes of it shows when it is
/// loaded.
CaseRequest with_value(CaseRequest request, const std::string& key, const std::string& value);

/// What a map of the case can have at its sides, with usual values: the bandwidths of its kinds of
/// links (the last one is that between hosts, where there are some) from an eighth to eight times
/// what they are, the batch (of a device, or of all), and the sizes that its cluster's name has.
/// The strategies differ in none where there is one device.
std::vector<MapAxis> usual_axes(const CaseRequest& request, const Cluster& cluster);

/// Whether two axes would change one number of the case: the same key, or both of them a batch.
bool is_one_number(std::string_view key, std::string_view other);

/// What a map has at its sides where nobody says, of usual_axes(): the links between hosts, else
/// those in a host; and the batch. `y`, `x`: the key at the other side, where somebody says. What
/// is that number is passed over.
MapAxis usual_x(const std::vector<MapAxis>& usual, std::string_view y = {});
MapAxis usual_y(const std::vector<MapAxis>& usual, std::string_view x = {});

/// "KEY" or "KEY=VALUE,VALUE,..."; without values those of the usual axis of the key. Throws
/// InputError.
MapAxis read_axis(const std::string& text, const std::vector<MapAxis>& usual);
/// As read_axis() takes it.
std::string print_axis(const MapAxis& axis);

/// What the text of a value stands for: a factor, a count, bytes a second; nothing for other texts.
std::optional<double> number_of(const MapAxis& axis, std::size_t value);
/// The text of a number between a value of an axis and the next one, of two digits: "2.3x"; of a
/// count, the next one after it. It lies after the first value, and at most at the next.
std::string text_between(const MapAxis& axis, std::size_t value, double number);

}  // namespace strata
