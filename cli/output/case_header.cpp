#include "cli/output/case_header.h"

#include <fmt/format.h>

#include "cli/output/output.h"
#include "sim/case/framework.h"
#include "sim/text/units.h"

namespace strata {

std::string sync_text(const GradientSync& sync) {
  std::string text(name(sync.algorithm));
  if (sync.shares()) text = fmt::format("{}, ZeRO {}", text, name(sync.zero));
  if (sync.zero_group > 0) text += fmt::format(" in groups of {}", sync.zero_group);
  if (sync.updates_on_host()) text += ", updates on hosts";
  if (sync.algorithm == SyncAlgorithm::ps || sync.bucket == kUsualBucket) return text;
  if (sync.bucket == Bytes{}) return text + ", no buckets";
  if (sync.bucket >= kOneBucket) return text + ", one bucket of all gradients";
  return text + fmt::format(", buckets of {}", format_bytes(sync.bucket));
}

std::string step_text(const Training& training, const std::string& framework) {
  std::string text;
  if (training.optimizer != Optimizer::sgd) text += fmt::format(", {}", name(training.optimizer));
  if (training.gradients)
    text += fmt::format(", gradients {}", name(dtype_of(*training.gradients)));
  if (training.micro_batch) text += fmt::format(", micro-batch {}", *training.micro_batch);
  if (!training.schedule.empty()) text += fmt::format(", schedule {}", training.schedule);
  if (training.overlap != PassOverlap::none)
    text += fmt::format(", overlap {}", name(training.overlap));
  if (training.recompute != Recompute::none) {
    text += fmt::format(", recompute {}", name(training.recompute));
  }
  if (!training.train.empty()) text += fmt::format(", trains {}", training.train);
  if (framework != kNoFramework) text += fmt::format(", as {}", framework);
  return text;
}

void print_header(const Case& input) {
  const std::size_t devices = input.cluster.device_count();
  print("{} on {}: {} {}, batch {}, {}, sync {}{}\n\n", input.graph.name(), input.cluster.name(),
        devices, devices == 1 ? "device" : "devices", input.batch(), name(input.dtypes.values),
        sync_text(input.sync), step_text(training_of(input), input.framework));
}

}  // namespace strata
