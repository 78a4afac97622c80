#include "sim/ask/complete.h"

#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/strategy_file.h"

namespace strata {
namespace {

// What a strategy file says it is for.
std::string named_in(const std::string& strategy, std::string_view key) {
  if (!strategy.ends_with(".json")) return "";
  const StrategyNames names = read_strategy_names(strategy);
  return key == "model" ? names.model : names.cluster;
}

// A strategy file has names, and not the files that a network or a cluster came from.
void check_own(const std::string& name, std::string_view key) try {
  if (key == "model") build_zoo(name, 1);
  if (key == "cluster") preset_cluster(name);
} catch (const InputError&) {
  throw InputError(fmt::format(
      "diff: a strategy names {} {}, which does not come with Strata; allowed: `{}` FILE", key,
      name, key));
}

// What was given, or what the files say.
void complete(std::string& given, const char* key, const DiffRequest& request) {
  if (!given.empty()) return;
  for (const std::string& file : {request.before, request.after}) {
    const std::string named = named_in(file, key);
    if (given.empty()) given = named;
    if (named.empty() || named == given) continue;
    throw InputError(
        fmt::format("diff: {} names {} {}, {} names {}; allowed: `{}` NAME to compare "
                    "both on one",
                    request.before, key, given, request.after, named, key));
  }
  if (!given.empty()) return check_own(given, key);
  throw InputError(fmt::format("diff: neither {} nor {} names its {}; allowed: `{}` NAME",
                               request.before, request.after, key, key));
}

}  // namespace

DiffRequest completed(DiffRequest request) {
  complete(request.input.model, "model", request);
  complete(request.input.cluster, "cluster", request);
  return request;
}

}  // namespace strata
