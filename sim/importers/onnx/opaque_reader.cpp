// Nodes that nothing here computes: opaque ops, which move what they read and write.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/ops/limits.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

// How far to scale says how to compute; no training changes it.
bool has_settings_alone(std::string_view op) {
  return op == "Resize" || op == "Upsample";
}

// A single number is more likely a setting, too: an exponent, a bound.
std::int64_t trained_elements(const OnnxTensor& tensor) {
  if (tensor.proto && !holds_floats(*tensor.proto)) return 0;
  const std::int64_t count = element_count(tensor.dims);
  return count > 1 ? count : 0;
}

// The mean and the variance behind its two parameters are the channels' own.
bool is_batch_norm(const OnnxNode& node) {
  return node.proto().op_type() == "BatchNormalization";
}

std::int64_t parameters_of(const OnnxNode& node) {
  std::int64_t sum = 0;
  if (has_settings_alone(node.proto().op_type())) return sum;
  const int end = is_batch_norm(node) ? 3 : node.input_count();
  for (int i = 0; i < end && sum <= kMaxElements; ++i) {
    if (node.has_input(i) && node.is_tensor(i)) sum += trained_elements(node.tensor(i));
  }
  return sum;
}

void check_samples_first(const OnnxActivation& value, const std::string& name) {
  if (!value.axes.empty() && value.axes.front() == Dim::n) return;
  throw InputError(
      fmt::format("its input '{}' has no samples first; allowed: (n, ...)", shown(name)));
}

// Each once: to read a value twice moves it once.
std::vector<LayerId> layers_of(OnnxNode& node) {
  std::vector<LayerId> layers;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.is_data(i)) continue;
    const std::string& name = node.proto().input(i);
    if (const auto* value = std::get_if<OnnxActivation>(&node.value(i)))
      check_samples_first(*value, name);
    for (const LayerId layer : layers_below(node.network(), node.value(i), name)) {
      if (std::find(layers.begin(), layers.end(), layer) == layers.end()) layers.push_back(layer);
    }
  }
  return layers;
}

const TensorDims& dims_of_output(OnnxNode& node, int i) {
  const OnnxShapes& shapes = node.network().shapes();
  if (i > 0 && is_batch_norm(node))
    throw InputError(
        fmt::format("its output {} is a statistic of the channels; allowed: the first", i));
  const auto at = shapes.dims.find(node.proto().output(i));
  if (at == shapes.dims.end()) {
    throw InputError(fmt::format("the shape of its output {} is not known", i));
  }
  const TensorDims& dims = at->second;
  if (!dims.empty() && dims.size() <= kDims.size() && dims[0] == shapes.batch) return dims;
  throw InputError(
      fmt::format("its output {} is {} for a batch of {}; allowed: (n, ...), of up to five dims", i,
                  print_dims(dims), shapes.batch));
}

// It computes little for the bytes that it moves: what an opaque op costs is what it costs.
void read_resize(OnnxNode& node) {
  const OnnxActivation& input = node.usual(0);
  const auto& dims = node.network().shapes().dims;
  if (node.output_dims() == dims.at(node.proto().input(0))) return node.alias(input);
  read_opaque(node, 0);
}

}  // namespace

void read_opaque(OnnxNode& node, int first) {
  std::int64_t parameters = first == 0 ? parameters_of(node) : 0;  // a reader's layer has them
  for (int i = first; i < node.proto().output_size(); ++i) {
    if (!node.is_used(i)) continue;
    const TensorDims& dims = dims_of_output(node, i);
    Axes axes = usual_axes(dims.size());
    axes.resize(dims.size());  // (n) has no c
    const Opaque op{node.proto().op_type(), sample_extents(dims, axes), parameters};
    const LayerId id = node.network().add(node.wanted_name(), op, layers_of(node));
    node.network().define(node.proto().output(i), OnnxActivation{id, std::move(axes), {}});
    node.network().note(
        fmt::format("op {} is opaque: its cost is that of the bytes that it moves", op.kind));
    parameters = 0;  // of several outputs the first has them
  }
}

KnownOps opaque_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Resize", read_resize},
      KnownOp{"Upsample", read_resize},
  };
  return kOps;
}

}  // namespace strata
