#include "sim/text/toml.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "sim/text/file.h"

namespace strata {
namespace {

constexpr std::int64_t kTextLimit = 64 << 20;
// Tables nest by dotted keys without a limit in the parser; trees of that depth would exhaust the
// stack where they are taken apart. Nobody writes such keys.
constexpr int kKeyPartsLimit = 16;

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// Walks over a text as the parser would up to its first error, which ends both: comments and texts
/// hold no keys.
class KeyLengths {
 public:
  KeyLengths(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void check() {
    while (at_ < text_.size()) step();
  }

 private:
  // Parts of a dotted key follow each other with a dot (and blanks) between; anything else ends it.
  void step() {
    const char c = text_[at_];
    if (c == '#') return skip_comment();
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '.') {
      count_dot();
    } else if (!is_bare(c) && c != ' ' && c != '\t') {
      dots_ = 0;
    }
    advance(1);
  }

  void count_dot() {
    if (++dots_ < kKeyPartsLimit) return;
    fail({file_, line_}, fmt::format("a key has more than {} parts", kKeyPartsLimit));
  }

  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool many_lines = text_.substr(at_).starts_with(three);
    advance(many_lines ? 3 : 1);
    many_lines ? skip_to(three) : skip_to(std::string_view(three).substr(0, 1));
    // The last quotes of a text of many lines may stand right before its end.
    for (int i = 0; many_lines && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) {
      advance(1);
    }
  }

  // Behind the end of a string, or where the parser will miss it.
  void skip_to(std::string_view end) {
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (end.size() == 1 && text_[at_] == '\n') {
        at_ = text_.size();
      } else {
        advance(text_[at_] == '\\' && end.front() == '"' ? 2 : 1);
      }
    }
    advance(end.size());
  }

  void advance(std::size_t count) {
    const std::size_t end = std::min(at_ + count, text_.size());
    for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1, dots_ = 0;
};

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file) {}

  Node convert(const toml::node& from, int line_of_parent) const {
    Node node;
    node.line = line_of(from) > 0 ? line_of(from) : line_of_parent;
    if (const toml::table* table = from.as_table()) {
      convert_table(*table, node);
    } else if (const toml::array* array = from.as_array()) {
      node.kind = ValueKind::list;
      for (const toml::node& item : *array) node.items.push_back(convert(item, node.line));
    } else {
      convert_scalar(from, node);
    }
    return node;
  }

 private:
  // toml++ keeps members by name; the file's order is that of their keys' positions.
  void convert_table(const toml::table& table, Node& node) const {
    struct Entry {
      toml::source_position position;
      const toml::key* key;
      const toml::node* value;
    };
    std::vector<Entry> entries;
    for (const auto& [key, value] : table) entries.push_back({key.source().begin, &key, &value});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.position < b.position; });
    node.kind = ValueKind::table;
    for (const Entry& entry : entries) {
      const int line = static_cast<int>(entry.position.line);
      node.members.push_back({std::string(entry.key->str()), convert(*entry.value, line)});
    }
  }

  void convert_scalar(const toml::node& from, Node& node) const {
    if (const auto* string = from.as_string()) {
      node.kind = ValueKind::string;
      node.string = string->get();
    } else if (const auto* integer = from.as_integer()) {
      node.kind = ValueKind::integer;
      node.integer = integer->get();
      node.number = static_cast<double>(node.integer);
    } else if (const auto* number = from.as_floating_point()) {
      node.kind = ValueKind::number;
      node.number = number->get();
      if (!std::isfinite(node.number)) fail({file_, node.line}, "nan and inf are not allowed");
    } else if (const auto* boolean = from.as_boolean()) {
      node.kind = ValueKind::boolean;
      node.boolean = boolean->get();
    } else {
      node.kind = ValueKind::date;
    }
  }

  const std::string& file_;
};

}  // namespace

Document parse_toml(std::string_view text, const std::string& file) {
  if (static_cast<std::int64_t>(text.size()) > kTextLimit) {
    fail({file, 0}, fmt::format("is larger than {} bytes", kTextLimit));
  }
  KeyLengths(text, file).check();
  toml::table table;
  try {
    table = toml::parse(text, std::string_view(file));
  } catch (const toml::parse_error& error) {
    const auto line = static_cast<int>(error.source().begin.line);
    std::string message(error.description());
    std::replace(message.begin(), message.end(), '\n', ' ');
    fail({file, line}, message);
  }
  return Document(Converter(file).convert(table, 1), file, Syntax::toml);
}

Document read_toml(const std::string& file) {
  return parse_toml(read_file(file, kTextLimit), file);
}

std::string toml_quoted(std::string_view string) {
  std::string out = "\"";
  for (const char c : string) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace strata
