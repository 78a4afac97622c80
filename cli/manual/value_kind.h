#pragma once

// What stands where an option takes a value: how the manual writes it, and what a shell offers.

#include <string>
#include <vector>

namespace strata {

inline constexpr char kAnyFile[] = "any", kFolder[] = "folder";

struct ArgumentKind {
  std::string placeholder;           ///< "CLUSTER", "FILE", "N"
  std::vector<std::string> words;    ///< known ones
  std::vector<std::string> endings;  ///< of files that it may name: "toml"; or kAnyFile, kFolder
  bool list = false;                 ///< several of them, with commas between

  bool offers() const { return !words.empty() || !endings.empty(); }
  auto operator<=>(const ArgumentKind&) const = default;
};

/// Of the option or the argument with that name, whose type CLI11 calls `type`. Throws
/// InternalError for text of which nothing is known, so that no shell offers files for what is
/// none.
ArgumentKind value_kind(const std::string& name, const std::string& type);

}  // namespace strata
