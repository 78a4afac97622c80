#include "sim/text/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "sim/text/file.h"

namespace strata {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kDepthLimit = 64;

std::string explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::EMPTY:
      return "the document is empty";
    case simdjson::UNCLOSED_STRING:
      return "a string has no closing quote";
    case simdjson::UTF8_ERROR:
      return "the text is not valid UTF-8";
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character that is not escaped";
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return "a number is malformed or too large";
    case simdjson::STRING_ERROR:
      return "a string has a bad escape";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "an object or a list has no end";
    case simdjson::DEPTH_ERROR:
      return fmt::format("values are nested more than {} deep", kDepthLimit);
    default:
      return "bad JSON: a value, a comma, a colon or a bracket is missing or misplaced";
  }
}

/// Walks the document once, front to back; counts lines as it goes.
class Reader {
 public:
  Reader(const simdjson::padded_string& text, const std::string& file)
      : text_(text), file_(file), counted_(text.data()) {}

  Node read() {
    ondemand::parser parser;
    ondemand::document document;
    check(parser.iterate(text_).get(document));
    document_ = &document;
    Node root = read_value(document, 0);
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) {
      fail({file_, line_of(rest)}, "there is text after the end of the document");
    }
    return root;
  }

 private:
  void check(simdjson::error_code error) {
    if (error == simdjson::UTF8_ERROR) line_ = line_of_bad_utf8();
    if (error == simdjson::UNCLOSED_STRING) line_ = line_of(text_.data() + text_.size());
    if (error == simdjson::SUCCESS) return;
    const char* position = nullptr;
    if (document_ && document_->current_location().get(position) == simdjson::SUCCESS) {
      line_of(position);
    }
    fail({file_, line_}, explain(error));
  }

  template <class T>
  T get(simdjson::simdjson_result<T> result) {
    T value{};
    check(std::move(result).get(value));
    return value;
  }

  int line_of(const char* position) {
    const char* end = std::min(position, text_.data() + text_.size());
    if (end > counted_) {
      line_ += static_cast<int>(std::count(counted_, end, '\n'));
      counted_ = end;
    }
    return line_;
  }

  int line_of_bad_utf8() const {
    const std::string_view text(text_.data(), text_.size());
    int line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (!simdjson::validate_utf8(text.data() + begin, end - begin)) return line;
      begin = end + 1;
    }
    return line;
  }

  template <class Source>
  Node read_value(Source&& source, int depth) {
    if (depth >= kDepthLimit) check(simdjson::DEPTH_ERROR);
    Node node;
    node.line = line_of(get(source.current_location()));
    switch (get(source.type())) {
      case ondemand::json_type::object:
        read_members(get(source.get_object()), node, depth);
        break;
      case ondemand::json_type::array:
        node.kind = ValueKind::list;
        for (auto item : get(source.get_array())) {
          node.items.push_back(read_value(get(std::move(item)), depth + 1));
        }
        break;
      case ondemand::json_type::string:
        node.kind = ValueKind::string;
        node.string = get(source.get_string());
        break;
      case ondemand::json_type::number:
        read_number(source, node);
        break;
      case ondemand::json_type::boolean:
        node.kind = ValueKind::boolean;
        node.boolean = get(source.get_bool());
        break;
      case ondemand::json_type::null:
        if (!get(source.is_null())) check(simdjson::N_ATOM_ERROR);
        break;
    }
    return node;
  }

  void read_members(ondemand::object object, Node& node, int depth) {
    node.kind = ValueKind::table;
    for (auto result : object) {
      ondemand::field field = get(std::move(result));
      std::string key(get(field.unescaped_key()));
      node.members.push_back({std::move(key), read_value(field.value(), depth + 1)});
    }
    check_unique(node);
    std::erase_if(node.members,
                  [](const Member& member) { return member.value.kind == ValueKind::null; });
  }

  void check_unique(const Node& node) const {
    std::vector<std::pair<std::string_view, std::size_t>> keys;
    for (const auto& [key, value] : node.members) keys.emplace_back(key, keys.size());
    std::sort(keys.begin(), keys.end());
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto twice = std::adjacent_find(keys.begin(), keys.end(), same);
    if (twice == keys.end()) return;
    const auto& [key, value] = node.members[std::next(twice)->second];
    fail({file_, value.line}, fmt::format("key '{}' comes twice in one object", key));
  }

  template <class Source>
  void read_number(Source& source, Node& node) {
    const double kExact = 9007199254740992.0;  // 2^53: every integer below is exact in a double
    node.number = get(source.get_double());
    std::int64_t integer = 0;
    if (std::fabs(node.number) < kExact && node.number == std::trunc(node.number)) {
      integer = static_cast<std::int64_t>(node.number);
    } else if (source.get_int64().get(integer) != simdjson::SUCCESS) {
      node.kind = ValueKind::number;
      return;
    }
    node.kind = ValueKind::integer;
    node.integer = integer;
  }

  const simdjson::padded_string& text_;
  const std::string& file_;
  const char* counted_;  // up to here the lines are counted
  int line_ = 1;
  ondemand::document* document_ = nullptr;
};

}  // namespace

Document parse_json(std::string_view text, const std::string& file) {
  const simdjson::padded_string padded(text);
  return Document(Reader(padded, file).read(), file, Syntax::json);
}

Document read_json(const std::string& file) {
  return parse_json(read_file(file), file);
}

std::string json_string(std::string_view text) {
  const auto stands_as_it_is = [](char c) {
    return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
  };
  if (std::all_of(text.begin(), text.end(), stands_as_it_is)) {
    return std::string("\"").append(text).append("\"");
  }
  return nlohmann::json(text).dump();
}

}  // namespace strata
