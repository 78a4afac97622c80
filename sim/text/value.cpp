#include "sim/text/value.h"

#include <fmt/format.h>

namespace strata {
namespace {

std::string describe(const Node& node, Syntax syntax) {
  switch (node.kind) {
    case ValueKind::null:
      return "null";
    case ValueKind::boolean:
      return node.boolean ? "true" : "false";
    case ValueKind::integer:
      return fmt::format("{}", node.integer);
    case ValueKind::number:
      return fmt::format("{}", node.number);
    case ValueKind::string:
      return node.string.size() <= 60 ? fmt::format("\"{}\"", node.string) : "a long string";
    case ValueKind::date:
      return "a date";
    case ValueKind::list:
      return "a list";
    case ValueKind::table:
      return syntax == Syntax::json ? "an object" : "a table";
  }
  return "";
}

}  // namespace

void Value::fail(std::string_view message) const {
  strata::fail(location(), message);
}

void Value::fail_expected(std::string_view expected) const {
  const std::string subject = name_.empty() ? "the document" : fmt::format("'{}'", name_);
  fail(fmt::format("{} must be {}; it is {}", subject, expected, describe(*node_, syntax_)));
}

const std::string& Value::as_string() const {
  if (!is(ValueKind::string)) fail_expected("a string");
  return node_->string;
}

bool Value::as_boolean() const {
  if (!is(ValueKind::boolean)) fail_expected("true or false");
  return node_->boolean;
}

std::string Value::range_name(std::string_view noun, std::string min, std::string max) const {
  if (min.empty() && max.empty()) return std::string(noun);
  if (max.empty()) return fmt::format("{} of at least {}", noun, min);
  if (min.empty()) return fmt::format("{} of at most {}", noun, max);
  return fmt::format("{} from {} to {}", noun, min, max);
}

std::int64_t Value::as_integer(std::int64_t min, std::int64_t max) const {
  using Limits = std::numeric_limits<std::int64_t>;
  if (!is(ValueKind::integer) || node_->integer < min || node_->integer > max) {
    fail_expected(range_name("an integer", min == Limits::min() ? "" : fmt::format("{}", min),
                             max == Limits::max() ? "" : fmt::format("{}", max)));
  }
  return node_->integer;
}

double Value::as_number(double min, double max) const {
  using Limits = std::numeric_limits<double>;
  const bool numeric = is(ValueKind::integer) || is(ValueKind::number);
  if (!numeric || node_->number < min || node_->number > max) {
    fail_expected(range_name("a number", min == Limits::lowest() ? "" : fmt::format("{}", min),
                             max == Limits::max() ? "" : fmt::format("{}", max)));
  }
  return node_->number;
}

std::vector<Value> Value::as_list() const {
  if (!is(ValueKind::list)) fail_expected("a list");
  std::vector<Value> values;
  values.reserve(node_->items.size());
  for (const Node& item : node_->items) {
    values.emplace_back(item, *file_, syntax_, fmt::format("{}[{}]", name_, values.size()));
  }
  return values;
}

std::vector<std::string> Value::as_strings() const {
  if (!is(ValueKind::list)) fail_expected("a list of strings");
  std::vector<std::string> strings;
  for (const Value& item : as_list()) strings.push_back(item.as_string());
  return strings;
}

std::vector<std::int64_t> Value::as_integers(std::int64_t min, std::int64_t max) const {
  if (!is(ValueKind::list)) fail_expected("a list of integers");
  std::vector<std::int64_t> integers;
  for (const Value& item : as_list()) integers.push_back(item.as_integer(min, max));
  return integers;
}

Table Value::as_table() const {
  if (!is(ValueKind::table)) fail_expected(syntax_ == Syntax::json ? "an object" : "a table");
  return Table(*node_, *file_, syntax_);
}

Document::Document(Node root, std::string file, Syntax syntax)
    : tree_(std::make_shared<const Tree>(Tree{std::move(root), std::move(file), syntax})) {}

Value Document::root() const {
  return Value(tree_->root, tree_->file, tree_->syntax, "");
}

}  // namespace strata
