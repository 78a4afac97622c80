#include "cli/run_output.h"

#include <cmath>

#include <fmt/format.h>

#include "cli/table.h"
#include "sim/text/units.h"

namespace strata {
namespace {

void add_test(nlohmann::ordered_json& json, const TestResult& test) {
  json["test_accuracy"] = test.accuracy;
  json["test_loss"] = test.loss;
  json["test_samples"] = test.samples;
}

void add_differences(nlohmann::ordered_json& json, const Differences& differences,
                     double tolerance) {
  json["max_relative_difference"] = {{"loss", differences.loss},
                                     {"gradients", differences.gradients.value},
                                     {"weights", differences.weights.value}};
  json["worst_layers"] = {{"gradients", differences.gradients.layer},
                          {"weights", differences.weights.layer}};
  json["tolerance"] = tolerance;
}

nlohmann::ordered_json costs_json(const CostsUsed& costs) {
  if (!costs.files.empty()) return {{"source", "profile"}, {"files", costs.files}};
  nlohmann::ordered_json json = {{"source", costs.measured == 0 ? "kept" : "measured"},
                                 {"kept", costs.kept},
                                 {"measured", costs.measured},
                                 {"measure_seconds", costs.took.value}};
  if (!costs.folder.empty()) json["folder"] = costs.folder;
  if (costs.kept > 0) {
    json["oldest"] = costs.oldest;
    json["newest"] = costs.newest;
  }
  return json;
}

std::string table(const RunReport& report) {
  const Training& training = report.training;
  const Communication& moved = training.moved_per_step;
  TextTable table({{"strategy", TextTable::Align::left},
                   {"step time"},
                   {"least"},
                   {"p90"},
                   {"samples/s"},
                   {"communication"},
                   {"of it sync"},
                   {"first loss"},
                   {"last loss"}});
  table.add_row({report.strategy.name(), format_seconds(training.times.median),
                 format_seconds(training.times.min), format_seconds(training.times.p90),
                 fmt::format("{:.1f}", report.throughput()), format_bytes(moved.total()),
                 format_bytes(moved.sync), fmt::format("{:.4f}", training.losses.front()),
                 fmt::format("{:.4f}", training.losses.back())});
  return table.print();
}

std::string in_layer(const LargestDifference& difference) {
  return difference.layer.empty() ? "0"
                                  : fmt::format("{:.1e} ({})", difference.value, difference.layer);
}

std::string differences_text(const Differences& d, double tolerance) {
  return fmt::format(
      "Beside one device: losses differ by {:.1e}, gradients by {}, weights by {}; allowed: {}\n",
      d.loss, in_layer(d.gradients), in_layer(d.weights), tolerance);
}

std::string prediction_text(const RunReport& report) {
  const Seconds predicted = report.predicted->step_seconds();
  return fmt::format("Predicted: {} a step ({:+.1f}% beside what was measured)\n",
                     format_seconds(predicted),
                     100 * (predicted / report.training.times.median - 1));
}

void add_mismatch(std::string& text, std::string_view what, const LargestDifference& difference,
                  double tolerance) {
  if (difference.value <= tolerance) return;
  if (!text.empty()) text += '\n';
  text += fmt::format("the {} of layer {} differ from one device's by {:.2e}; allowed: {}", what,
                      difference.layer, difference.value, tolerance);
}

}  // namespace

nlohmann::ordered_json run_json(const RunNames& names, const RunReport& report) {
  const Training& training = report.training;
  const Communication& moved = training.moved_per_step;
  nlohmann::ordered_json json = {{"model", report.graph.name()},
                                 {"devices", report.cluster.device_count()},
                                 {"device_names", names.devices},
                                 {"machine", names.machine},
                                 {"strategy", report.strategy.name()},
                                 {"sync", names.sync},
                                 {"batch", report.graph.batch()},
                                 {"steps", training.losses.size()},
                                 {"timed_steps", training.times.count},
                                 {"step_seconds",
                                  {{"median", training.times.median.value},
                                   {"min", training.times.min.value},
                                   {"p90", training.times.p90.value}}},
                                 {"throughput", report.throughput()},
                                 {"losses", training.losses},
                                 {"comm_bytes", moved.total().value},
                                 {"transfer_bytes", moved.transfer.value},
                                 {"sync_bytes", moved.sync.value},
                                 {"statistics_bytes", moved.statistics.value}};
  if (report.test) add_test(json, *report.test);
  if (report.differences) add_differences(json, *report.differences, names.tolerance);
  if (report.costs) json["costs"] = costs_json(*report.costs);
  if (report.predicted) json["predicted_seconds"] = report.predicted->step_seconds().value;
  return json;
}

std::string run_text(const RunNames& names, const RunReport& report) {
  std::string text =
      fmt::format("{} on {} ({}): batch {}, sync {}, {} steps\n\n{}", report.graph.name(),
                  names.devices, names.machine, report.graph.batch(), names.sync,
                  report.training.losses.size(), table(report));
  if (report.predicted || report.test || report.differences) text += '\n';
  if (report.predicted) text += prediction_text(report);
  if (report.test) {
    text += fmt::format("Test: {:.2f}% of {} samples right, loss {:.4f}\n",
                        100 * report.test->accuracy, report.test->samples, report.test->loss);
  }
  if (report.differences) text += differences_text(*report.differences, names.tolerance);
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

std::string mismatch_text(const RunNames& names, const RunReport& report) {
  std::string text;
  if (!report.differences || report.differences->within(names.tolerance)) return text;
  const Differences& d = *report.differences;
  if (!(d.loss <= names.tolerance)) {
    text = fmt::format("the losses differ from one device's by {:.2e}; allowed: {}", d.loss,
                       names.tolerance);
  }
  add_mismatch(text, "gradients", d.gradients, names.tolerance);
  add_mismatch(text, "weights", d.weights, names.tolerance);
  return text;
}

}  // namespace strata
