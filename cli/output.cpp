#include "cli/output.h"

#include <cstdio>
#include <iostream>
#include <string>

#include "sim/base/error.h"

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

}  // namespace strata
