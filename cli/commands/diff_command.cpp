// `strata diff A B`: two strategies, layer by layer.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/case_options.h"
#include "cli/options/setting_options.h"
#include "cli/output/case_header.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/ask/ask.h"
#include "sim/json/answer_json.h"
#include "sim/strategy/config_text.h"
#include "sim/text/units.h"

namespace strata {
namespace {

struct DiffFlags {
  DiffRequest request;
  bool json = false;
};

std::string signed_seconds(Seconds change) {
  if (change.value == 0) return "0 s";
  return change.value > 0 ? "+" + format_seconds(change)
                          : "-" + format_seconds(Seconds{-change.value});
}

// Layers whose cut changed, and those that pay for it by other transfers.
void print_layers(const Case& input, const StrategyDiff& diff) {
  using Align = TextTable::Align;
  TextTable table({{"layer", Align::left},
                   {"before", Align::left},
                   {"after", Align::left},
                   {"compute"},
                   {"transfer"},
                   {"sync"},
                   {"together"}});
  for (std::size_t i = 0; i < input.graph.size(); ++i) {
    const LayerId id(i);
    const LayerTerms &before = diff.before.terms[i], &after = diff.after.terms[i];
    const Config &from = diff.before.strategy[id], &to = diff.after.strategy[id];
    const bool listed = from != to && !is_input(input.graph[id].op);
    if (!listed && before == after) continue;
    table.add_row({input.graph[id].name, config_text(from), from == to ? "" : config_text(to),
                   signed_seconds(after.compute - before.compute),
                   signed_seconds(after.transfer - before.transfer),
                   signed_seconds(after.sync - before.sync),
                   signed_seconds(after.total() - before.total())});
  }
  print("{}\n", table.print());
}

void print_totals(const Case& input, const StrategyDiff& diff) {
  TextTable table({{"", TextTable::Align::left}, {"before"}, {"after"}, {"difference"}});
  const CaseResult before = result_of(input, diff.before), after = result_of(input, diff.after);
  for (const std::string_view key : {"strategy", "eq1_seconds", "step_seconds", "comm_bytes"}) {
    const ColumnSpec& shown = column(key);
    const bool time = key_unit(key).quantity == Quantity::seconds;
    const auto seconds = [&](const CaseResult& r) { return number_in(field_of(shown, r)).value(); };
    table.add_row({title_of(shown), text_of(shown, before), text_of(shown, after),
                   time ? signed_seconds({seconds(after) - seconds(before)}) : ""});
  }
  print("{}", table.print());
}

void run(const DiffFlags& flags) {
  AskOptions options;
  options.warn = warn;
  const Answer answer = ask(flags.request, options);
  const Case& input = *answer.input;
  const StrategyDiff& result = std::get<StrategyDiff>(answer.found);
  if (flags.json) return print_json(to_json(answer));
  print_header(input);
  if (result.changed.empty()) {
    print("{} and {} cut every layer the same way.\n\n", result.before.strategy.name(),
          result.after.strategy.name());
  } else {
    print("{} of {} layers have another cut; the changes under Eq. 1:\n\n", result.changed.size(),
          input.graph.size());
    print_layers(input, result);
  }
  print_totals(input, result);
}

}  // namespace

void add_diff_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("diff", "compare two strategies layer by layer");
  auto flags = std::make_shared<DiffFlags>();
  command->add_option("BEFORE", flags->request.before, std::string(setting("strategy").help))
      ->required();
  command->add_option("AFTER", flags->request.after, "the same")->required();
  command->add_option("--model", flags->request.input.model,
                      "a name, or a .toml or .onnx file (default: that of a strategy file)");
  command->add_option("--cluster", flags->request.input.cluster,
                      "a name or a .toml file (default: that of a strategy file)");
  add_network_options(*command, flags->request.input);
  add_case_options(*command, flags->request.input);
  command->add_flag("--json", flags->json, "print JSON")->disable_flag_override();
  command->callback([flags] { run(*flags); });
}

}  // namespace strata
