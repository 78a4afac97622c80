#include "sim/graph/model_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace strata {
namespace {

/// "FILE:LINE: what" of a value's error becomes "FILE:LINE: LABEL: what". The file's name may hold
/// a colon, a line number none.
std::string with_label(std::string_view line, std::size_t file_size, std::string_view label) {
  const std::size_t end = line.find(": ", file_size) + 2;
  return fmt::format("{}{}: {}", line.substr(0, end), label, line.substr(end));
}

/// One integer for all dims of the rank, or a list of one for each; w last.
std::vector<std::int64_t> per_dim(const Value& value, int rank) {
  const auto size = static_cast<std::size_t>(rank);
  if (value.is(ValueKind::integer)) return std::vector<std::int64_t>(size, value.as_integer());
  if (value.is(ValueKind::list) && value.node().items.size() == size) return value.as_integers();
  value.fail_expected(fmt::format("an integer or a list of {}", rank));
}

bool is_list_of_lists(const Value& value) {
  return value.is(ValueKind::list) && !value.node().items.empty() &&
         value.node().items[0].kind == ValueKind::list;
}

}  // namespace

std::string LayerReader::labelled(std::string_view text) const {
  return fmt::format("{}: {}", label_, text);
}

template <class Action>
void LayerReader::attempt(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    const std::size_t file_size = table_.location().file.size();
    std::string_view rest = error.message();
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      errors_.add(InputError(with_label(line, file_size, label_)));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
  }
}

std::optional<std::string> LayerReader::string(std::string_view key) {
  std::optional<std::string> text;
  attempt([&] { text = table_.string(key); });
  return text;
}

std::optional<std::vector<std::string>> LayerReader::strings(std::string_view key) {
  const auto value = table_.optional(key);
  if (!value) return std::nullopt;
  std::vector<std::string> texts;
  attempt([&] { texts = value->as_strings(); });
  return texts;
}

void LayerReader::finish() {
  attempt([&] { table_.finish(); });
}

void LayerReader::shape(std::string_view key, Extents& extents) {
  extents = {{1, 1, 1, 1, 1}};
  attempt([&] {
    const Value value = table_.required(key);
    const std::size_t size = value.node().items.size();
    if (!value.is(ValueKind::list) || size < 1 || size > 4) {
      value.fail_expected("[c], [c, w], [c, h, w] or [c, d, h, w]");
    }
    const auto values = value.as_integers();
    extents[Dim::c] = values[0];
    std::copy_backward(values.begin() + 1, values.end(), extents.values.end());
  });
}

void LayerReader::count(std::string_view key, std::int64_t& value,
                        std::optional<std::int64_t> fallback) {
  attempt([&] { value = fallback ? table_.integer_or(key, *fallback) : table_.integer(key); });
}

void LayerReader::flag(std::string_view key, bool& value, bool fallback) {
  attempt([&] { value = table_.boolean_or(key, fallback); });
}

void LayerReader::number(std::string_view key, double& value, double fallback) {
  attempt([&] { value = table_.number_or(key, fallback); });
}

void LayerReader::along(std::string_view key, Windows& windows, int rank,
                        std::int64_t Window::*member, std::optional<AlongDims> fallback) {
  const auto dims = dims_of_rank(rank);
  const auto set = [&](const std::vector<std::int64_t>& values) {
    for (std::size_t k = 0; k < dims.size(); ++k) windows[dims[k]].*member = values[k];
  };
  if (fallback) set({fallback->end() - rank, fallback->end()});
  if (fallback && !table_.has(key)) return;
  attempt([&] { set(per_dim(table_.required(key), rank)); });
}

void LayerReader::padding(std::string_view key, Windows& windows, int rank) {
  const auto value = table_.optional(key);
  if (!value) return;
  const auto dims = dims_of_rank(rank);
  const auto set = [&](Dim dim, std::int64_t begin, std::int64_t end) {
    windows[dim].pad_begin = begin;
    windows[dim].pad_end = end;
  };
  attempt([&] {
    if (!is_list_of_lists(*value)) {
      const auto values = per_dim(*value, rank);
      for (std::size_t k = 0; k < dims.size(); ++k) set(dims[k], values[k], values[k]);
      return;
    }
    const auto pairs = value->as_list();
    if (pairs.size() != dims.size()) {
      value->fail_expected(fmt::format("{} pairs [begin, end]", rank));
    }
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const auto pair = per_dim(pairs[k], 2);
      set(dims[k], pair[0], pair[1]);
    }
  });
}

void LayerReader::outputs(std::string_view key, AdaptivePooling& op) {
  const auto value = table_.optional(key);
  if (!value) return;
  attempt([&] {
    const auto values = per_dim(*value, op.rank);
    const std::array<std::int64_t*, 3> targets = {&op.d, &op.h, &op.w};
    for (std::size_t k = 0; k < values.size(); ++k) {
      *targets[targets.size() - values.size() + k] = values[k];
    }
  });
}

void LayerReader::text(std::string_view key, std::string& value) {
  attempt([&] { value = table_.string(key); });
}

void LayerReader::name(std::string_view key, std::string& value) {
  if (table_.has(key)) text(key, value);
}

}  // namespace strata
