#include "sim/text/diagnostics.h"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "sim/text/split.h"

namespace strata {

std::string print(const Location& where) {
  return where.line > 0 ? fmt::format("{}:{}", where.file, where.line) : where.file;
}

void fail(const Location& where, std::string_view message) {
  throw InputError(fmt::format("{}: {}", print(where), message));
}

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

// No byte of a character but the newline itself is one, so lines can be judged alone.
void check_utf8(std::string_view text, const std::string& file) {
  if (is_utf8(text)) return;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (!is_utf8(line)) fail({file, number}, "bytes that are no character; allowed: UTF-8");
  }
}

void Diagnostics::add(const Location& where, std::string_view message) {
  add_line(fmt::format("{}: {}", print(where), message));
}

void Diagnostics::add(const InputError& error) {
  std::string_view rest = error.message();
  while (true) {
    const std::size_t end = rest.find('\n');
    add_line(std::string(rest.substr(0, end)));
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

void Diagnostics::add_line(std::string line) {
  ++count_;
  if (lines_.size() < kLimit) lines_.push_back(std::move(line));
}

void Diagnostics::throw_if_any() const {
  if (empty()) return;
  std::string message = fmt::format("{}", fmt::join(lines_, "\n"));
  if (count_ > kLimit) message += fmt::format("\nand {} more", count_ - kLimit);
  throw InputError(message);
}

}  // namespace strata
