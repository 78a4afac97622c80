#pragma once

// A mutator that knows what texts are made of. Bytes changed at random hardly ever leave a TOML
// file or a JSON document, so most of what libFuzzer makes by itself is refused by the first line
// of a parser. This one works on lines and on tokens (texts in quotes, numbers, words, signs): it
// copies, drops and swaps them, puts one of the same kind from elsewhere in its place, or one of
// the format's own words, lines and awkward numbers. One mutation in eight is libFuzzer's.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/random_choice.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace strata {

/// What a format knows: words for where a word or a text stands, and whole lines.
struct Vocabulary {
  std::span<const std::string_view> words, lines;
};

class TextMutator {
 public:
  TextMutator(std::string_view text, std::uint32_t seed, const Vocabulary& vocabulary)
      : text_(text), random_(seed), vocabulary_(vocabulary) {}

  std::string mutated() {
    for (std::uint32_t left = 1 + below(4); left > 0; --left) {
      below(2) == 0 ? mutate_line() : mutate_token();
    }
    return std::move(text_);
  }

 private:
  struct Token {
    enum class Kind : std::uint8_t { text, number, word, sign };
    Kind kind;
    std::size_t begin, end;
  };
  static constexpr std::array<std::string_view, 26> kNumbers = {"0",
                                                                "1",
                                                                "-1",
                                                                "2",
                                                                "64",
                                                                "1e-320",
                                                                "1e308",
                                                                "1e400",
                                                                "-0.0",
                                                                "1e-9",
                                                                "0.1",
                                                                "9e15",
                                                                "2147483647",
                                                                "2147483648",
                                                                "1e18",
                                                                "4294967296",
                                                                "65536",
                                                                "16777217",
                                                                "9223372036854775807",
                                                                "-9223372036854775808",
                                                                "9223372036854775808",
                                                                "18446744073709551616",
                                                                "6148914691236517206",
                                                                "0x7f",
                                                                "1_000",
                                                                "nan"};
  static constexpr std::array<std::string_view, 14> kSigns = {"{", "}", "[", "]",  "[[", "]]", ",",
                                                              "=", ":", ".", "\"", "'",  "\n", "#"};
  static constexpr std::array<std::string_view, 8> kTexts = {
      "\"\"",        "\"0\"",    "\"1x\"",     "\"-1 GB/s\"",
      "\"\\u0000\"", "\"\xff\"", "\"a\\\"b\"", "\"1 us\""};

  std::uint32_t below(std::size_t count) { return random_.below(count); }
  template <class Range>
  std::string_view any_of(const Range& range) {
    return random_.any_of(range);
  }

  std::vector<Token> lines() const {
    std::vector<Token> found;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size() - 1) + 1;
      found.push_back({Token::Kind::text, at, end});
      at = end;
    }
    return found;
  }

  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == '+';
  }

  std::vector<Token> tokens() const {
    std::vector<Token> found;
    for (std::size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      std::size_t end = at + 1;
      Token::Kind kind = Token::Kind::sign;
      if (c == '"') {
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
          end += text_[end] == '\\' ? 2 : 1;
        }
        end = std::min(end + 1, text_.size());
        kind = Token::Kind::text;
      } else if (in_word(c)) {
        while (end < text_.size() && in_word(text_[end])) ++end;
        const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        kind = digit || c == '-' || c == '+' ? Token::Kind::number : Token::Kind::word;
      }
      if (c != ' ' && c != '\n') found.push_back({kind, at, end});
      at = end;
    }
    return found;
  }

  std::string of(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  void put(const Token& place, std::string_view text) {
    text_.replace(place.begin, place.end - place.begin, text);
  }

  void mutate_line() {
    const std::vector<Token> all = lines();
    if (all.empty() || below(4) == 0) return insert_line(all);
    const Token& one = all[below(all.size())];
    const Token& other = all[below(all.size())];
    switch (below(3)) {
      case 0:
        return put(one, "");
      case 1:
        return put({one.kind, one.begin, one.begin}, of(other));
      default:
        return put(one, of(other));
    }
  }

  void insert_line(const std::vector<Token>& all) {
    if (vocabulary_.lines.empty()) return;
    const std::size_t at = all.empty() ? 0 : all[below(all.size())].end;
    text_.insert(at, std::string(any_of(vocabulary_.lines)) + "\n");
  }

  void mutate_token() {
    const std::vector<Token> all = tokens();
    if (all.empty()) return;
    const Token& one = all[below(all.size())];
    switch (below(8)) {
      case 0:
        return put(one, "");
      case 1:
        return put(one, of(one) + of(one));
      case 2:
        return put(one, "[" + of(one) + ", " + of(all[below(all.size())]) + "]");
      case 3:
        return put(one, "{" + std::string(word()) + " = " + of(one) + "}");
      case 4:
        return put(one, of(all[below(all.size())]));
      case 5:
        return put(one, of_same_kind(all, one));
      default:
        return put(one, usual(one.kind));
    }
  }

  std::string of_same_kind(const std::vector<Token>& all, const Token& one) {
    std::vector<Token> same;
    std::copy_if(all.begin(), all.end(), std::back_inserter(same),
                 [&](const Token& token) { return token.kind == one.kind; });
    return of(same[below(same.size())]);
  }

  std::string_view word() { return vocabulary_.words.empty() ? "name" : any_of(vocabulary_.words); }
  std::string usual(Token::Kind kind) {
    switch (kind) {
      case Token::Kind::number:
        return std::string(any_of(kNumbers));
      case Token::Kind::word:
        return std::string(below(4) == 0 ? any_of(kNumbers) : word());
      case Token::Kind::sign:
        return std::string(any_of(kSigns));
      case Token::Kind::text:
        break;
    }
    return below(2) == 0 ? std::string(any_of(kTexts)) : "\"" + std::string(word()) + "\"";
  }

  std::string text_;
  RandomChoice random_;
  const Vocabulary& vocabulary_;
};

/// For LLVMFuzzerCustomMutator, with its arguments.
inline std::size_t mutate_text(std::uint8_t* data, std::size_t size, std::size_t max_size,
                               unsigned seed, const Vocabulary& vocabulary) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string made = TextMutator(text, seed, vocabulary).mutated();
  if (made.size() > max_size) return size;
  std::copy(made.begin(), made.end(), data);
  return made.size();
}

}  // namespace strata
