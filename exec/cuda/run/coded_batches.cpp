#include "exec/cuda/run/coded_batches.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/tensor/number_code.h"
#include "sim/base/error.h"

namespace strata::cuda {
namespace {

constexpr std::int64_t kExactNumbers = 257;  // 0 to 256, as values

void check_numbers(const Graph& graph, const Layer& layer, const Embedding& embedding) {
  const std::int64_t most = holds_numbers(graph, layer.inputs[0]) ? kCodedNumbers : kExactNumbers;
  if (embedding.vocabulary <= most) return;
  throw InputError(
      fmt::format("`dtype` bf16: layer {} reads numbers up to {}, of which bf16 holds those up to "
                  "{} exactly{}; "
                  "allowed: fp32, tf32",
                  layer.name, embedding.vocabulary - 1, most - 1,
                  most == kCodedNumbers ? "" : ", since other layers read them, too"));
}

std::vector<float> codes_of(std::span<const float> numbers) {
  std::vector<float> codes(numbers.size());
  std::transform(numbers.begin(), numbers.end(), codes.begin(),
                 [](float number) { return code_of(static_cast<double>(number)); });
  return codes;
}

}  // namespace

CodedBatches::CodedBatches(const Graph& graph) {
  std::size_t input = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Layer& layer = graph[LayerId(i)];
    if (const auto* embedding = std::get_if<Embedding>(&layer.op)) {
      check_numbers(graph, layer, *embedding);
    }
    if (!std::holds_alternative<Input>(layer.op)) continue;
    if (holds_numbers(graph, LayerId(i))) numbers_.push_back(input);
    ++input;
  }
}

Batch CodedBatches::coded(Batch batch) {
  std::vector<std::vector<float>>& codes = codes_[batch.number];
  if (codes.empty()) {
    codes.reserve(numbers_.size());
    for (std::size_t input : numbers_) codes.push_back(codes_of(batch.inputs[input]));
  }
  for (std::size_t k = 0; k < numbers_.size(); ++k) batch.inputs[numbers_[k]] = codes[k];
  return batch;
}

}  // namespace strata::cuda
