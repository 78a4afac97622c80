#include "sim/study/case/framework.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <variant>

#include "sim/graph/blocks.h"
#include "sim/graph/what_if.h"

namespace strata {
namespace {

// The cross entropy converts the logits to fp32 and passes over them in a kernel for each
// operation, where Strata counts a fused one: its speed beside that one's.
constexpr double kMegatronLossSpeed = 0.1;

bool has_loss(const Graph& graph) {
  return std::any_of(graph.layers().begin(), graph.layers().end(), [](const Layer& layer) {
    return std::holds_alternative<SoftmaxCrossEntropy>(layer.op);
  });
}

// Megatron-LM of 2021 to 2023: PyTorch's eager kernels, an attention that writes its scores, all
// gradients of a data-parallel group summed at once behind the last backward pass. The launches and
// the loss's speed are fitted to profiles/published/megatron-a100.toml.
void run_as_megatron(Case& input) {
  change_kernels(input, [](KernelTraits& kernels) {
    kernels.fused_attention = false;
    kernels.keeps_masks = true;
  });
  input.products = Products::merged;
  input.exchanges = Exchanges::collective;
  input.runtime.launches = {{68e-6}, {21e-6}, {0}, {9e-6}, {170e-6}, true, true};
  if (has_loss(input.graph)) {
    input.graph = with_layer_speed(input.graph, "softmax_cross_entropy", kMegatronLossSpeed);
  }
}

// TensorFlow and its like on the GPUs of one host, in 2017: variables lie on the GPUs in turn, as
// parameter servers, and a GPU computes nothing while gradients and parameters move.
void run_as_ddp_2017(Case& input) {
  input.runtime.overlap = Overlap::none;
}

// Of the layers that repeat, or of all where none do.
Bytes largest_block(const Case& input) {
  const auto parameters = [&](std::size_t first, std::size_t last) {
    std::int64_t sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += input.graph[LayerId(i)].parameters.total();
    return Bytes{sum * element_bytes(input.dtypes.gradients)};
  };
  Bytes largest;
  for (const Repeat& blocks : repeated_blocks(input.graph)) {
    largest = std::max(largest, parameters(blocks.first, blocks.first + blocks.length));
  }
  return largest > Bytes{} ? largest : parameters(0, input.graph.size());
}

/// Of a kind's multiprocessors those that NCCL's channels have for themselves (docs/frameworks.md).
struct NcclShare {
  std::string_view kind;
  double channels, multiprocessors;
};
constexpr NcclShare kNcclShares[] = {{"p100", 8, 56},   {"v100", 12, 80},  {"a100", 24, 108},
                                     {"h100", 24, 132}, {"h200", 24, 132}, {"b200", 24, 148}};

// Of the first device's kind; nothing is known of others.
double nccl_share(const Cluster& cluster) {
  const std::string& kind = cluster.devices().front().kind;
  const auto* const at = std::find_if(std::begin(kNcclShares), std::end(kNcclShares),
                                      [&](const NcclShare& share) { return share.kind == kind; });
  return at == std::end(kNcclShares) ? 0 : at->channels / at->multiprocessors;
}

// PyTorch's FullyShardedDataParallel around each block: parameters, gradients and the optimizer's
// state in parts, a block gathered while the one before it is computed.
void run_as_fsdp(Case& input) {
  if (input.sync.bucket == kUsualBucket) input.sync.bucket = largest_block(input);
  input.runtime.communication_share = nccl_share(input.cluster);
}

}  // namespace

void choose_settings(CaseRequest& request, const std::function<bool(std::string_view)>& given) {
  const auto choose = [&](std::string_view key, auto& value, auto chosen) {
    if (!given(key)) value = chosen;
  };
  switch (request.framework) {
    case Framework::none:
      return;
    case Framework::megatron:
      choose("optimizer", request.optimizer, Optimizer::adam);
      return choose("bucket", request.sync.bucket, kOneBucket);
    case Framework::ddp_2017:
      return choose("sync", request.sync.algorithm, SyncAlgorithm::ps);
    case Framework::fsdp:
      choose("optimizer", request.optimizer, Optimizer::adam);
      return choose("zero", request.sync.zero, Zero::parameters);
  }
}

void run_as(Framework framework, Case& input) {
  input.framework = framework;
  switch (framework) {
    case Framework::none:
      return;
    case Framework::megatron:
      return run_as_megatron(input);
    case Framework::ddp_2017:
      return run_as_ddp_2017(input);
    case Framework::fsdp:
      return run_as_fsdp(input);
  }
}

}  // namespace strata
