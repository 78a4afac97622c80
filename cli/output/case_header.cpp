#include "cli/output/case_header.h"

#include <fmt/format.h>

#include "cli/output/output.h"
#include "sim/case/framework.h"
#include "sim/text/units.h"

namespace strata {

std::string sync_text(const GradientSync& sync) {
  std::string text(name(sync.algorithm));
  if (sync.shares()) text = fmt::format("{}, ZeRO {}", text, name(sync.zero));
  if (sync.updates_on_host()) text += ", updates on hosts";
  if (sync.algorithm == SyncAlgorithm::ps || sync.bucket == kUsualBucket) return text;
  if (sync.bucket == Bytes{}) return text + ", no buckets";
  if (sync.bucket >= kOneBucket) return text + ", one bucket of all gradients";
  return text + fmt::format(", buckets of {}", format_bytes(sync.bucket));
}

std::string step_text(const StepSettings& step) {
  std::string text;
  if (step.optimizer != Optimizer::sgd) text += fmt::format(", {}", name(step.optimizer));
  if (step.gradients) text += fmt::format(", gradients {}", name(*step.gradients));
  if (step.micro_batch) text += fmt::format(", micro-batch {}", *step.micro_batch);
  if (!step.schedule.empty()) text += fmt::format(", schedule {}", step.schedule);
  if (step.recompute != Recompute::none) {
    text += fmt::format(", recompute {}", name(step.recompute));
  }
  if (step.framework != kNoFramework) text += fmt::format(", as {}", step.framework);
  return text;
}

namespace {

StepSettings step_of(const Case& input) {
  StepSettings step;
  step.optimizer = input.optimizer;
  if (input.dtypes.gradients != input.dtypes.parameters) step.gradients = input.dtypes.gradients;
  if (input.cut) step.micro_batch = input.cut->samples;
  step.schedule =
      input.schedule.kind ? std::string(name(*input.schedule.kind)) : input.schedule.file;
  step.recompute = input.recompute;
  step.framework = input.framework;
  return step;
}

}  // namespace

void print_header(const Case& input) {
  const std::size_t devices = input.cluster.device_count();
  print("{} on {}: {} {}, batch {}, {}, sync {}{}\n\n", input.graph.name(), input.cluster.name(),
        devices, devices == 1 ? "device" : "devices", input.batch(), name(input.dtypes.values),
        sync_text(input.sync), step_text(step_of(input)));
}

}  // namespace strata
