#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/strategy/schedule.h"
#include "sim/text/file.h"
#include "sim/text/split.h"

namespace strata {
namespace {

// Reads the number at the front of the text, and takes it away.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Takes what stands at both ends away, if it does.
bool take_from_between(std::string_view begin, std::string_view end, std::string_view& text) {
  if (!text.starts_with(begin) || !text.ends_with(end)) return false;
  text.remove_prefix(begin.size());
  text.remove_suffix(end.size());
  return true;
}

std::optional<Instance> parse_instance(std::string_view text) {
  const auto chunk = take_number(text);
  if (!chunk || text.empty()) return std::nullopt;
  const std::size_t letter = kPassLetters.find(text.front());
  text.remove_prefix(1);
  const auto round = take_number(text);
  if (letter == std::string_view::npos || !round || !text.empty()) return std::nullopt;
  return Instance{*chunk, *round, static_cast<Pass>(letter)};
}

}  // namespace

Schedule read_schedule(const std::string& file) {
  const std::string content = read_file(file);
  Schedule schedule;
  std::size_t number = 0;
  for (std::string_view line : split(content, '\n')) {
    ++number;
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    std::vector<Instance>& order = schedule.emplace_back();
    for (std::string_view field : split(line, ',')) {
      field = trimmed(field);
      if (field.empty()) continue;
      bool beside = false;
      const bool overlaps = take_from_between("(", ")OVERLAP_F_B", field);
      for (const std::string_view one : overlaps ? split(field, ';') : std::vector{field}) {
        const auto instance = parse_instance(trimmed(one));
        if (!instance) {
          throw InputError(fmt::format(
              "{}:{}: '{}' is no instance; allowed: a chunk, F, B, I or W, and a round: 0F3", file,
              number, trimmed(one)));
        }
        order.push_back(*instance);
        order.back().beside = std::exchange(beside, true);
      }
    }
  }
  return schedule;
}

}  // namespace strata
