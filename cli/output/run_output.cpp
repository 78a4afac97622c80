#include "cli/output/run_output.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/output/device_warnings.h"
#include "cli/output/table.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr std::size_t kMismatchesNamed = 5;
constexpr std::size_t kFewestSteps = 6;  // from which a median has an interval of 95 %
constexpr double kMostSpread = 0.05;     // of the steps that a prediction is compared with

std::string table(const RunReport& report) {
  const TrainedSteps& training = report.trained;
  const Communication& moved = training.moved_per_step;
  std::vector<TextTable::Cell> row = {
      {"strategy", report.strategy.name(), TextTable::left},
      {"step time", format_seconds(training.times.median)},
      {"least", format_seconds(training.times.min)},
      {"p90", format_seconds(training.times.p90)},
      {"samples/s", fmt::format("{:.1f}", report.throughput())},
      {"communication", format_bytes(moved.total())},
      {"of it sync", format_bytes(moved.sync)},
      {"first loss", fmt::format("{:.4f}", training.losses.front())},
      {"last loss", fmt::format("{:.4f}", training.losses.back())}};
  if (training.issue) row.push_back({"host a step", format_seconds(training.issue->min)});
  if (training.plain_loops) {
    row.push_back({"plain loops", std::to_string(training.plain_loops->products)});
  }
  TextTable table;
  table.add(row);
  return table.print();
}

std::string in_layer(const LargestDifference& difference) {
  return difference.layer.empty() ? "0"
                                  : fmt::format("{:.1e} ({})", difference.value, difference.layer);
}

std::string place(const TensorDifference& d) {
  return d.layer.empty() ? d.what : fmt::format("{} of layer {}", d.what, d.layer);
}

std::string layers_text(const LayerCheck& check) {
  if (!check.skipped.empty()) {
    return fmt::format("Layers were not compared: {}\n", check.skipped);
  }
  if (check.beyond.empty()) {
    return fmt::format(
        "Each of {} layers, given the same inputs, computes what one device computes (a wrong cut "
        "would show here): at most {:.1e} apart ({}), {:.0e} allowed\n",
        check.layers, check.largest.value, place(check.largest), check.largest.allowed);
  }
  return fmt::format("{} tensors differ from what one device computes from the same inputs\n",
                     check.beyond.size());
}

std::string three_text(const Differences& d) {
  return fmt::format("losses by {:.1e}, gradients by {}, weights by {}", d.loss,
                     in_layer(d.gradients), in_layer(d.weights));
}

std::string allowed_text(const Check& check) {
  if (!check.rounding) {
    const double gradients = check.allowed().gradients;
    const std::string more =
        gradients > check.tolerance
            ? fmt::format(", of gradients {:.1e}, for the last loss is small", gradients)
            : "";
    return fmt::format("; allowed: {}{}", check.tolerance, more);
  }
  return fmt::format(
      "\n  Rounding alone changes one device's, if its weights start {} in the last place away: "
      "{}; {} times that is allowed",
      check.units == 1 ? "one unit" : fmt::format("up to {} units", check.units),
      three_text(*check.rounding), kTimesRounding);
}

std::string check_text(const Check& check) {
  const CheckVerdict verdict = check.verdict();
  return fmt::format(
      "{}\n  {}  The training, in which rounding adds up, differs from one device's: {}{}\n",
      verdict == CheckVerdict::cannot_say ? "Check without a result"
                                          : fmt::format("Check {}", name(verdict)),
      layers_text(check.layers), three_text(check.differences), allowed_text(check));
}

// What a few steps, or steps on a machine that does something else, took says little of a
// prediction: strata validate compares each step with what its shards cost at that time.
std::string beside_measured(const StepTimes& times, Seconds predicted) {
  if (times.count < kFewestSteps) {
    return "with more steps it is compared with the measured time";
  }
  if (times.spread > times.median * kMostSpread) {
    return fmt::format("the steps' times vary by {:.0f}%, too much to compare: see strata validate",
                       100 * (times.spread / times.median));
  }
  return fmt::format("{:+.1f}% from the measured time", 100 * (predicted / times.median - 1));
}

std::string prediction_text(const RunReport& report) {
  const Seconds predicted = report.predicted->step_seconds();
  return fmt::format("Predicted: {} a step ({})\n", format_seconds(predicted),
                     beside_measured(report.trained.times, predicted));
}

void append_line(std::string& text, const std::string& line) {
  if (!text.empty()) text += '\n';
  text += line;
}

void add_mismatch(std::string& text, std::string_view what, const LargestDifference& difference,
                  double allowed) {
  if (difference.value <= allowed) return;
  append_line(
      text, fmt::format("the {} of layer {} differ from one device's by {:.2e}; allowed: {}", what,
                        difference.layer, difference.value, allowed));
}

std::string mismatch_of(const TensorDifference& d) {
  if (std::isinf(d.value)) {
    return fmt::format("step {}: no shard has some of the {}", d.step, place(d));
  }
  return fmt::format(
      "step {}, shard {}: the {} differs from what one device computes from the same inputs by "
      "{:.2e}; allowed: {:.0e}",
      d.step, d.shard, place(d), d.value, d.allowed);
}

// One layer's mistake seldom comes alone; what came first is where to look.
void add_layers(std::string& text, const LayerCheck& check) {
  for (std::size_t i = 0; i < std::min(kMismatchesNamed, check.beyond.size()); ++i) {
    append_line(text, mismatch_of(check.beyond[i]));
  }
  if (check.beyond.size() <= kMismatchesNamed) return;
  append_line(text, fmt::format("and {} more", check.beyond.size() - kMismatchesNamed));
}

}  // namespace

std::string run_text(const RunNames& names, const RunReport& report) {
  std::string text = fmt::format(
      "{} on {} ({}): batch {}, sync {}{}, {} steps\n\n{}{}", report.graph.name(), names.devices,
      names.machine, report.graph.batch(), sync_text(names.training.sync),
      step_text(names.training, std::string(kNoFramework)), report.trained.losses.size(),
      table(report), plain_loops_text(report.trained.plain_loops.value_or(PlainLoops{})));
  if (report.predicted || report.test || report.check) text += '\n';
  if (report.predicted) text += prediction_text(report);
  if (report.test) {
    text += fmt::format("Test: {:.2f}% of {} samples right, loss {:.4f}\n",
                        100 * report.test->accuracy, report.test->samples, report.test->loss);
  }
  if (report.check) text += check_text(*report.check);
  return text;
}

std::string costs_text(const CostsUsed& costs) {
  std::string text = "the search's costs:";
  if (costs.kept > 0) {
    const std::string dates =
        costs.oldest == costs.newest ? costs.oldest : costs.oldest + " to " + costs.newest;
    text += fmt::format(" {} kept in {} (measured {})", costs.kept, costs.folder, dates);
  }
  if (costs.measured == 0) return text;
  text += fmt::format("{} {} measured now, in {}", costs.kept > 0 ? "," : "", costs.measured,
                      format_seconds(costs.took));
  if (costs.kept == 0 && !costs.folder.empty()) text += fmt::format(", kept in {}", costs.folder);
  return text;
}

std::string mismatch_text(const RunReport& report) {
  std::string text;
  if (!report.check || report.check->verdict() != CheckVerdict::failed) return text;
  const Differences& d = report.check->differences;
  const Allowance most = report.check->allowed();
  add_layers(text, report.check->layers);
  if (!(d.loss <= most.loss)) {
    append_line(text, fmt::format("the losses differ from one device's by {:.2e}; allowed: {}",
                                  d.loss, most.loss));
  }
  add_mismatch(text, "gradients", d.gradients, most.gradients);
  add_mismatch(text, "weights", d.weights, most.weights);
  return text;
}

std::string unjudged(const RunReport& report) {
  if (!report.check || report.check->verdict() != CheckVerdict::cannot_say) return "";
  const Allowance most = report.check->allowed();
  return fmt::format(
      "the check has no result: layers were not compared ({}), and rounding alone "
      "changes the training so much that gradients may differ by {:.1e} and weights by {:.1e}",
      report.check->layers.skipped, most.gradients, most.weights);
}

}  // namespace strata
