#include "sim/json/diff_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "sim/json/fields.h"
#include "sim/json/predict_json.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const Case& input, const Prediction& p) {
  return columns_json(result_of(input, p),
                      {"strategy", "eq1_seconds", "step_seconds", "comm_bytes"});
}

}  // namespace

Json diff_json(const Case& input, const StrategyDiff& diff) {
  Json json{{"model", input.graph.name()},
            {"cluster", input.cluster.name()},
            {"before", side_json(input, diff.before)},
            {"after", side_json(input, diff.after)},
            {"changed_layers", diff.changed.size()}};
  add_uncosted(input.graph, json);
  json["layers"] = Json::array();
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerId id(i);
    const LayerTerms &before = diff.before.terms[i], &after = diff.after.terms[i];
    const Config &from = diff.before.strategy[id], &to = diff.after.strategy[id];
    const bool changed =
        std::find(diff.changed.begin(), diff.changed.end(), id) != diff.changed.end();
    if (!changed && before == after) continue;
    json["layers"].push_back({{"name", input.graph[id].name},
                              {"changed", changed},
                              {"before", terms_json(from.degrees, before)},
                              {"after", terms_json(to.degrees, after)},
                              {"difference_seconds", (after.total() - before.total()).value}});
  }
  return json;
}

}  // namespace strata
