// Attention: MatMul of queries and keys, a scale, a mask, Softmax, MatMul with values; or the op.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"
#include "sim/importers/onnx/views.h"

namespace strata {
namespace {

constexpr double kHidden = -1e4;  // and less: no key that a softmax sees

std::optional<OnnxView> view_of(OnnxNode& node, int i) {
  return strata::view_of(node.network(), node.value(i));
}

std::optional<double> number(OnnxNode& node, int i) {
  const auto found = node.network().numbers(node.proto().input(i));
  if (found == nullptr || found->values.size() != 1) return std::nullopt;
  return found->values[0];
}

// Which keys a query sees: as many as it is told, itself the last one.
struct Sight {
  bool causal = false;
  std::int64_t window = 0;
};

[[noreturn]] void fail_by_mask() {
  throw InputError(
      "its mask is neither causal nor empty; allowed: each position sees all, or itself and those "
      "before it, or so many of them");
}

// By sees(row, column) of all positions.
template <class Sees>
Sight sight_of(std::int64_t rows, std::int64_t columns, const Sees& sees) {
  std::int64_t window = 0;
  bool all = true, causal = rows == columns;
  for (std::int64_t column = 0; column < columns && sees(rows - 1, columns - 1 - column); ++column)
    ++window;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const bool seen = sees(row, column);
      all = all && seen;
      causal = causal && seen == (column <= row && column > row - window);
    }
  }
  if (all) return {};
  if (causal) return {true, window < columns ? window : 0};
  fail_by_mask();
}

// Of a constant that is spread over (..., rows, columns); each of its matrices must be the same.
template <class Visible>
Sight sight_of(const ConstantTensor& mask, const TensorDims& scores, const Visible& visible) {
  const std::int64_t rows = scores[scores.size() - 2], columns = scores.back();
  const std::size_t rank = mask.dims.size();
  const std::int64_t own_columns = rank > 0 ? mask.dims[rank - 1] : 1;
  const std::int64_t own_rows = rank > 1 ? mask.dims[rank - 2] : 1;
  if ((own_rows != 1 && own_rows != rows) || (own_columns != 1 && own_columns != columns))
    throw InputError(fmt::format("its mask is {}; allowed: (..., {}, {})", print_dims(mask.dims),
                                 rows, columns));
  const std::int64_t each = own_rows * own_columns;
  for (std::size_t i = static_cast<std::size_t>(each); i < mask.values.size(); ++i) {
    if (visible(mask.values[i]) != visible(mask.values[i - static_cast<std::size_t>(each)]))
      throw InputError("its mask differs from sample to sample or head to head; allowed: one");
  }
  if (own_rows != rows || own_columns != columns) {  // all rows, or all columns, are alike
    if (std::ranges::all_of(mask.values, visible)) return {};
    fail_by_mask();
  }
  return sight_of(rows, columns, [&](std::int64_t row, std::int64_t column) {
    return visible(mask.values[static_cast<std::size_t>(row * columns + column)]);
  });
}

// Of what is added to the scores.
bool is_visible(double added) {
  if (added == 0) return true;
  if (added <= kHidden) return false;
  throw InputError(fmt::format("its mask adds {}; allowed: 0, or at most {}", added, kHidden));
}

void take_sight(OnnxScores& scores, const Sight& sight) {
  if (!sight.causal) return;
  if (scores.causal && scores.window != sight.window)
    throw InputError("it has two masks; allowed: one");
  scores.causal = true;
  scores.window = sight.window;
}

// The factors of all axes but the last two, without the samples'.
ViewAxis heads_of(const OnnxView& view) {
  ViewAxis heads;
  for (std::size_t i = 0; i + 2 < view.axes.size(); ++i) {
    for (const AxisFactor& factor : view.axes[i]) {
      if (factor.dim != Dim::n) heads.push_back(factor);
    }
  }
  return heads;
}

[[noreturn]] void fail_heads(const char* what) {
  throw InputError(
      fmt::format("its {} are not heads of channels; allowed: (n, heads, w, head size)", what));
}

// How many heads, each of `size` channels: of keys and values those before they are repeated.
std::int64_t head_count(const OnnxNetwork& network, const OnnxView& view, std::int64_t size,
                        std::int64_t heads, const char* what) {
  const Extents& extents = network.output(view.layer);
  const std::int64_t own = std::max<std::int64_t>(1, extents[Dim::c] / size);
  ViewAxis expected;
  if (own > 1) expected.push_back({Dim::c, own, size});
  if (heads > own) expected.push_back({Dim::c, heads / own, 0});
  const ViewAxis& tokens = view.axes[view.axes.size() - 2];
  const bool along_tokens =
      tokens == ViewAxis{{Dim::w, extents[Dim::w], 1}} || (tokens.empty() && extents[Dim::w] == 1);
  const bool along_channels = view.axes.back() == ViewAxis{{Dim::c, size, 1}};
  if (own * size != extents[Dim::c] || heads % own != 0 || heads_of(view) != expected ||
      !along_tokens || !along_channels)
    fail_heads(what);
  return own;
}

std::int64_t all_heads(const OnnxView& view) {
  return extent_of(heads_of(view));
}

LayerId add_attention(OnnxNode& node, OnnxScores scores, OnnxView values) {
  OnnxNetwork& network = node.network();
  const std::int64_t size = extent_of(values.axes.back());
  const double scale = scores.scale * scores.queries.scale * scores.keys.scale;
  if (!(scale > 0) || values.scale != 1) {
    throw InputError(
        fmt::format("its scale is {}, and {} of its values; allowed: a positive one, "
                    "and 1",
                    scale, values.scale));
  }
  const bool usual = is_near(scale, 1 / std::sqrt(static_cast<double>(size)));
  if (scores.queries.rotary != scores.keys.rotary || values.rotary != 0)
    throw InputError("it turns queries and keys differently; allowed: both alike");
  const OnnxView queries = with_layer(network, std::move(scores.queries), "query");
  const OnnxView keys = with_layer(network, std::move(scores.keys), "key");
  values = with_layer(network, std::move(values), "value");
  const std::int64_t heads = all_heads(queries);
  if (head_count(network, queries, size, heads, "queries") != heads) fail_heads("queries");
  if (head_count(network, keys, size, heads, "keys") !=
      head_count(network, values, size, heads, "values"))
    fail_heads("values");
  Attention op{size, scores.causal, scores.window, queries.rotary, scores.dropout};
  if (!usual) op.scale = shortest(static_cast<float>(scale));
  return network.add(node.wanted_name(), op, {queries.layer, keys.layer, values.layer});
}

// Queries (..., w, d) by keys (..., d, w).
bool read_scores(OnnxNode& node) {
  auto queries = view_of(node, 0), keys = view_of(node, 1);
  if (!queries || !keys || queries->axes.size() < 3 || keys->axes.size() != queries->axes.size())
    return false;
  OnnxScores scores{*queries, *keys, queries->axes};
  std::swap(scores.keys.axes[keys->axes.size() - 2], scores.keys.axes.back());
  scores.axes.back() = scores.keys.axes[keys->axes.size() - 2];
  for (AxisFactor& factor : scores.axes.back()) factor.dim = Dim::d;
  node.alias(std::move(scores));
  return true;
}

// Probabilities (..., w, w) by values (..., w, d).
bool read_attended(OnnxNode& node) {
  const auto* given = std::get_if<OnnxScores>(&node.value(0));
  const auto values = view_of(node, 1);
  if (given == nullptr || !values) return false;
  if (!given->normalised) throw InputError("its scores have no Softmax; allowed: one");
  const OnnxScores scores = *given;
  OnnxView result{.layer = add_attention(node, scores, *values)};
  result.axes = scores.axes;
  result.axes.back() = {{Dim::c, extent_of(values->axes.back()), 1}};
  pack_channels(result);
  node.alias(std::move(result));
  return true;
}

bool read_product_of_heads(OnnxNode& node) {
  return node.is_data(0) && node.is_data(1) && (read_attended(node) || read_scores(node));
}

// A number times what may be queries, keys or scores, and is no layer's output yet.
bool scale(OnnxNode& node, int i, double by) {
  if (const auto* given = std::get_if<OnnxScores>(&node.value(i))) {
    OnnxScores scores = *given;
    scores.scale *= by;
    node.alias(std::move(scores));
    return true;
  }
  const auto* given = std::get_if<OnnxView>(&node.value(i));
  if (given == nullptr) return false;
  OnnxView view = *given;
  view.scale *= by;
  node.alias(std::move(view));
  return true;
}

bool read_scale(OnnxNode& node) {
  for (const int i : {0, 1}) {
    if (!node.is_data(i) || node.is_data(1 - i)) continue;
    const auto by = number(node, 1 - i);
    return by.has_value() && *by != 1 && scale(node, i, *by);
  }
  return false;
}

bool read_quotient(OnnxNode& node) {
  const bool may = std::holds_alternative<OnnxScores>(node.value(0)) ||
                   std::holds_alternative<OnnxView>(node.value(0));
  if (!may) return false;
  const auto by = number(node, 1);
  const onnx::NodeProto* reader = node.network().only_reader(node.output());
  if (reader != nullptr && reader->op_type() == "Erf") return false;
  return by && *by != 0 && scale(node, 0, 1 / *by);
}

bool read_added_mask(OnnxNode& node) {
  for (const int i : {0, 1}) {
    const auto* given = std::get_if<OnnxScores>(&node.value(i));
    if (given == nullptr) continue;
    const auto mask = node.network().numbers(node.proto().input(1 - i));
    if (mask == nullptr)
      throw InputError("its mask depends on data; allowed: one that constants alone compute");
    OnnxScores scores = *given;
    take_sight(scores, sight_of(*mask, dims_of(scores.axes), is_visible));
    node.alias(std::move(scores));
    return true;
  }
  return false;
}

// Scores where a constant says so, elsewhere a number that hides.
bool read_chosen(OnnxNode& node) {
  for (const int i : {1, 2}) {
    const auto* given = std::get_if<OnnxScores>(&node.value(i));
    if (given == nullptr) continue;
    const auto mask = node.network().numbers(node.proto().input(0));
    const auto hidden = number(node, 3 - i);
    if (mask == nullptr || !hidden || *hidden > kHidden)
      throw InputError("allowed: a constant mask that hides keys of an attention");
    OnnxScores scores = *given;
    take_sight(scores, sight_of(*mask, dims_of(scores.axes),
                                [&](double truth) { return (truth != 0) == (i == 1); }));
    node.alias(std::move(scores));
    return true;
  }
  return false;
}

bool read_softmax_of_scores(OnnxNode& node) {
  const auto* given = std::get_if<OnnxScores>(&node.value(0));
  if (given == nullptr) return false;
  const std::int64_t axis = node.attributes().integer("axis", node.opset() < 13 ? 1 : -1);
  if (checked_axis(axis, given->axes.size()) + 1 != given->axes.size())
    throw InputError(fmt::format("its axis is {}; allowed: that of the keys, the last", axis));
  OnnxScores scores = *given;
  scores.normalised = true;
  node.alias(std::move(scores));
  return true;
}

// As PyTorch guards softmax where no key is seen: Where(IsNaN(p), 0, p).
bool read_guard(OnnxNode& node) {
  const auto* scores = std::get_if<OnnxScores>(&node.value(0));
  const onnx::NodeProto* chosen = node.network().only_reader(node.output());
  if (scores == nullptr || chosen == nullptr || chosen->op_type() != "Where" ||
      chosen->input(2) != node.proto().input(0))
    return false;
  const OnnxValue value = *scores;
  node.network().absorb(*chosen, node.proto());
  node.network().define(chosen->output(0), value);
  return true;
}

bool read_dropout_of_scores(OnnxNode& node) {
  const auto* given = std::get_if<OnnxScores>(&node.value(0));
  if (given == nullptr) return false;
  const double ratio = node.scalar(1, node.attributes().number("ratio", 0.5));
  if (ratio != 0 && (!given->normalised || given->dropout != 0)) {
    throw InputError(given->normalised
                         ? "a second dropout of an attention's softmax; allowed: one"
                         : "a dropout of an attention's scores before their softmax; allowed: one, "
                           "behind it");
  }
  OnnxScores scores = *given;
  if (ratio != 0) scores.dropout = shortest(static_cast<float>(ratio));
  node.alias(std::move(scores));
  return true;
}

// (n, w, heads d) as (n, heads, w, d).
OnnxView with_heads(OnnxView view, std::int64_t heads) {
  if (view.axes.size() != 3) return view;
  TensorDims dims = dims_of(view.axes);
  if (heads < 1 || dims[2] % heads != 0) fail_heads("inputs");
  auto axes = reshaped(view.axes, {dims[0], dims[1], heads, dims[2] / heads});
  if (!axes) fail_heads("inputs");
  view.axes = std::move(*axes);
  std::swap(view.axes[1], view.axes[2]);
  return view;
}

// Keys or values of fewer heads than queries, which each serve several.
void repeat_heads(OnnxView& view, std::int64_t times) {
  if (times > 1) view.axes[1].push_back({Dim::c, times, 0});
}

// ONNX's op, since opset 23.
bool read_attention(OnnxNode& node) {
  for (int i = 0; i < 3; ++i) {
    if (!node.is_data(i) || !view_of(node, i)) return false;
  }
  const NodeAttributes& attributes = node.attributes();
  for (const char* name : {"softcap", "qk_matmul_output_mode"}) {
    if (attributes.number(name, 0) != 0 || attributes.integer(name, 0) != 0)
      throw InputError(fmt::format("it has {}; allowed: 0", name));
  }
  for (const int i : {4, 5}) {
    if (node.has_input(i)) throw InputError("it has keys of the past; allowed: none");
  }
  const bool flat = view_of(node, 0)->axes.size() == 3;
  const std::int64_t kv = attributes.integer("kv_num_heads", 0);
  const OnnxView queries = with_heads(*view_of(node, 0), attributes.integer("q_num_heads", 0));
  OnnxView keys = with_heads(*view_of(node, 1), kv), values = with_heads(*view_of(node, 2), kv);
  if (queries.axes.size() != 4 || keys.axes.size() != 4 || values.axes.size() != 4)
    fail_heads("inputs");
  const std::int64_t size = extent_of(queries.axes.back()), heads = extent_of(queries.axes[1]);
  repeat_heads(keys, heads / extent_of(keys.axes[1]));
  repeat_heads(values, heads / extent_of(values.axes[1]));
  OnnxScores scores{queries, keys, queries.axes};
  scores.scale = attributes.has("scale") ? attributes.number("scale", 1) : 1 / std::sqrt(size);
  if (attributes.integer("is_causal", 0) != 0) take_sight(scores, {true, 0});
  if (node.has_input(3)) {
    const auto mask = node.network().numbers(node.proto().input(3));
    if (mask == nullptr)
      throw InputError("its mask depends on data; allowed: one that constants alone compute");
    TensorDims dims = dims_of(queries.axes);
    dims.back() = extent_of(keys.axes[2]);
    const auto& types = node.network().shapes().elements;
    const auto type = types.find(node.proto().input(3));
    const bool truths =
        mask->integers || (type != types.end() && type->second == onnx::TensorProto::BOOL);
    take_sight(scores, truths ? sight_of(*mask, dims, [](double t) { return t != 0; })
                              : sight_of(*mask, dims, is_visible));
  }
  OnnxView result{.layer = add_attention(node, scores, values), .axes = queries.axes};
  pack_channels(result);
  if (flat) {
    std::swap(result.axes[1], result.axes[2]);
    TensorDims dims = dims_of(result.axes);
    result.axes = *reshaped(result.axes, {dims[0], dims[1], dims[2] * dims[3]});
  }
  node.alias(std::move(result));
  return true;
}

}  // namespace

TokenOps attention_ops() {
  static constexpr std::array kOps = {
      TokenOp{"Add", read_added_mask}, TokenOp{"Attention", read_attention},
      TokenOp{"Div", read_quotient},   TokenOp{"Dropout", read_dropout_of_scores},
      TokenOp{"IsNaN", read_guard},    TokenOp{"MatMul", read_product_of_heads},
      TokenOp{"Mul", read_scale},      TokenOp{"Softmax", read_softmax_of_scores},
      TokenOp{"Where", read_chosen},
  };
  return kOps;
}

}  // namespace strata
