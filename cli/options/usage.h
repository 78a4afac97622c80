#pragma once

// What is wrong with a command line, as `strata: error:` says it: the argument's name and what is
// allowed.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace strata {

/// `app` has failed to parse `arguments` with `error`.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments);

/// The line below it: where help is.
std::string usage_hint(const CLI::App& app);

/// For options that name a file: the empty name is refused.
CLI::Validator named_file();

/// For options that count something.
CLI::Validator whole_number(std::int64_t min, std::int64_t max);

}  // namespace strata
