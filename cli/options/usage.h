#pragma once

// What is wrong with a command line, as `strata: error:` says it: the argument's name and what is
// allowed.

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/scenario/settings.h"

namespace strata {

/// `app` has failed to parse `arguments` with `error`.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments);

/// The line below it: where help is.
std::string usage_hint(const CLI::App& app);

/// No option or argument of the program takes an empty value: to the commands, an empty text is one
/// that was not given.
void refuse_empty_values(CLI::App& app);

/// For options that count something.
CLI::Validator whole_number(WholeRange range);
/// What whole_number() lets through.
std::int64_t read_digits(const std::string& text);

/// An option that counts something, in decimal digits: the parser's own conversion takes 064 for
/// an octal number. `value`: an integer, or an optional one.
template <class Integer>
CLI::Option* add_whole_number(CLI::App& command, const std::string& name, Integer& value,
                              WholeRange range, const std::string& help) {
  const auto set = [&value](const std::string& text) {
    if constexpr (std::integral<Integer>) {
      value = static_cast<Integer>(read_digits(text));
    } else {
      value = static_cast<typename Integer::value_type>(read_digits(text));
    }
  };
  return command.add_option_function<std::string>(name, set, help)
      ->type_name("INT")
      ->check(whole_number(range));
}

}  // namespace strata
