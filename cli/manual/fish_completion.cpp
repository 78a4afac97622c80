#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/manual.h"

namespace strata {
namespace {

constexpr std::string_view kFishEngine = R"fish(
# The command that the line has come to: strata, or strata predict.
function __strata_path
    set -l path strata
    set -l typed (commandline -opc)
    for word in $typed[2..-1]
        if contains -- "$path $word" $__strata_commands
            set path "$path $word"
        end
    end
    echo $path
end

function __strata_at
    test (__strata_path) = "$argv"
end

# __strata_offer WORDS ENDINGS [list]: words, and files that end so; in a list, after its last comma.
function __strata_offer
    set -l head
    if contains -- list $argv[3..-1]
        set head (commandline -ct | string replace -r -- '^--[^=]*=' '' | string match -r '.*,')
    end
    for word in (string split -n ' ' -- $argv[1])
        echo "$head$word"
    end
    for ending in (string split -n ' ' -- $argv[2])
        switch $ending
            case any
                __fish_complete_path (commandline -ct)
            case folder
                __fish_complete_directories (commandline -ct)
            case '*'
                __fish_complete_suffix .$ending
        end
    end
end

complete -c strata -f
)fish";

std::string fish_quoted(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return "'" + safe + "'";
}

std::string fish_offer(const ArgumentKind& kind) {
  return fmt::format("\"(__strata_offer '{}' '{}'{})\"", fmt::join(kind.words, " "),
                     fmt::join(kind.endings, " "), kind.list ? " list" : "");
}

std::string fish_start(const CommandFacts& command) {
  return fmt::format("complete -c strata -n \"__strata_at {}\"", command.path);
}

std::string fish_option_line(const CommandFacts& command, const OptionFacts& option) {
  std::string text = fish_start(command);
  for (const std::string& name : option.names) {
    const bool full = name.starts_with("--");
    text += full ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.flag) text += " -x";
  if (option.value.offers()) text += " -a " + fish_offer(option.value);
  return text + " -d " + fish_quoted(option.description) + "\n";
}

std::string fish_argument_line(const CommandFacts& command, const OptionFacts& argument) {
  if (!argument.value.offers()) return "";
  return fish_start(command) + " -a " + fish_offer(argument.value) + "\n";
}

std::string fish_command_line(const CommandFacts& command, const std::string& name,
                              std::span<const CommandFacts> all) {
  const CommandFacts& facts = below(command, name, all);
  return fish_start(command) + " -a " + name + " -d " + fish_quoted(first_line(facts.description)) +
         "\n";
}

}  // namespace

std::string fish_completion(std::span<const CommandFacts> commands) {
  std::vector<std::string> paths;
  for (const CommandFacts& command : commands) paths.push_back(fish_quoted(command.path));
  std::string text = "# fish completion of strata, made from its commands\n\n";
  text += fmt::format("set -g __strata_commands {}\n{}", fmt::join(paths, " "), kFishEngine);
  for (const CommandFacts& command : commands) {
    text += "\n";
    for (const std::string& name : command.commands)
      text += fish_command_line(command, name, commands);
    for (const OptionFacts& option : command.options) text += fish_option_line(command, option);
    for (const OptionFacts& argument : command.arguments)
      text += fish_argument_line(command, argument);
  }
  return text;
}

}  // namespace strata
