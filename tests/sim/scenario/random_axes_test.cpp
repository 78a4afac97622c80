// Scenarios of random axes against nested loops, which here are recursion over a list of keys.

#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/scenario/case_lines.h"

namespace strata {
namespace {

struct RandomAxis {
  std::vector<std::string> keys;  // several advance together
  std::size_t size = 1;
};

std::string value_at(std::size_t place) {
  return fmt::format("v{}", place);
}

std::string list_of(std::size_t size) {
  std::string text = "[";
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("\"{}\", ", value_at(i));
  return text + "]";
}

/// Up to five axes of what-ifs, of up to four places and three keys.
std::vector<RandomAxis> random_axes(std::mt19937& random) {
  std::vector<RandomAxis> axes(1 + random() % 5);
  int keys = 0;
  for (RandomAxis& axis : axes) {
    axis.size = 1 + random() % 4;
    const std::size_t together = 1 + random() % 3;
    for (std::size_t k = 0; k < together; ++k) axis.keys.push_back(fmt::format("k{}", keys++));
  }
  return axes;
}

/// The first keys of axes stand in their order; those that are zipped with them stand anywhere.
std::string file_of(const std::vector<RandomAxis>& axes, std::mt19937& random) {
  std::vector<std::string> lines;
  std::string zips;
  for (const RandomAxis& axis : axes) {
    const auto line = [&](const std::string& key) { return key + " = " + list_of(axis.size); };
    lines.push_back(line(axis.keys.front()));
    if (axis.keys.size() == 1) continue;
    for (std::size_t k = 1; k < axis.keys.size(); ++k) {
      const auto at = static_cast<std::ptrdiff_t>(random() % (lines.size() + 1));
      lines.insert(lines.begin() + at, line(axis.keys[k]));
    }
    std::string zip;
    for (const std::string& key : axis.keys) zip += fmt::format("\"set.{}\", ", key);
    zips += fmt::format("[{}], ", zip);
  }
  return fmt::format(
      "[[sweep]]\nmodel = \"m\"\ncluster = \"c\"\nstrategy = \"data\"\nzip = "
      "[{}]\n[sweep.set]\n{}\n",
      zips, fmt::join(lines, "\n"));
}

/// One loop inside the other.
void loop(const std::vector<RandomAxis>& axes, std::size_t depth, const std::string& head,
          std::string& lines) {
  if (depth == axes.size()) {
    lines += head + "\n";
    return;
  }
  for (std::size_t place = 0; place < axes[depth].size; ++place) {
    std::string line = head;
    for (const std::string& key : axes[depth].keys) {
      line += fmt::format(" set.{}={}", key, value_at(place));
    }
    loop(axes, depth + 1, line, lines);
  }
}

TEST(RandomAxes, AreTheNestedLoops) {
  constexpr std::uint32_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<RandomAxis> axes = random_axes(random);
    const std::string text = file_of(axes, random);
    const Scenario scenario = parse_scenario(text, "s.toml");
    std::string expected;
    loop(axes, 0, "model=m cluster=c strategy=data", expected);
    EXPECT_EQ(case_lines(scenario.sweeps.at(0)), expected) << text;
    EXPECT_EQ(scenario.count(), static_cast<std::size_t>(std::ranges::count(expected, '\n')));
  }
}

}  // namespace
}  // namespace strata
