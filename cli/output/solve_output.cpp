#include "cli/output/solve_output.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/strategy/config_text.h"
#include "sim/text/repeats.h"
#include "sim/text/units.h"

namespace strata {
namespace {

// "2 x conv + pool", in the order of appearance.
std::string kinds_text(const Graph& graph, const EqualCuts& run) {
  std::vector<std::pair<std::string_view, int>> kinds;
  for (std::size_t i = run.first(); i <= run.last(); ++i) {
    const std::string_view kind = traits(graph[LayerId(i)].op).summary;
    if (kind.empty() || is_input(graph[LayerId(i)].op)) continue;
    const auto at = std::ranges::find(kinds, kind, &std::pair<std::string_view, int>::first);
    at == kinds.end() ? kinds.emplace_back(kind, 1).second : ++at->second;
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    if (!text.empty()) text += " + ";
    text += count == 1 ? std::string(kind) : fmt::format("{} x {}", count, kind);
  }
  return text;
}

// Rows that repeat are those of equal kinds of layers under equal cuts, whatever their names.
constexpr std::size_t kLeastBlocks = 3;
std::vector<std::size_t> keys_of(const std::vector<std::vector<std::string>>& rows) {
  std::map<std::vector<std::string>, std::size_t> known;
  std::vector<std::size_t> keys;
  keys.reserve(rows.size());
  for (const std::vector<std::string>& row : rows) {
    keys.push_back(known.try_emplace({row.begin() + 1, row.end()}, known.size()).first->second);
  }
  return keys;
}

std::string seconds_text(double seconds) {
  return format_seconds(Seconds{seconds});
}

}  // namespace

std::string grouped_table(const Graph& graph, const Strategy& strategy) {
  using Align = TextTable::Align;
  TextTable table(
      {{"layers", Align::left}, {"of them", Align::left}, {"config", Align::left}, {"devices"}});
  const std::vector<EqualCuts> runs = equal_cuts(graph, strategy);
  std::vector<std::vector<std::string>> rows;
  for (const EqualCuts& run : runs) {
    const Config& config = strategy[run.first];
    rows.push_back({layers_text(graph, run), kinds_text(graph, run), config_text(config),
                    std::to_string(config.devices.size())});
  }
  const std::vector<Repeat> blocks = find_repeats(keys_of(rows), kLeastBlocks);
  auto block = blocks.begin();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.add_row(rows[i]);
    if (block == blocks.end() || i + 1 != block->first + block->length) continue;
    const std::string& last = graph[runs[block->end() - 1].last].name;
    table.add_row(
        {fmt::format("... to {}", last),
         fmt::format("{} above, {} more times",
                     block->length == 1 ? "the row" : fmt::format("the {} rows", block->length),
                     block->times - 1),
         "", ""});
    i = block++->end() - 1;
  }
  return table.print();
}

std::string comparison_table(const Case& input, const Solved& solved) {
  std::vector<CaseResult> results;
  for (const Scored& usual : solved.baselines) results.push_back(result_of(input, usual));
  for (const Scored& scored : solved.best) {
    const auto same = [&](const Scored& usual) {
      return usual.strategy.name() == scored.strategy.name();
    };
    if (std::ranges::none_of(solved.baselines, same)) results.push_back(result_of(input, scored));
  }
  return print_results(
      results, {"strategy", "eq1_seconds", "step_seconds", "comm_bytes", "peak_memory_bytes"});
}

namespace {

// Eq. 1 overlaps nothing, so its optimum need not be the fastest when simulated.
std::string simulated_hint(const Solved& solved) {
  const Scored& best = solved.best.front();
  for (const Scored& usual : solved.baselines) {
    if (!best.simulated() || !usual.simulated() || !usual.fits) continue;
    if (usual.step >= 0.995 * best.step) continue;
    return fmt::format(
        "Under simulation, where communication overlaps, {} is faster: --objective simulated "
        "searches for what is fastest there\n",
        usual.strategy.name());
  }
  return {};
}

// Of which strategies something is proved: " that keeps fc1".
std::string kept_text(const SolveNames& names) {
  return names.kept.empty() ? std::string()
                            : fmt::format(" that keeps {}", fmt::join(names.kept, ", "));
}

// ", 3.9% less": than the answer.
std::string less_text(const Solved& solved) {
  return std::isfinite(solved.least().value) ? fmt::format(", {:.2g}% less", 100 * solved.gap())
                                             : std::string();
}

std::string_view stopped_text(const SolveNames& names) {
  return names.interrupted ? "Interrupted" : "Stopped at --time-limit";
}

// The bound is a mean of what devices compute and wait for.
std::string simulated_proof_text(const Solved& solved, const SolveNames& names) {
  const std::string none =
      fmt::format("no strategy of the 10^{:.1f}{} sustains a step below {}",
                  solved.log10_strategies, kept_text(names), format_seconds(solved.lower_bound));
  if (solved.optimal) {
    return fmt::format(
        "Optimal under simulation, proved: {}: devices compute and wait for that long\n", none);
  }
  const std::string start =
      solved.evaluations == 0
          ? fmt::format("{} before the search under simulation began", stopped_text(names))
          : fmt::format("{} of {} simulated",
                        solved.stopped ? fmt::format("{}: the fastest", stopped_text(names))
                                       : "The fastest",
                        counted(solved.evaluations, "strategy", "strategies"));
  if (solved.lower_bound.value == 0) return start + "; nothing is proved about others\n";
  return fmt::format("{}; {}{}: devices compute and wait for that long\n", start, none,
                     less_text(solved));
}

// Of the best that lies outside the space that was searched.
std::string outside_text(const Solved& solved, const SolveNames& names) {
  std::string best = solved.best.front().strategy.name();
  if (solved.stopped) best = fmt::format("{}: {}", stopped_text(names), best);
  if (solved.by_rule) {
    return fmt::format(
        "{} {}: strategies with stages, or whose layers are computed again, are tried by rule, and "
        "no --degrees include them\n",
        best,
        solved.alone ? "is the fastest that was found to fit in memory"
                     : "is better than the best found on the first devices");
  }
  return fmt::format(
      "{} is better than the best found with --degrees {}, which does not include it; --degrees "
      "all includes more\n",
      best, names.degrees);
}

std::string unchecked_text(const Solved& solved) {
  if (solved.best.front().has_peak()) return "";
  return fmt::format(
      "Memory was not checked: {} was not simulated and may need more than a device "
      "has\n",
      solved.best.front().strategy.name());
}

std::string found_text(const Solved& solved, const SolveNames& names) {
  const std::string bound = format_seconds(solved.lower_bound);
  const std::string& best = solved.best.front().strategy.name();
  if (solved.no_tables) {
    return fmt::format(
        "{} is the fastest of the usual strategies and of those by rule; the tables that a search "
        "needs would be too large, and nothing is proved about others\n",
        best);
  }
  if (solved.outside) return outside_text(solved, names);
  if (names.objective == "simulated") return simulated_proof_text(solved, names);
  // Where memory binds, the bound is of what fits.
  const std::string of =
      (solved.least_memory.value > 0 ? " that fits in memory" : "") + kept_text(names);
  if (solved.optimal) {
    return fmt::format("Optimal under Eq. 1, proved: no strategy{} is faster than {}\n", of,
                       bound) +
           simulated_hint(solved);
  }
  if (solved.rounds_differ) {
    return fmt::format(
        "{} is the best found under Eq. 1; nothing is proved about strategies of other rounds\n",
        best);
  }
  if (solved.lower_bound.value == 0) {
    return fmt::format("{} before anything was proved about {}\n", stopped_text(names), best);
  }
  return fmt::format("{}o strategy{} is faster than {} under Eq. 1{}\n",
                     solved.stopped ? fmt::format("{}: n", stopped_text(names)) : "N", of, bound,
                     less_text(solved));
}

}  // namespace

std::string proof_text(const Solved& solved, const SolveNames& names) {
  return found_text(solved, names) + unchecked_text(solved);
}

std::string effort_text(const Solved& solved) {
  std::string text = fmt::format("10^{:.1f} strategies: {} variables of up to {} configs",
                                 solved.log10_strategies, solved.variables, solved.max_configs);
  if (solved.final_nodes > 0) {
    text += fmt::format("; node and edge eliminations leave {}", solved.final_nodes);
  }
  if (solved.pruned > 0) {
    text += fmt::format("; {} of {} configs dropped with proof", solved.pruned, solved.configs);
  }
  text += fmt::format("\ncost tables {}, search {}", seconds_text(solved.table_seconds),
                      seconds_text(solved.solve_seconds));
  if (solved.evaluations > 0) {
    text +=
        fmt::format(", {} simulations {}", solved.evaluations, seconds_text(solved.refine_seconds));
  }
  return text + "\n";
}

}  // namespace strata
