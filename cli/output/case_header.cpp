#include "cli/output/case_header.h"

#include <fmt/format.h>

#include "cli/output/output.h"
#include "sim/text/units.h"

namespace strata {

std::string sync_text(const GradientSync& sync) {
  std::string text(name(sync.algorithm));
  if (sync.shares()) text = fmt::format("{}, ZeRO {}", text, name(sync.zero));
  if (sync.algorithm == SyncAlgorithm::ps || sync.bucket == kUsualBucket) return text;
  if (sync.bucket == Bytes{}) return text + ", no buckets";
  return text + fmt::format(", buckets of {}", format_bytes(sync.bucket));
}

namespace {

// What of it is not as usual.
std::string step_text(const Case& input) {
  std::string text;
  const Optimizer optimizer = kernels_of(input).optimizer;
  if (optimizer != Optimizer::sgd) text += fmt::format(", {}", name(optimizer));
  if (input.dtypes.gradients != input.dtypes.parameters) {
    text += fmt::format(", gradients {}", name(input.dtypes.gradients));
  }
  if (input.cut) text += fmt::format(", micro-batch {}", input.cut->samples);
  if (input.recompute != Recompute::none) {
    text += fmt::format(", recompute {}", name(input.recompute));
  }
  return text;
}

}  // namespace

void print_header(const Case& input) {
  const std::size_t devices = input.cluster.device_count();
  print("{} on {}: {} {}, batch {}, {}, sync {}{}\n\n", input.graph.name(), input.cluster.name(),
        devices, devices == 1 ? "device" : "devices", input.batch(), name(input.dtypes.values),
        sync_text(input.sync), step_text(input));
}

}  // namespace strata
