#include "cli/output/explain_output.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "cli/output/table.h"
#include "sim/strategy/config_text.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kListed = 16;

std::string step_text(const ChoiceCosts& costs) {
  if (costs.step <= Seconds{}) return "-";
  return format_seconds(costs.step) + (costs.fits ? "" : " (too large)");
}

std::string binding_text(const Graph& graph, const ChoiceCosts& costs) {
  if (!costs.binding.valid()) return "";
  return fmt::format("{} ({})", graph[costs.binding].name, format_seconds(costs.binding_transfer));
}

// The shortest step first, then the least regret where none was simulated.
std::vector<std::size_t> ranked(const std::vector<ChoiceCosts>& choices) {
  std::vector<std::size_t> order(choices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const ChoiceCosts& c = choices[i];
    return std::tuple(c.step <= Seconds{}, c.step, c.regret);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::string choice_table(const Case& input, const Explanation& explanation, std::size_t most) {
  const auto& choices = explanation.choices;
  const std::vector<std::size_t> order = ranked(choices);
  TextTable table;
  std::size_t left_out = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const ChoiceCosts& c = choices[order[rank]];
    const bool chosen = explanation.chosen == order[rank];
    if (rank >= most && !chosen) {
      ++left_out;
      continue;
    }
    table.add({{"config", config_text(c.config), TextTable::left},
               {"step", step_text(c)},
               {"compute", format_seconds(c.compute)},
               {"transfer in", format_seconds(c.transfer_in)},
               {"transfer out", format_seconds(c.transfer_out)},
               {"sync", format_seconds(c.sync)},
               {"sum", format_seconds(c.total())},
               {"regret", format_seconds(c.regret)},
               {"largest transfer", binding_text(input.graph, c), TextTable::left},
               {"", chosen ? "chosen" : "", TextTable::left}});
  }
  std::string text = table.print();
  if (left_out > 0) text += fmt::format("... and {} more (--all or --json has them)\n", left_out);
  return text;
}

std::string layer_names(const Graph& graph, const std::vector<LayerId>& layers) {
  std::string names;
  for (LayerId id : layers) names += (names.empty() ? "" : ", ") + graph[id].name;
  return names;
}

std::string exposures_text(const Case& input, const Explanation& explanation) {
  if (explanation.exposures.empty()) return "";
  TextTable table;
  for (const Exposure& part : explanation.exposures) {
    table.add({{"communication in the step", what(input.graph, part), TextTable::left},
               {"lasts", format_seconds(part.lasts)},
               {"hidden", format_seconds(part.hidden())},
               {"exposed", format_seconds(part.exposed)}});
  }
  return "\n" + table.print();
}

std::string best_other_text(const ExplainedLayer& explained) {
  const Explanation& explanation = explained.explanation;
  const auto best = explanation.best_other();
  if (!best) return "";
  const ChoiceCosts& other = explanation.choices[*best];
  const std::string own = format_seconds(explanation.step), step = format_seconds(other.step);
  std::string text = fmt::format("\nBest besides its own: {}, ", config_text(other.config));
  text += own == step ? fmt::format("a step of {}, too.", step)
                      : fmt::format("a step of {} in place of {}.", step, own);
  text += " " + turns_text(explained.turns, other.step < explanation.step,
                           config_text(explained.strategy[explained.layer]), explained.all_tried);
  return text + (explained.turns.empty() ? "\n" : fmt::format("\n{}\n", kTurnsNote));
}

std::string summary_text(const Case& input, const ExplainedLayer& explained) {
  std::string text = fmt::format(
      "\nStep is the simulated one with this config, all other layers cut as in {}. Compute, "
      "transfers and\nsync are those of Eq. 1 among the same neighbours. Regret is how much slower "
      "the best strategy with\nthis config is than the optimum under Eq. 1, which takes {}.\n",
      explained.strategy.name(), format_seconds(explained.explanation.optimum));
  if (explained.explanation.chosen) return text;
  return text + fmt::format("{} cuts {} as {}, which the search does not consider.\n",
                            explained.strategy.name(), input.graph[explained.layer].name,
                            config_text(explained.strategy[explained.layer]));
}

void add_row(TextTable& table, const std::string& name, Seconds step, Seconds eq1,
             const PathShares& path, const Exposure& all, Bytes peak) {
  table.add({{"strategy", name, TextTable::left},
             {"step", format_seconds(step)},
             {"compute", format_seconds(path.compute)},
             {"transfers", format_seconds(path.transfer)},
             {"sums", format_seconds(path.sync + path.statistics)},
             {"idle", format_seconds(path.idle)},
             {"hidden", format_seconds(all.hidden())},
             {"Eq. 1", format_seconds(eq1)},
             {"peak memory", format_bytes(peak)}});
}

std::string story_table(const Story& story) {
  TextTable table;
  add_row(table, story.strategy.name(), story.step, story.eq1, story.path, story.exposures.all,
          story.peak_memory);
  for (const Rival& rival : story.rivals) {
    add_row(table, rival.strategy.name(), rival.step, rival.eq1, rival.path, rival.communication,
            rival.peak_memory);
  }
  return table.print();
}

}  // namespace

std::string explained_text(const Case& input, const ExplainedLayer& explained, bool all) {
  const Explanation& explanation = explained.explanation;
  return fmt::format("{} under {}, with the layers that share its config: {}\n\n{}{}{}{}",
                     input.graph[explained.layer].name, explained.strategy.name(),
                     layer_names(input.graph, explanation.layers),
                     choice_table(input, explanation, all ? explanation.choices.size() : kListed),
                     exposures_text(input, explanation), best_other_text(explained),
                     summary_text(input, explained));
}

std::string story_text(const Case& input, const Story& story) {
  std::string text = story_table(story) + "\n";
  for (const std::string& sentence : sentences(input, story)) text += sentence + "\n";
  return text;
}

}  // namespace strata
