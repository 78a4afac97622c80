#include "cli/output/provenance.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include <fmt/chrono.h>
#include <unistd.h>

namespace strata {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";

// Within single quotes a shell takes everything as it is, but for the quote itself.
std::string shell_quoted(std::string_view argument) {
  if (!argument.empty() && argument.find_first_not_of(kPlain) == argument.npos) {
    return std::string(argument);
  }
  std::string text = "'";
  for (char c : argument) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// As a shell splits what shell_quoted() wrote.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool within = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ' && !within) {
      words.emplace_back();
      continue;
    }
    words.back() += c;
    if (c == '\'') within = !within;
    if (c == '\\' && !within) words.back() += command[++i];
  }
  return words;
}

bool says(const std::string& word, const std::string& option) {
  return word == option || word.starts_with(option + "=");
}

}  // namespace

std::string command_line(int argc, const char* const* argv) {
  std::string text = "strata";
  for (int i = 1; i < argc; ++i) text += " " + shell_quoted(argv[i]);
  return text;
}

std::string with_option(const std::string& command, const std::string& option,
                        const std::string& value, const std::vector<std::string>& dropped) {
  std::string text;
  bool its_value = false;
  for (const std::string& word : words_of(command)) {
    const bool skip = its_value;
    const auto drops = [&](const std::string& each) { return says(word, each); };
    const bool drop = drops(option) || std::ranges::any_of(dropped, drops);
    its_value = !skip && drop && word.find('=') == word.npos;
    if (!skip && !drop) text += word + " ";
  }
  return text + option + " " + shell_quoted(value);
}

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace strata
