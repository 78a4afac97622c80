#include <algorithm>

#include <fmt/format.h>

#include "sim/text/value.h"

namespace strata {

Table::Table(const Node& node, const std::string& file, Syntax syntax)
    : node_(&node), file_(&file), syntax_(syntax), read_(node.members.size(), false) {}

Location Table::location(std::string_view key) const {
  for (const auto& [name, value] : node_->members) {
    if (name == key) return {*file_, value.line};
  }
  return location();
}

void Table::ask(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
}

std::optional<Value> Table::optional(std::string_view key) {
  ask(key);
  for (std::size_t i = 0; i < node_->members.size(); ++i) {
    const auto& [name, value] = node_->members[i];
    if (name != key) continue;
    read_[i] = true;
    return Value(value, *file_, syntax_, name);
  }
  return std::nullopt;
}

Value Table::required(std::string_view key) {
  if (const auto value = optional(key)) return *value;
  fail(fmt::format("missing key '{}'", key));
}

std::vector<std::pair<std::string, Value>> Table::members() {
  std::vector<std::pair<std::string, Value>> all;
  for (std::size_t i = 0; i < node_->members.size(); ++i) {
    const auto& [name, value] = node_->members[i];
    read_[i] = true;
    all.emplace_back(name, Value(value, *file_, syntax_, name));
  }
  return all;
}

std::string Table::string_or(std::string_view key, std::string_view fallback) {
  const auto value = optional(key);
  return value ? value->as_string() : std::string(fallback);
}

bool Table::boolean_or(std::string_view key, bool fallback) {
  const auto value = optional(key);
  return value ? value->as_boolean() : fallback;
}

std::int64_t Table::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  return required(key).as_integer(min, max);
}

std::int64_t Table::integer_or(std::string_view key, std::int64_t fallback, std::int64_t min,
                               std::int64_t max) {
  const auto value = optional(key);
  return value ? value->as_integer(min, max) : fallback;
}

double Table::number(std::string_view key, double min, double max) {
  return required(key).as_number(min, max);
}

double Table::number_or(std::string_view key, double fallback, double min, double max) {
  const auto value = optional(key);
  return value ? value->as_number(min, max) : fallback;
}

std::vector<std::string> Table::strings(std::string_view key) {
  const auto value = optional(key);
  return value ? value->as_strings() : std::vector<std::string>();
}

std::vector<std::int64_t> Table::integers(std::string_view key) {
  const auto value = optional(key);
  return value ? value->as_integers() : std::vector<std::int64_t>();
}

Table Table::table(std::string_view key) {
  return required(key).as_table();
}

std::optional<Table> Table::optional_table(std::string_view key) {
  const auto value = optional(key);
  return value ? std::optional(value->as_table()) : std::nullopt;
}

std::vector<Table> Table::tables(std::string_view key) {
  std::vector<Table> tables;
  const auto value = optional(key);
  if (!value) return tables;
  if (!value->is(ValueKind::list)) {
    value->fail_expected(syntax_ == Syntax::json ? "a list of objects" : "a list of tables");
  }
  for (const Value& item : value->as_list()) tables.push_back(item.as_table());
  return tables;
}

void Table::finish(Diagnostics& errors) const {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    if (read_[i]) continue;
    const auto& [name, value] = node_->members[i];
    const std::string allowed =
        asked_.empty() ? "none" : fmt::format("{}", fmt::join(asked_, ", "));
    errors.add({*file_, value.line}, fmt::format("unknown key '{}'; allowed: {}", name, allowed));
  }
}

void Table::finish() const {
  Diagnostics errors;
  finish(errors);
  errors.throw_if_any();
}

}  // namespace strata
