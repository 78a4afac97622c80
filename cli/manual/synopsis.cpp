#include "cli/manual/synopsis.h"

#include <algorithm>

namespace strata {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  facts.names = names_of(option);
  facts.description = option.get_description();
  facts.group = option.get_group();
  facts.required = option.get_required();
  facts.repeatable = option.get_positional() && option.get_items_expected_max() > 1;
  facts.flag = option.get_items_expected_max() == 0;
  if (!facts.flag) facts.value = value_kind(facts.names.back(), option.get_type_name());
  return facts;
}

// Of the command and of the option groups within it, which have no name, and a --help of their own
// that nobody reaches.
void add_options(const CLI::App& command, CommandFacts& facts) {
  for (const CLI::Option* option : command.get_options()) {
    const bool unreached = command.get_name().empty() && option == command.get_help_ptr();
    if (option->get_group().empty() || unreached) continue;
    auto& list = option->get_positional() ? facts.arguments : facts.options;
    list.push_back(facts_of(*option));
  }
  for (const CLI::App* group : command.get_subcommands(nullptr)) {
    if (group->get_name().empty()) add_options(*group, facts);
  }
}

void add_commands(const CLI::App& command, const std::string& above,
                  std::vector<CommandFacts>& all) {
  CommandFacts facts;
  facts.path = above + command.get_name();
  facts.description = command.get_description();
  add_options(command, facts);
  std::vector<const CLI::App*> below;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) {
    if (sub->get_name().empty() || sub->get_group().empty()) continue;
    facts.commands.push_back(sub->get_name());
    below.push_back(sub);
  }
  const std::string path = facts.path + " ";
  all.push_back(std::move(facts));
  for (const CLI::App* sub : below) add_commands(*sub, path, all);
}

}  // namespace

std::vector<CommandFacts> commands_of(const CLI::App& app) {
  std::vector<CommandFacts> all;
  add_commands(app, "", all);
  return all;
}

const CommandFacts& below(const CommandFacts& command, const std::string& name,
                          std::span<const CommandFacts> all) {
  const std::string path = command.path + " " + name;
  return *std::find_if(all.begin(), all.end(),
                       [&](const auto& other) { return other.path == path; });
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace strata
