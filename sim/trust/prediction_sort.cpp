#include "sim/trust/prediction_sort.h"

#include <algorithm>
#include <variant>

namespace strata {
namespace {

NetworkFamily family_of(const Graph& graph) {
  const auto has = [&](auto is) {
    return std::any_of(graph.layers().begin(), graph.layers().end(),
                       [&](const Layer& layer) { return is(layer.op); });
  };
  // What experts exchange, and their small products, say nothing of networks without any.
  if (has([](const Op& op) { return std::holds_alternative<Dispatch>(op); })) {
    return NetworkFamily::mixture;
  }
  if (has([](const Op& op) { return std::holds_alternative<Attention>(op); })) {
    return NetworkFamily::transformer;
  }
  const bool convolves = has([](const Op& op) { return std::holds_alternative<Convolution>(op); });
  return convolves ? NetworkFamily::convolutional : NetworkFamily::other;
}

}  // namespace

PredictionSort sort_of(const Case& input) {
  const std::span<const Device> devices = input.cluster.devices();
  const std::string& kind = devices.front().kind;
  const bool alike = std::all_of(devices.begin(), devices.end(),
                                 [&](const Device& device) { return device.kind == kind; });
  const DType dtype = input.dtypes.values;
  const bool half = dtype == DType::bf16 || dtype == DType::fp16;
  return {alike ? kind : "", family_of(input.graph), input.framework,
          half ? "16 bit" : std::string(name(dtype))};
}

}  // namespace strata
