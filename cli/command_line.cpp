#include "cli/command_line.h"

#include <string_view>

namespace strata {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";

// Within single quotes a shell takes everything as it is, but for the quote itself.
std::string quoted(std::string_view argument) {
  if (!argument.empty() && argument.find_first_not_of(kPlain) == argument.npos) {
    return std::string(argument);
  }
  std::string text = "'";
  for (char c : argument) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_line(int argc, const char* const* argv) {
  std::string text = "strata";
  for (int i = 1; i < argc; ++i) text += " " + quoted(argv[i]);
  return text;
}

}  // namespace strata
