#include "cli/output.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "sim/base/error.h"
#include "sim/text/file.h"

namespace strata {
namespace {

[[noreturn]] void fail() {
  throw EnvironmentError("standard output cannot be written");
}

}  // namespace

void write_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail();
}

void flush_output() {
  std::cout.flush();  // the help's
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail();
}

void say(std::string_view line) {
  std::fputs((std::string(line) + '\n').c_str(), stderr);
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

void check_outputs(const std::vector<std::string>& outputs,
                   const std::vector<std::string>& inputs) {
  refuse_overwriting(outputs, inputs);
  for (const std::string& output : outputs) {
    if (!output.empty()) check_can_write(output);
  }
}

}  // namespace strata
