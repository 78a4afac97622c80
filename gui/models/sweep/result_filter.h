#pragma once

// Which rows of a ResultSet are shown: those that a typed text and all brushes let pass. Columns
// are named, so that a filter outlives the rows that come while a sweep runs. Values; pure.
//
// A text is words with blanks between them, and a row passes that has them all: "owt" anywhere in a
// column of words, or a comparison with a column that may be shortened, "step<50ms" or
// "devices>=4".

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/sweep/result_set.h"

namespace strata::gui {

/// What passes of a column: numbers from low to high, or some words.
struct Brush {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> words;  ///< of a column of words; numbers pass as the two above say
  bool operator==(const Brush&) const = default;
};

/// What lies between two values of a column, or between two words' places, whichever is lower.
Brush brush_between(const ResultColumn& column, double a, double b);

struct ResultFilter {
  std::string text;
  std::map<std::string, Brush> brushes;  ///< by column; one that is not there lets all pass
  bool empty() const { return text.empty() && brushes.empty(); }
  bool operator==(const ResultFilter&) const = default;
};

/// Ascending.
std::vector<std::uint32_t> passing(const ResultSet& results, const ResultFilter& filter);

/// What is wrong with the text: "no column begins with 'stpe'; allowed: step_seconds, ...", or
/// empty.
std::string filter_error(const ResultSet& results, const std::string& text);

/// The same as conditions of SQL over the view `cases`: " WHERE ..."; empty where all pass. What
/// SQL cannot say of a text is left out.
std::string where_clause(const ResultSet& results, const ResultFilter& filter);

}  // namespace strata::gui
