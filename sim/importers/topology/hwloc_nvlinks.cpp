#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/importers/topology/hwloc_parts.h"
#include "sim/text/split.h"

namespace strata {
namespace {

constexpr std::string_view kNvLinkDistances = "NVLinkBandwidth", kPciDevice = "PCIDev";

struct End {
  std::uint64_t index = 0;
  bool pci = false;
};

std::vector<std::string_view> words_in(const XmlElement& distances, std::string_view name) {
  std::vector<std::string_view> all;
  for (const XmlElement& element : distances.children(name)) {
    for (const std::string_view word : split_at_blanks(element.content())) all.push_back(word);
  }
  return all;
}

std::uint64_t parse_number(const XmlElement& distances, std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) return number;
  distances.fail(fmt::format("'{}' is no whole number", word));
}

// "21", or "OSDev:21" where types are mixed.
std::vector<End> read_ends(const XmlElement& distances, bool mixed) {
  std::vector<End> ends;
  for (const std::string_view word : words_in(distances, "indexes")) {
    const std::size_t colon = word.find(':');
    if (mixed && colon == word.npos) {
      distances.fail(fmt::format("'{}'; allowed: TYPE:INDEX, as OSDev:21", word));
    }
    const std::string_view number = mixed ? word.substr(colon + 1) : word;
    ends.push_back({parse_number(distances, number), mixed && word.substr(0, colon) == kPciDevice});
  }
  return ends;
}

std::vector<std::uint64_t> read_values(const XmlElement& distances, std::size_t ends) {
  std::vector<std::uint64_t> values;
  for (const std::string_view word : words_in(distances, "u64values")) {
    values.push_back(parse_number(distances, word));
  }
  if (values.size() == ends * ends) return values;
  distances.fail(fmt::format("there are {} values; allowed: {} for {} objects", values.size(),
                             ends * ends, ends));
}

class NvLinkReader {
 public:
  NvLinkReader(const std::vector<Part>& parts, const HwlocIndex& index)
      : parts_(parts), index_(index) {}

  // In the order of the indexes; rows go from, columns to.
  void read(const XmlElement& distances, bool mixed) {
    if (distances.text_or("name", "") != kNvLinkDistances) return;
    const std::vector<End> ends = read_ends(distances, mixed);
    const std::vector<std::uint64_t> values = read_values(distances, ends.size());
    for (std::size_t a = 0; a < ends.size(); ++a) {
      const std::optional<std::size_t> from = part_of(ends[a]);
      if (!from && !ends[a].pci) ++found_.strangers;
      if (!from || parts_[*from].kind != PartKind::gpu) continue;
      add_row(*from, ends, {values.data() + a * ends.size(), ends.size()});
    }
  }

  HwlocNvLinks take() { return std::move(found_); }

 private:
  std::optional<std::size_t> part_of(const End& end) const {
    const auto found = index_.find(end.index);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  void add_row(std::size_t gpu, const std::vector<End>& ends,
               std::span<const std::uint64_t> values) {
    double to_switches = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      const double rate = static_cast<double>(values[b]) * 1e6;
      const std::optional<std::size_t> to = part_of(ends[b]);
      if (!to && ends[b].pci) to_switches += rate;
      if (!to || *to == gpu || rate == 0) continue;
      found_.links.push_back({gpu, *to, BytesPerSecond{rate}});
    }
    if (to_switches > 0) found_.links.push_back({gpu, kNoPart, BytesPerSecond{to_switches}});
  }

  const std::vector<Part>& parts_;
  const HwlocIndex& index_;
  HwlocNvLinks found_;
};

}  // namespace

HwlocNvLinks read_hwloc_nvlinks(const XmlElement& topology, const std::vector<Part>& parts,
                                const HwlocIndex& index) {
  NvLinkReader reader(parts, index);
  for (const XmlElement& each : topology.children("distances2")) reader.read(each, false);
  for (const XmlElement& each : topology.children("distances2hetero")) reader.read(each, true);
  return reader.take();
}

}  // namespace strata
