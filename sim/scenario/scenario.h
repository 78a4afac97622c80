#pragma once

// A scenario: what-ifs to be answered, as lists of values whose products are cases (docs/
// scenarios.md has the file's form). Everything a case depends on is text here; the study that
// answers it knows what the texts mean. Values; thread-safe to read.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/diagnostics.h"

namespace strata {

/// What a file may ask for: values of one axis, values of all axes, and cases.
inline constexpr std::size_t kMaxAxisValues = 1'000'000;
inline constexpr std::size_t kMaxValues = 2'000'000;
inline constexpr std::size_t kMaxCases = 10'000'000;
/// What a file, or the rest of it, may still ask for.
struct ScenarioRoom {
  std::size_t values = kMaxValues;
  std::size_t cases = kMaxCases;
};

/// What is done with a case.
enum class Job : std::uint8_t { predict, solve, run };
std::string_view name(Job job);

/// "model" and "vgg16"; of a what-if, "set.link.inter.bandwidth" and "2x". Texts are as a command
/// line would have them.
struct Setting {
  std::string key, value;
  bool operator==(const Setting&) const = default;
  auto operator<=>(const Setting&) const = default;
};

/// Values that are taken in turn. Several keys advance together (`zip`); most axes have one.
struct Axis {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  ///< by place, then key
  Location where;
  std::vector<int> lines;  ///< of the values, in the same order

  /// Of the value that keys[key] has at a place.
  Location location(std::size_t place, std::size_t key) const;
  bool operator==(const Axis& other) const { return keys == other.keys && values == other.values; }
};

/// One [[sweep]]: the product of its axes, the last one fastest. Settings with a single value are
/// axes of one place.
struct Sweep {
  std::string name;
  Job job = Job::predict;
  std::vector<Axis> axes;
  Location where;

  /// How many cases.
  std::size_t count() const;
  /// The settings of case i, in the order of the axes.
  std::vector<Setting> at(std::size_t i) const;
};

/// One [[report]]: a section of what `strata report` writes.
struct ReportSection {
  enum class Kind : std::uint8_t { text, table, lines, bars, scatter, claims };
  /// One [[report.claim]]: what somebody says, and the query whose single number is held to it.
  struct Claim {
    std::string text;
    double said = 0;   ///< the number that is claimed
    std::string unit;  ///< "x", "s", "%", ...: how numbers are printed
    std::string sql;   ///< one row, one column
    Location sql_where;
    double tolerance = 0;  ///< relative: up to here the claim is reproduced
    std::string why;       ///< what explains the difference, in words
  };

  Kind kind = Kind::table;
  std::string title, text;  ///< paragraphs are separated by empty lines
  std::string sql;          ///< over the view `cases` of this scenario; table and charts
  Location sql_where;
  /// Charts: the query's columns for x, y and what tells the series apart; `ideal`: a column with
  /// what a series would be at best, drawn as a thin line. Empty where there is none.
  std::string x, y, series, ideal;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Claim> claims;
  Location where;
};

struct Scenario {
  std::string name;
  std::string about;
  std::string file;           ///< as it was named
  std::string text;           ///< the whole file
  std::vector<Sweep> sweeps;  ///< none only where there is a report
  std::vector<ReportSection> report;

  /// Of all sweeps.
  std::size_t count() const;
};

/// Throws InputError "FILE:LINE: ..." that lists what is wrong.
Scenario read_scenario(const std::string& file);
Scenario parse_scenario(std::string_view text, const std::string& file,
                        const ScenarioRoom& room = {});

}  // namespace strata
