#pragma once

// A command line as its manual and the shells' completions see it: every command with its whole
// name, and what it takes, read from the application that parses it. Hidden options are left out.

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace strata {

inline constexpr char kAnyFile[] = "any", kFolder[] = "folder";

/// What stands where an option takes a value: how the manual writes it, and what a shell offers.
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

struct OptionFacts {
  std::vector<std::string> names;  ///< "-o", "--output"; a positional argument's alone
  std::string description;
  std::string group;
  bool required = false;
  bool repeatable = false;  ///< an argument that stands for any number of words
  bool flag = false;        ///< takes no value; `value` is empty
  ArgumentKind value;
};

struct CommandFacts {
  std::string path;  ///< "strata", "strata predict"
  std::string description;
  std::vector<OptionFacts> arguments;  ///< by position
  std::vector<OptionFacts> options;
  std::vector<std::string> commands;  ///< the names of those below it
};

/// The application's own, then every command's, each before those below it.
std::vector<CommandFacts> commands_of(const CLI::App& app);

/// The command of that name below `command`; it is there.
const CommandFacts& below(const CommandFacts& command, const std::string& name,
                          std::span<const CommandFacts> all);

/// A text's first line.
std::string first_line(const std::string& text);

}  // namespace strata
