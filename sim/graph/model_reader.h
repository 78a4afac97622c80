#pragma once

// Reading one layer's table of a model file: the visitor of op.h that fills an op, and the
// errors of all its keys. Part of model_file.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/op.h"
#include "sim/graph/ops/window.h"
#include "sim/text/value.h"

namespace strata {

/// Errors go to `errors` as "FILE:LINE: LABEL: what is wrong"; a key that is wrong or missing
/// leaves its value as it was.
class LayerReader {
 public:
  LayerReader(Table& table, std::string label, Diagnostics& errors)
      : table_(table), label_(std::move(label)), errors_(errors) {}

  void relabel(std::string label) { label_ = std::move(label); }

  std::optional<std::string> string(std::string_view key);
  /// Nullopt where the table lacks the key.
  std::optional<std::vector<std::string>> strings(std::string_view key);
  /// Reports the keys that nobody asked for.
  void finish();

  void shape(std::string_view key, Extents& extents);
  void count(std::string_view key, std::int64_t& value, std::optional<std::int64_t> fallback);
  void flag(std::string_view key, bool& value, bool fallback);
  void number(std::string_view key, double& value, double fallback);
  void along(std::string_view key, Windows& windows, int rank, std::int64_t Window::*member,
             std::optional<AlongDims> fallback);
  void padding(std::string_view key, Windows& windows, int rank);
  void outputs(std::string_view key, AdaptivePooling& op);
  void text(std::string_view key, std::string& value);
  void name(std::string_view key, std::string& value);

  /// An error of the layer as a whole, or of one of its keys.
  void note(std::string_view text) { errors_.add(table_.location(), labelled(text)); }
  void note(std::string_view key, std::string_view text) {
    errors_.add(table_.location(key), labelled(text));
  }

 private:
  std::string labelled(std::string_view text) const;
  /// Runs `action` and notes the InputError that it may end with, with the label in its place.
  template <class Action>
  void attempt(Action&& action);

  Table& table_;
  std::string label_;
  Diagnostics& errors_;
};

}  // namespace strata
