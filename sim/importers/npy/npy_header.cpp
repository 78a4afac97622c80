#include "sim/importers/npy/npy_header.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostExtents = 32;  // numpy's own limit
constexpr std::size_t kAlignment = 64;

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

/// Reads what Python would call a literal: a dict of strings, booleans and a tuple of integers.
class DictReader {
 public:
  DictReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader read() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) refuse("nothing but spaces");
    if (!descr_ || !order_ || !shape_) refuse("all of 'descr', 'fortran_order' and 'shape'");
    return {*std::move(descr_), *order_, *std::move(shape_), 0};
  }

 private:
  [[noreturn]] void refuse(std::string_view expected) const {
    fail_npy(file_,
             fmt::format("the header is wrong at its byte {}: it must have {} there; allowed: "
                         "what numpy.save writes for numbers",
                         at_, expected));
  }

  void read_entry() {
    const std::string key = string();
    expect(':');
    if (key == "descr" && !descr_) {
      descr_ = string();
    } else if (key == "fortran_order" && !order_) {
      order_ = boolean();
    } else if (key == "shape" && !shape_) {
      shape_ = tuple();
    } else {
      refuse("one of 'descr', 'fortran_order' and 'shape', each once,");
    }
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    return ++at_, true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("'{}'", c));
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    return at_ += word.size(), true;
  }

  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"' && !accept('"')) refuse("a string");
    std::string value;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const char c = text_[at_];
      if (c < ' ' || c > '~' || c == '\\') refuse("a plain character");
      value += c;
    }
    if (at_ == text_.size()) refuse("the end of the string");
    ++at_;
    return value;
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) refuse("True or False");
    return false;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!accept(')')) {
      if (extents.size() == kMostExtents) refuse("at most 32 extents");
      extents.push_back(extent());
      if (accept(',')) continue;
      if (extents.size() == 1) refuse("','");  // (3) is no tuple
      expect(')');
      break;
    }
    return extents;
  }

  std::int64_t extent() {
    skip_space();
    std::int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [after, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc{} || value < 0) refuse("an extent from 0 to 2^63 - 1");
    at_ = static_cast<std::size_t>(after - text_.data());
    return value;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

/// The bytes of the field that says how long the dict is.
std::size_t length_bytes(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 2) {
    fail_npy(file, "it does not begin as an .npy file; allowed: what numpy.save writes");
  }
  const int major = static_cast<unsigned char>(bytes[kMagic.size()]);
  const int minor = static_cast<unsigned char>(bytes[kMagic.size() + 1]);
  if (major >= 1 && major <= 3 && minor == 0) return major == 1 ? 2 : 4;
  fail_npy(file, fmt::format("it is of version {}.{}; allowed: 1.0, 2.0, 3.0", major, minor));
}

}  // namespace

void fail_npy(const std::string& file, const std::string& message) {
  throw InputError(fmt::format("{}: {}", file, message));
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& file) {
  const std::size_t wide = length_bytes(bytes, file), begin = kMagic.size() + 2 + wide;
  const std::size_t there = bytes.size() - std::min(bytes.size(), begin);
  const std::size_t length =
      bytes.size() < begin ? 1 : little_endian(bytes.substr(begin - wide, wide));
  if (length > there) fail_npy(file, "it ends within its header; allowed: a complete file");
  NpyHeader header = DictReader(bytes.substr(begin, length), file).read();
  header.size = begin + length;
  return header;
}

std::string print_npy_header(std::string_view descr, std::span<const std::int64_t> shape) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descr);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    dict += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  }
  dict += shape.size() == 1 ? ",), }" : "), }";
  const std::size_t begin = kMagic.size() + 4, unpadded = begin + dict.size() + 1;
  dict.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ').append("\n");
  assert(dict.size() <= 0xFFFF);
  std::string text(kMagic);
  text.append(
      {'\x01', '\x00', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)});
  return text + dict;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return shape.empty() ? "a single element" : fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace strata
