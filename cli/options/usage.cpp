#include "cli/options/usage.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace strata {
namespace {

std::string command_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

// The innermost: of "strata export trace", trace.
const CLI::App* chosen_command(const CLI::App& app) {
  const CLI::App* command = nullptr;
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = command->get_subcommands()) {
    command = chosen.front();
  }
  return command;
}

// "export trace"
std::string typed_name(const CLI::App& app, const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  const std::string& name = command.get_name();
  return parent == &app ? name : typed_name(app, *parent) + " " + name;
}

std::string no_command(const CLI::App& app, const std::string& unknown) {
  return fmt::format(
      "{}; allowed: {}",
      unknown.empty() ? "a command is missing" : fmt::format("unknown command '{}'", unknown),
      command_names(app));
}

// The first in the order of the command line, which CLI11 does not keep.
std::string first_unknown(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> unknown = app.remaining(true);
  const auto is_unknown = [&](const std::string& argument) {
    return std::find(unknown.begin(), unknown.end(), argument) != unknown.end();
  };
  const auto first = std::find_if(arguments.begin(), arguments.end(), is_unknown);
  if (first != arguments.end()) return *first;
  return unknown.empty() ? "" : unknown.front();
}

// CLI11 says "--name: ..." where a value is missing or comes too often, "name ..." where one is not
// wanted.
std::string wrong_count(const CLI::App& command, const std::string& what) {
  const std::string name = what.substr(0, what.find_first_of(": "));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) return fmt::format("--{} takes no value", name);
  if (option->count() > 1) {
    return fmt::format("{} is given {} times; allowed: once", name, option->count());
  }
  return fmt::format("{} needs a value: {}", name, option->get_description());
}

std::optional<std::int64_t> whole(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return std::nullopt;
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments) {
  const std::string unknown = first_unknown(app, arguments);
  const CLI::App* command = chosen_command(app);
  if (command == nullptr) return no_command(app, unknown);
  const std::string name = typed_name(app, *command);
  if (!command->get_subcommands({}).empty()) {
    return fmt::format("{}: {}", name, no_command(*command, unknown));
  }
  // What is missing may well be what was misspelt.
  if (!unknown.empty()) return fmt::format("{}: unexpected argument '{}'", name, unknown);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return fmt::format("{}: {}", name, wrong_count(*command, error.what()));
  }
  return fmt::format("{}: {}", name, error.what());
}

std::string usage_hint(const CLI::App& app) {
  const CLI::App* command = chosen_command(app);
  if (command == nullptr) return "strata --help says what each command does";
  return fmt::format("strata {} --help lists what is allowed", typed_name(app, *command));
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    const std::string error =
        fmt::format("'' is no value; it needs one: {}", option->get_description());
    option->check([error](const std::string& text) { return text.empty() ? error : ""; });
  }
  for (CLI::App* command : app.get_subcommands(nullptr)) refuse_empty_values(*command);
}

CLI::Validator whole_number(WholeRange range) {
  const auto check = [range](const std::string& text) {
    const auto value = whole(text);
    if (value && *value >= range.least && *value <= range.most) return std::string();
    return fmt::format("'{}' is no whole number from {} to {}", text, range.least, range.most);
  };
  return CLI::Validator(check, "");
}

std::int64_t read_digits(const std::string& text) {
  return whole(text).value();
}

}  // namespace strata
