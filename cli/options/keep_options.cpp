#include "cli/options/keep_options.h"

#include <string_view>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/keep.h"
#include "sim/text/split.h"

namespace strata {

void add_keep_options(CLI::App& command, KeepFlags& flags) {
  command.add_option("--keep", flags.layers,
                     "layers, between commas, that keep the cuts of --strategy; the search "
                     "finds the others");
  command.add_option("--strategy", flags.strategy,
                     "for --keep: data, model, owt, hybrid:..., optimal or a .json file");
}

void check(const KeepFlags& flags) {
  if (!flags.layers.empty() && flags.strategy.empty()) {
    throw InputError(
        fmt::format("`keep` {}: it needs the strategy whose cuts they keep; allowed: --strategy S "
                    "beside it",
                    flags.layers));
  }
  if (flags.layers.empty() && !flags.strategy.empty()) {
    throw InputError(
        fmt::format("`strategy` {}: solve looks for one; allowed: beside --keep LAYER[,LAYER...], "
                    "the layers that keep its cuts",
                    flags.strategy));
  }
}

std::vector<std::string> kept_names(const KeepFlags& flags) {
  std::vector<std::string> names;
  if (flags.layers.empty()) return names;
  for (const std::string_view name : split_at_commas(flags.layers)) names.emplace_back(name);
  return names;
}

KeptLayers kept_layers(const KeepFlags& flags, const SearchOptions& space, const Case& input) {
  if (flags.layers.empty()) return {};
  return {load_strategy(flags.strategy, input, space),
          layers_named(input.graph, kept_names(flags))};
}

}  // namespace strata
