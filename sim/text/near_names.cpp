#include "sim/text/near_names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace strata {
namespace {

constexpr std::size_t kMostNames = 3;

/// Letters to replace, insert and leave out (Levenshtein 1966), row by row of the table.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::size_t common_letters(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

struct Candidate {
  std::string_view name;
  std::size_t edits = 0, common = 0;
};

}  // namespace

std::vector<std::string_view> near_names(std::string_view name,
                                         std::span<const std::string_view> known) {
  const std::size_t most = std::max<std::size_t>(1, name.size() / 3);
  std::vector<Candidate> near;
  for (std::string_view each : known) {
    const Candidate candidate{each, edits(name, each), common_letters(name, each)};
    if (candidate.edits <= most && candidate.edits < name.size()) near.push_back(candidate);
  }
  std::ranges::stable_sort(near, [](const Candidate& a, const Candidate& b) {
    return a.edits != b.edits ? a.edits < b.edits : a.common > b.common;
  });
  std::vector<std::string_view> names;
  for (const Candidate& each : near) {
    if (names.size() < kMostNames) names.push_back(each.name);
  }
  return names;
}

}  // namespace strata
