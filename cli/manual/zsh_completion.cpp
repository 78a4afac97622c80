#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/manual.h"

namespace strata {
namespace {

// Within single quotes, and with the characters in `special` taken as they are by _arguments.
std::string zsh_escaped(const std::string& text, std::string_view special) {
  std::string safe;
  for (char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else {
      if (special.find(c) != special.npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string function_of(const std::string& path) {
  std::string name = "_" + path;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

using Offers = std::map<ArgumentKind, std::string>;  // the functions that offer them

// What it offers, however the manual calls it.
ArgumentKind nameless(ArgumentKind kind) {
  kind.placeholder.clear();
  return kind;
}

// A function for each kind of value, since _arguments cuts its own lines at colons.
Offers offers_of(std::span<const CommandFacts> commands) {
  Offers functions;
  const auto add = [&](const OptionFacts& option) {
    if (option.value.offers()) functions.try_emplace(nameless(option.value));
  };
  for (const CommandFacts& command : commands) {
    for (const OptionFacts& option : command.options) add(option);
    for (const OptionFacts& argument : command.arguments) add(argument);
  }
  std::size_t count = 0;
  for (auto& [kind, name] : functions) name = fmt::format("_strata_offer_{}", ++count);
  return functions;
}

std::string zsh_files(const std::vector<std::string>& endings) {
  if (endings.front() == kAnyFile) return "_files";
  if (endings.front() == kFolder) return "_files -/";
  return fmt::format("_files -g \"*.({})\"", fmt::join(endings, "|"));
}

// Of a list, what follows the last comma is completed.
std::string zsh_words(const ArgumentKind& kind) {
  const std::string joined = fmt::format("{}", fmt::join(kind.words, " "));
  return kind.list ? "_sequence compadd - " + joined : "(" + joined + ")";
}

std::string zsh_offer(const ArgumentKind& kind, const std::string& function) {
  std::string text = fmt::format("\n{}() {{\n  _alternative", function);
  if (!kind.words.empty()) text += fmt::format(" \\\n    'names:name:{}'", zsh_words(kind));
  if (!kind.endings.empty())
    text += fmt::format(" \\\n    'files:file:{}'", zsh_files(kind.endings));
  return text + "\n}\n";
}

std::string zsh_value(const OptionFacts& option, const Offers& offers) {
  const auto found = offers.find(nameless(option.value));
  return fmt::format(":{}:{}", zsh_escaped(option.value.placeholder, ":"),
                     found == offers.end() ? " " : found->second);
}

std::string zsh_option_spec(const OptionFacts& option, const Offers& offers) {
  const auto typed = [&](const std::string& name) {
    return option.flag ? name : name + (name.starts_with("--") ? "=" : "+");
  };
  std::string names = "'" + typed(option.names.front());
  if (option.names.size() > 1) {
    std::vector<std::string> all;
    for (const std::string& name : option.names) all.push_back(typed(name));
    names = fmt::format("'({})'{{{}}}'", fmt::join(option.names, " "), fmt::join(all, ","));
  }
  return fmt::format(" \\\n    {}[{}]{}'", names, zsh_escaped(option.description, "[]:\\"),
                     option.flag ? "" : zsh_value(option, offers));
}

std::string zsh_argument_spec(const OptionFacts& argument, std::size_t place,
                              const Offers& offers) {
  const std::string where = argument.repeatable ? "*" : std::to_string(place);
  const std::string open = argument.required || argument.repeatable ? "" : ":";
  return fmt::format(" \\\n    '{}{}{}'", where, open, zsh_value(argument, offers));
}

std::string zsh_commands(const CommandFacts& command, std::span<const CommandFacts> all) {
  std::string list, cases;
  for (const std::string& name : command.commands) {
    const CommandFacts& facts = below(command, name, all);
    list += fmt::format("        '{}:{}'\n", name, zsh_escaped(first_line(facts.description), ""));
    cases += fmt::format("        {}) {} ;;\n", name, function_of(facts.path));
  }
  return "  case $state in\n    command)\n      local -a below=(\n" + list +
         "      )\n      _describe -t commands command below\n      ;;\n" +
         "    rest)\n      case $words[1] in\n" + cases + "      esac\n      ;;\n  esac\n";
}

std::string zsh_function(const CommandFacts& command, std::span<const CommandFacts> all,
                         const Offers& offers) {
  const bool has_commands = !command.commands.empty();
  std::string text = fmt::format("\n{}() {{\n", function_of(command.path));
  if (has_commands) text += "  local curcontext=$curcontext state state_descr line\n";
  if (has_commands) text += "  typeset -A opt_args\n";
  text += has_commands ? "  _arguments -C" : "  _arguments";
  for (const OptionFacts& option : command.options) text += zsh_option_spec(option, offers);
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    text += zsh_argument_spec(command.arguments[i], i + 1, offers);
  }
  if (has_commands) text += " \\\n    '1:command:->command' '*::argument:->rest'";
  return text + "\n" + (has_commands ? zsh_commands(command, all) : "") + "}\n";
}

}  // namespace

std::string zsh_completion(std::span<const CommandFacts> commands) {
  const Offers offers = offers_of(commands);
  std::string text = "#compdef strata\n# zsh completion of strata, made from its commands\n";
  for (const auto& [kind, name] : offers) text += zsh_offer(kind, name);
  for (const CommandFacts& command : commands) text += zsh_function(command, commands, offers);
  return text + "\n_strata \"$@\"\n";
}

}  // namespace strata
