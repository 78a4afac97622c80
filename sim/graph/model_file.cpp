#include "sim/graph/model_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/model_reader.h"
#include "sim/text/toml.h"

namespace strata {
namespace {

/// Adds the file's layers to a builder one by one. A layer that reads one that failed is left out
/// without a word: its errors would be echoes.
class Reader {
 public:
  Reader(const std::string& graph_name, std::int64_t batch, Diagnostics& errors)
      : builder_(graph_name, batch), errors_(errors) {}

  void read_layer(Table& table) {
    const std::size_t before = errors_.count();
    LayerReader in(table, fmt::format("layer {}", ++number_), errors_);
    const auto layer_name = in.string("name");
    if (layer_name) in.relabel(fmt::format("layer {}", *layer_name));
    auto op = find_op(in);
    const auto inputs = op ? find_inputs(in, *op) : std::nullopt;
    previous_ = LayerId{};
    if (op) {
      visit_keys(*op, in);
      in.finish();
    }
    if (errors_.count() == before && inputs) add(table, *layer_name, *op, *inputs);
    if (!previous_.valid() && layer_name) failed_.insert(*layer_name);
  }

  Graph build() && { return std::move(builder_).build(); }

 private:
  /// The op of that name, with its defaults.
  static std::optional<Op> find_op(LayerReader& in) {
    const auto op_name = in.string("op");
    if (!op_name) return std::nullopt;
    const auto& known = op_prototypes();
    const auto it = std::find_if(known.begin(), known.end(),
                                 [&](const Op& op) { return name(op) == *op_name; });
    if (it != known.end()) return *it;
    in.note("op", fmt::format("unknown op '{}'; allowed: {}", *op_name, op_names()));
    return std::nullopt;
  }

  /// Nullopt if one of them failed or is not there.
  std::optional<std::vector<LayerId>> find_inputs(LayerReader& in, const Op& op) {
    if (is_input(op)) return std::vector<LayerId>{};
    const auto names = in.strings("inputs");
    if (!names) return the_one_above(in);
    std::vector<LayerId> ids;
    bool all_found = true;
    for (const std::string& input : *names) {
      ids.push_back(builder_.find(input));
      if (ids.back().valid()) continue;
      all_found = false;
      if (failed_.contains(input)) continue;
      in.note("inputs", fmt::format("its input '{}' is not a layer above it", input));
    }
    return all_found ? std::optional(ids) : std::nullopt;
  }

  std::optional<std::vector<LayerId>> the_one_above(LayerReader& in) const {
    if (number_ == 1) in.note("missing key 'inputs', and no layer is above it");
    if (!previous_.valid()) return std::nullopt;
    return std::vector<LayerId>{previous_};
  }

  void add(const Table& table, const std::string& layer_name, const Op& op,
           const std::vector<LayerId>& inputs) {
    try {
      previous_ = builder_.add(layer_name, op, inputs);
    } catch (const InputError& error) {
      errors_.add(table.location(), error.message());
    }
  }

  GraphBuilder builder_;
  Diagnostics& errors_;
  std::set<std::string, std::less<>> failed_;
  LayerId previous_;
  std::size_t number_ = 0;
};

Graph read_graph(const Document& document, std::int64_t batch) {
  Table root = document.table();
  Diagnostics errors;
  std::string graph_name;
  std::vector<Table> layers;
  errors.attempt([&] {
    const Value given = root.required("name");
    graph_name = given.as_string();
    if (graph_name.empty()) given.fail_expected("a name");
  });
  errors.attempt([&] { layers = root.tables("layer"); });
  root.finish(errors);
  Reader reader(graph_name, batch, errors);
  for (Table& layer : layers) reader.read_layer(layer);
  errors.throw_if_any();
  try {
    return std::move(reader).build();
  } catch (const InputError& error) {
    root.fail(error.message());
  }
}

}  // namespace

Graph parse_model(std::string_view toml, const std::string& file, std::int64_t batch) {
  return read_graph(parse_toml(toml, file), batch);
}

Graph read_model(const std::string& file, std::int64_t batch) {
  return read_graph(read_toml(file), batch);
}

}  // namespace strata
