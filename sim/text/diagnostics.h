#pragma once

// Where in a file something is wrong, and how it is said: "FILE:LINE: what is wrong; what is
// allowed". A Diagnostics gathers what a validator finds, so that it says everything at once; what
// it throws is one InputError with a line for each error. Not thread-safe.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace strata {

struct Location {
  std::string file;
  int line = 0;  ///< from 1; 0 where the whole file is meant

  bool operator==(const Location&) const = default;
};

/// "FILE:LINE", or "FILE" alone.
std::string print(const Location& where);

[[noreturn]] void fail(const Location& where, std::string_view message);

bool is_utf8(std::string_view text);
/// Throws InputError for the first line of a file's text that is not UTF-8.
void check_utf8(std::string_view text, const std::string& file);

class Diagnostics {
 public:
  /// After this many, the rest is only counted: "and N more".
  static constexpr std::size_t kLimit = 10;

  void add(const Location& where, std::string_view message);
  /// Adds what an InputError said; each line of it is one error.
  void add(const InputError& error);

  /// Runs `action` and adds the InputError that it may end with; false if it did.
  template <class Action>
  bool attempt(Action&& action) {
    try {
      action();
      return true;
    } catch (const InputError& error) {
      add(error);
      return false;
    }
  }

  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }

  /// Throws what was gathered, if anything was, in the order in which it was added.
  void throw_if_any() const;

 private:
  void add_line(std::string line);

  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

}  // namespace strata
