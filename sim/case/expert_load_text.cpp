#include "sim/case/expert_load_text.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/text/file.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::string_view kBalanced = "balanced", kZipf = "zipf:";
constexpr double kMostExponent = 10;
constexpr double kMostCount = 1e18;  // no sum of counts is infinite

double read_exponent(std::string_view text) {
  try {
    const double exponent = parse_number(text.substr(kZipf.size()));
    if (exponent >= 0 && exponent <= kMostExponent) return exponent;
  } catch (const InputError&) {  // said below, with what is allowed
  }
  throw InputError(fmt::format("'{}' is not a load of experts; expected zipf:S with S from 0 to {}",
                               text, kMostExponent));
}

double read_count(std::string_view word, const std::string& file, std::size_t line) {
  try {
    const double count = parse_number(word);
    if (count >= 0 && count <= kMostCount) return count;
  } catch (const InputError&) {  // said below, with its place
  }
  throw InputError(
      fmt::format("{}:{}: '{}' is not a count of tokens; expected a number from 0 "
                  "to {:g}",
                  file, line, word, kMostCount));
}

// Numbers between blanks, commas and ends of lines; what follows a # is a comment.
std::vector<double> read_counts(const std::string& file) {
  const std::string text = read_file(file);
  std::vector<double> counts;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    line = line.substr(0, line.find('#'));
    ++number;
    constexpr std::string_view kBetween = " \t\r,";
    for (std::size_t at = 0; (at = line.find_first_not_of(kBetween, at)) != line.npos;) {
      const std::size_t last = std::min(line.find_first_of(kBetween, at), line.size());
      counts.push_back(read_count(line.substr(at, last - at), file, number));
      at = last;
    }
    begin = end + 1;
  }
  return counts;
}

bool is_file(std::string_view value) {
  return value != kBalanced && !value.starts_with(kZipf);
}

}  // namespace

ExpertLoad read_expert_load(const std::string& text) {
  if (text == kBalanced) return BalancedLoad{};
  if (!is_file(text)) return ZipfLoad{read_exponent(text)};
  if (!std::filesystem::exists(text)) {
    throw InputError(fmt::format(
        "'{}' is not a load of experts; expected balanced, zipf:S or a file of counts", text));
  }
  return CountedLoad{read_counts(text)};
}

bool names_counts(std::string_view key, std::string_view value) {
  return key == "experts.load" && is_file(value);
}

std::string seen_from(const std::string& folder, std::string_view key, const std::string& value) {
  return names_counts(key, value) ? (std::filesystem::path(folder) / value).string() : value;
}

}  // namespace strata
