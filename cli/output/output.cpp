#include "cli/output/output.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <system_error>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata {
namespace {

[[noreturn]] void fail() {
  throw EnvironmentError("standard output cannot be written");
}

// In UTF-8, U+0080 to U+009F, which some terminals obey as well, are this and one more byte.
constexpr char kFirstOfC1 = '\xc2';

// The first control character that is no end of a line and no tab.
std::size_t find_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool c1 = text[i] == kFirstOfC1 && next >= 0x80 && next < 0xa0;
    if (c1 || c == 0x7f || (c < 0x20 && c != '\n' && c != '\t')) return i;
  }
  return text.npos;
}

// What is no file, as /dev/null, takes any number of outputs.
bool takes_several(const std::string& output) {
  std::error_code none;
  return std::filesystem::exists(output, none) && !std::filesystem::is_regular_file(output, none);
}

void refuse_same_file(const std::vector<std::string>& outputs) {
  std::map<std::string, std::string> known;  // a file: the name that it was first given
  for (const std::string& output : outputs) {
    if (output.empty() || takes_several(output)) continue;
    const auto [first, fresh] = known.emplace(file_behind(output), output);
    if (fresh) continue;
    const std::string what =
        first->second == output ? output : fmt::format("{}, which is {},", output, first->second);
    throw InputError(fmt::format("{} is named for two outputs; allowed: a file for each", what));
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at; (at = find_control(text)) != text.npos;) {
    const std::size_t size = text[at] == kFirstOfC1 ? 2 : 1;
    shown += fmt::format("{}\\u{:04x}", text.substr(0, at),
                         static_cast<unsigned char>(text[at + size - 1]));
    text.remove_prefix(at + size);
  }
  return shown.append(text);
}

void write_output(std::string_view text) {
  if (find_control(text) != text.npos) return write_output(printable(text));
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail();
}

void flush_output() {
  std::cout.flush();  // the help's
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail();
}

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string option_name(std::string_view key) {
  std::string name = fmt::format("--{}", key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string with_options(std::string_view text) {
  constexpr std::string_view kKey = "abcdefghijklmnopqrstuvwxyz_0123456789";
  std::string result;
  for (std::size_t at = text.find('`'); at != text.npos; at = text.find('`')) {
    const std::size_t end = text.find_first_not_of(kKey, at + 1);
    const bool key = end != text.npos && end > at + 1 && text[end] == '`';
    result += text.substr(0, key ? at : at + 1);
    if (key) result += option_name(text.substr(at + 1, end - at - 1));
    text.remove_prefix(key ? end + 1 : at + 1);
  }
  return result.append(text);
}

void say(std::string_view line) {
  std::fputs((printable(with_options(line)) + '\n').c_str(), stderr);
}

void warn(std::string_view what) {
  say(fmt::format("strata: warning: {}", what));
}

void note(std::string_view what) {
  say(fmt::format("strata: note: {}", what));
}

void refuse_overwriting(const std::vector<std::string>& outputs,
                        const std::vector<std::string>& inputs) {
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      std::error_code none;  // names that are no files are equivalent to nothing
      if (output.empty() || !std::filesystem::equivalent(output, input, none)) continue;
      throw InputError(
          fmt::format("{} is read and would be written; allowed: another file", output));
    }
  }
}

void check_strategy_file(const std::string& output) {
  if (output.empty() || output.ends_with(".json")) return;
  throw InputError(
      fmt::format("--output {}: the name of a strategy file must end in .json", output));
}

void check_outputs(const std::vector<std::string>& outputs,
                   const std::vector<std::string>& inputs) {
  refuse_overwriting(outputs, inputs);
  refuse_same_file(outputs);
  for (const std::string& output : outputs) {
    if (!output.empty()) check_can_write(output);
  }
}

}  // namespace strata
