#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/manual.h"

namespace strata {
namespace {

// What is the same whatever the commands are. A shell function has no values to return, so the
// tables below set `words`, `endings` and `list` of their caller.
constexpr std::string_view kBashEngine = R"bash(
# The words up to the cursor, those that bash splits at : and = put together again.
_strata_typed() {
  local i glue=no word
  typed=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 0)) && [[ $glue == yes || $word == [:=]* ]]; then
      typed[${#typed[@]} - 1]+=$word
    else
      typed+=("$word")
    fi
    if [[ $word == *[:=] ]]; then glue=yes; else glue=no; fi
  done
}

# Offers what begins with $cur: of $words, of the files that end in $endings, after the last comma
# where it is a $list.
_strata_offer() {
  local head='' ending
  if [[ $list == yes && $cur == *,* ]]; then
    head=${cur%,*},
    cur=${cur##*,}
  fi
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$cur"
    for ending in $endings; do
      case $ending in
        any) compgen -f -- "$cur" ;;
        folder) ;;
        *) compgen -f -X "!*.$ending" -- "$cur" ;;
      esac
    done
    if [[ -n $endings && $endings != any ]]; then compgen -d -- "$cur"; fi
  )
  if [[ -n $endings ]]; then compopt -o filenames 2>/dev/null; fi
  COMPREPLY=("${COMPREPLY[@]/#/$head}")
  # What stands before a colon is no part of the word that bash replaces.
  head=$head$cur
  if [[ $head == *:* && $COMP_WORDBREAKS == *:* ]]; then
    head=${head%"${head##*:}"}
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
  fi
}

_strata() {
  local typed cur path=strata place=0 i word words='' endings='' list=no
  COMPREPLY=()
  _strata_typed
  cur=${typed[${#typed[@]} - 1]}
  for ((i = 1; i < ${#typed[@]} - 1; i++)); do
    word=${typed[i]}
    if [[ $word == -* ]]; then
      if [[ $word != *=* ]] && _strata_value "$path" "$word"; then i=$((i + 1)); fi
    elif ((place == 0)) && [[ " $(_strata_commands "$path") " == *" $word "* ]]; then
      path+=" $word"
    else
      place=$((place + 1))
    fi
  done
  words='' endings='' list=no
  if ((i == ${#typed[@]})); then
    _strata_value "$path" "$word"
  elif [[ $cur == -*=* ]]; then
    word=${cur%%=*} cur=${cur#*=}
    _strata_value "$path" "$word" || return 0
  elif [[ $cur == -* ]]; then
    words=$(_strata_options "$path")
  else
    _strata_argument "$path" $((place + 1))
    if ((place == 0)); then words+=" $(_strata_commands "$path")"; fi
  fi
  _strata_offer
}

complete -F _strata strata
)bash";

std::string bash_offer(const ArgumentKind& kind) {
  return fmt::format("words='{}' endings='{}' list={}", fmt::join(kind.words, " "),
                     fmt::join(kind.endings, " "), kind.list ? "yes" : "no");
}

// FUNCTION PATH: prints what `list_of` has for the command.
template <class ListOf>
std::string bash_lists(std::string_view function, std::span<const CommandFacts> commands,
                       ListOf list_of) {
  std::string text = fmt::format("\n{}() {{\n  case $1 in\n", function);
  for (const CommandFacts& command : commands) {
    const std::vector<std::string> words = list_of(command);
    if (words.empty()) continue;
    text += fmt::format("    '{}') echo '{}' ;;\n", command.path, fmt::join(words, " "));
  }
  return text + "  esac\n}\n";
}

// FUNCTION PATH WHICH: sets what a shell may offer there; fails where nothing is known to stand.
std::string bash_offers(std::string_view function,
                        const std::map<ArgumentKind, std::vector<std::string>>& places) {
  std::string text = fmt::format("\n{}() {{\n  case \"$1 $2\" in\n", function);
  for (const auto& [kind, patterns] : places) {
    text += fmt::format("    {})\n      {}\n      ;;\n", fmt::join(patterns, " | \\\n      "),
                        bash_offer(kind));
  }
  return text + "    *) return 1 ;;\n  esac\n}\n";
}

std::string bash_values(std::span<const CommandFacts> commands) {
  std::map<ArgumentKind, std::vector<std::string>> places;
  for (const CommandFacts& command : commands) {
    for (const OptionFacts& option : command.options) {
      if (option.flag) continue;
      ArgumentKind kind = option.value;
      kind.placeholder.clear();
      for (const std::string& name : option.names) {
        places[kind].push_back(fmt::format("'{} {}'", command.path, name));
      }
    }
  }
  return bash_offers("_strata_value", places);
}

std::string bash_arguments(std::span<const CommandFacts> commands) {
  std::map<ArgumentKind, std::vector<std::string>> places;
  for (const CommandFacts& command : commands) {
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      ArgumentKind kind = command.arguments[i].value;
      kind.placeholder.clear();
      for (std::size_t at = i + 1; at < 10; ++at) {
        places[kind].push_back(fmt::format("'{} {}'", command.path, at));
        if (!command.arguments[i].repeatable) break;
      }
    }
  }
  return bash_offers("_strata_argument", places);
}

}  // namespace

std::string bash_completion(std::span<const CommandFacts> commands) {
  std::string text = "# bash completion of strata, made from its commands\n";
  text += bash_lists("_strata_commands", commands,
                     [](const CommandFacts& command) { return command.commands; });
  text += bash_lists("_strata_options", commands, [](const CommandFacts& command) {
    std::vector<std::string> names;
    for (const OptionFacts& option : command.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
  });
  text += bash_values(commands) + bash_arguments(commands);
  return text + std::string(kBashEngine);
}

}  // namespace strata
