#include "cli/output/validate_output.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/device_warnings.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "cli/output/table.h"
#include "sim/plan/work_kind.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kMostRows = 8;

std::string percent(double share) {
  return fmt::format("{:+.1f}%", 100 * share);
}

// No row is of a kind and a phase that no plan has together.
std::string_view what(const ErrorRow& row) {
  return role_of(row.of.kind, row.of.phase).value_or(TaskRole{}).name;
}

std::string layer_text(const ValidateCase& c, const TaskClass& of) {
  const std::string& name = c.graph[of.layer].name;
  return of.layers == 1 ? name : fmt::format("{} and {} more", name, of.layers - 1);
}

// What is not known is not printed: the interval says how far it could be either way.
std::string error_text(const ValidateCase& c) {
  return is_judged(c.verdict) ? percent(c.relative_error()) : "?";
}

std::string interval_text(const ValidateCase& c) {
  if (c.error.pairs < 2) return "";
  return fmt::format("{} and {}", percent(c.error.low), percent(c.error.high));
}

constexpr std::string_view kColumns =
    "predicted  from the costs of shards right before and after each measured step\n"
    "profile    as strata predict simulates it, from their costs over the whole time\n"
    "Eq. 1      the paper's estimate, in which nothing overlaps\n"
    "spread     half the distance between the quartiles of the measured steps\n"
    "error      of the prediction, the median over the pairs of both; with 95% confidence\n"
    "           between the next two\n";

// In the shape of the paper's Table 4: a row for a network, devices and a strategy.
std::string case_table(const ValidateReport& report) {
  const bool on_gpus = std::ranges::any_of(
      report.cases, [](const ValidateCase& c) { return c.plain_loops.has_value(); });
  TextTable table;
  for (const ValidateCase& c : report.cases) {
    std::vector<TextTable::Cell> row = {
        {"network", c.model, TextTable::left},
        {"devices", fmt::format("{}", c.devices)},
        {"batch", fmt::format("{}", c.batch)},
        {"strategy", c.strategy, TextTable::left},
        {"predicted", format_seconds(c.predicted)},
        {"profile", format_seconds(c.profile)},
        {"Eq. 1", format_seconds(c.eq1)},
        {"measured", format_seconds(c.measured)},
        {"spread", fmt::format("{:.1f}%", 100 * (c.spread / c.measured))},
        {"error", error_text(c)},
        {"between", interval_text(c), TextTable::left},
        {"the prediction", std::string(name(c.verdict)), TextTable::left}};
    const std::size_t loops = c.plain_loops.value_or(PlainLoops{}).products;
    if (on_gpus) row.push_back({"plain loops", std::to_string(loops)});
    table.add(row);
  }
  return table.print();
}

std::string order_text(const ValidateReport& report) {
  const std::size_t pairs = report.ranked_pairs();
  if (pairs == 0) return "No two strategies differ by more than the variation of the measurement.";
  return fmt::format(
      "Of {} pairs of strategies whose order was measured, the profile predicts {:.0f}% in that "
      "order. "
      "{}",
      pairs, 100 * report.rank_agreement(),
      report.fastest_first() ? "None was faster than the one predicted to be the fastest."
                             : "One was faster than the one predicted to be the fastest.");
}

// "Predictions hold", or how many do what.
std::string verdicts(const ValidateReport& report) {
  const std::size_t all = report.cases.size(), judged = report.judged_cases();
  const auto off = static_cast<std::size_t>(std::ranges::count_if(
      report.cases, [](const ValidateCase& c) { return c.verdict == Judgement::off; }));
  if (judged == all && all == 1) {
    return off == 0 ? "The prediction holds" : "The prediction is off";
  }
  if (judged == all && off == 0) return "Predictions hold";
  std::string text = fmt::format("Of {}", counted(all, "prediction", "predictions"));
  if (judged > off) text += fmt::format(" {},", counted(judged - off, "holds", "hold"));
  if (off > 0) text += fmt::format(" {},", counted(off, "is off", "are off"));
  if (judged < all) text += fmt::format(" {} cannot be judged,", all - judged);
  text.pop_back();
  return text;
}

std::string verdict_text(const ValidateReport& report) {
  const std::size_t judged = report.judged_cases();
  if (judged == 0) return "";
  const std::string sizes =
      judged == 1
          ? fmt::format("The error is {:.1f}%", 100 * report.max_absolute_error())
          : fmt::format("The error is {:.1f}% on average, {:.1f}% at most",
                        100 * report.mean_absolute_error(), 100 * report.max_absolute_error());
  return fmt::format("{}. {}{}; an error of up to {:g}% counts as holding.\n", verdicts(report),
                     sizes, judged == report.cases.size() ? "" : " where it can be judged",
                     100 * report.limit);
}

std::string doubt_of(const ValidateReport& report) {
  const bool few = std::ranges::any_of(
      report.cases, [](const ValidateCase& c) { return c.verdict == Judgement::too_few; });
  return few ? "there are too few rounds"
             : "this machine is too noisy, or something else runs on it";
}

std::string more_command(const ValidateReport& report, const std::string& command) {
  return with_option(command, "--rounds", std::to_string(report.to_judge()->rounds), {"--seconds"});
}

std::string more_text(const ValidateReport& report, const std::string& command) {
  const auto more = report.to_judge();
  if (!more) return "";
  const std::string which =
      report.judged_cases() == 0 ? "Predictions can't be judged" : "The others can't be judged";
  return fmt::format("{}: {}. {} rounds would suffice, in about {}:\n  {}\n", which,
                     doubt_of(report), more->rounds, format_seconds(more->seconds),
                     more_command(report, command));
}

std::string summary(const ValidateReport& report, const std::string& command) {
  return fmt::format("{}{}{}\n", verdict_text(report), more_text(report, command),
                     order_text(report));
}

// Sums over the devices, so a row can be longer than the step.
std::string explanation(const ValidateCase& c) {
  TextTable table;
  for (const ErrorRow& row : c.errors) {
    if (table.row_count() == kMostRows) break;
    table.add({{"layer", layer_text(c, row.of), TextTable::left},
               {"task", std::string(what(row)), TextTable::left},
               {"predicted", format_seconds(row.predicted.duration)},
               {"measured", format_seconds(row.measured.duration)},
               {"share of all errors", fmt::format("{:.0f}%", 100 * row.share)}});
  }
  return fmt::format(
      "The largest error: {} on {} devices, {}. Its tasks, each at its median over the first pairs "
      "and "
      "summed over the devices:\n\n{}",
      c.model, c.devices, c.strategy, table.print());
}

std::string case_name(const ValidateCase& c) {
  return fmt::format("{} on {} devices, {}", c.model, c.devices, c.strategy);
}

// Of the first case that has any: the others' are of the same layers.
std::string first_plain_loops(const ValidateReport& report) {
  for (const ValidateCase& c : report.cases) {
    const std::string text = plain_loops_text(c.plain_loops.value_or(PlainLoops{}));
    if (!text.empty()) return fmt::format("{}: {}\n", case_name(c), text);
  }
  return "";
}

void add_line(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

}  // namespace

std::string validate_text(const ValidateReport& report, const std::string& machine,
                          const std::string& command) {
  std::string text =
      fmt::format("Predicted and measured steps on {}\n\n{}\n{}{}\n{}", machine, case_table(report),
                  first_plain_loops(report), kColumns, summary(report, command));
  if (report.judged_cases() == 0) return text;
  return fmt::format("{}\n{}", text, explanation(report.worst_case()));
}

std::string validate_failure(const ValidateReport& report, std::optional<double> tolerance) {
  std::string text;
  for (const ValidateCase& c : report.cases) {
    if (c.moved_as_planned) continue;
    add_line(text, fmt::format("{}: moved {} bytes, the plan says {}", case_name(c),
                               c.moved.total().value, c.planned.total().value));
  }
  for (const ValidateCase& c : report.cases) {
    if (!tolerance || c.verdict != Judgement::off) continue;
    add_line(text,
             fmt::format("{}: the error is {:.3f}, between {:.3f} and {:.3f}; allowed: {}",
                         case_name(c), c.relative_error(), c.error.low, c.error.high, *tolerance));
  }
  return text;
}

std::string unjudged(const ValidateReport& report, const std::string& command) {
  std::string text;
  for (const ValidateCase& c : report.cases) {
    if (is_judged(c.verdict)) continue;
    add_line(text, fmt::format("{}: {}", case_name(c), name(c.verdict)));
  }
  if (const auto more = report.to_judge()) {
    add_line(text, fmt::format("{} rounds would suffice, in about {}: {}", more->rounds,
                               format_seconds(more->seconds), more_command(report, command)));
  }
  return text;
}

}  // namespace strata
