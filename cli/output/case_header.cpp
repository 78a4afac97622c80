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

void print_header(const Case& input) {
  const std::size_t devices = input.cluster.device_count();
  const Optimizer optimizer = kernels_of(input).optimizer;
  print("{} on {}: {} {}, batch {}, {}, sync {}{}\n\n", input.graph.name(), input.cluster.name(),
        devices, devices == 1 ? "device" : "devices", input.batch(), name(input.dtypes.values),
        sync_text(input.sync),
        optimizer == Optimizer::sgd ? "" : fmt::format(", {}", name(optimizer)));
}

}  // namespace strata
