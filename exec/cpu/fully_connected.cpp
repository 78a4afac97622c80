// A shard of a fully-connected layer, or of a linear one of a single position. Without spatial
// extent a tensor is rows already, padded to whole blocks of channels; else the input's features
// are brought into row-major order first. The weights stay as they are.

#include <algorithm>

#include "exec/cpu/kernels.h"
#include "exec/cpu/move.h"
#include "exec/cpu/onednn.h"
#include "exec/cpu/tensor.h"
#include "exec/cpu/thin_product.h"
#include "sim/graph/regions.h"

namespace strata::cpu {
namespace {

/// Whether a sample's features lie side by side in the weight's order.
bool is_rows(const Tensor& tensor) {
  return tensor.plane() == 1 || tensor.block() == 1;
}

Rows<float> rows_of(const Tensor& tensor) {
  return {tensor.data(), tensor.padded_size() / tensor.extents()[Dim::n]};
}

ConstRows constant(Rows<float> rows) {
  return {rows.data, rows.stride};
}

template <class... Arguments>
void library_product(Arguments... arguments) {
  dnnl_stream();  // it is to use this thread alone
  if (dnnl_sgemm(arguments...) == dnnl_success) return;
  throw EnvironmentError("oneDNN: it refuses a matrix product");
}

/// Our own products pass the library's for batches of a few samples; one is its matrix-vector
/// product, and for many it packs the weights to advantage.
bool is_thin(const ThinExtents& extents) {
  return extents.samples > 1 && extents.samples <= 16;
}

/// y += x w^T
void add_forward(const ThinExtents& e, ConstRows x, ConstRows w, Rows<float> y) {
  if (is_thin(e)) return thin_products().forward(e, x, w, y);
  library_product('N', 'T', e.samples, e.outputs, e.inputs, 1.0F, x.data, x.stride, w.data,
                  w.stride, 1.0F, y.data, y.stride);
}

/// dx += dy w
void add_backward_data(const ThinExtents& e, ConstRows dy, ConstRows w, Rows<float> dx) {
  if (is_thin(e)) return thin_products().backward_data(e, dy, w, dx);
  library_product('N', 'N', e.samples, e.inputs, e.outputs, 1.0F, dy.data, dy.stride, w.data,
                  w.stride, 1.0F, dx.data, dx.stride);
}

/// dw = dy^T x, or dw += it
void product_backward_weights(const ThinExtents& e, ConstRows dy, ConstRows x, Rows<float> dw,
                              bool adds) {
  library_product('T', 'N', e.outputs, e.inputs, e.samples, 1.0F, dy.data, dy.stride, x.data,
                  x.stride, adds ? 1.0F : 0.0F, dw.data, dw.stride);
}

class FullyConnectedKernel : public PhasedKernel {
 public:
  FullyConnectedKernel(const ShardSpec& spec, const Box& input, bool bias)
      : sizes_(parameters_of_product(spec, bias)),
        features_(volume(input) / input[Dim::n].size()),
        extents_{input[Dim::n].size(), features_, spec.output[Dim::c].size()} {}

 private:
  void forward(const Operands& operands) override {
    const Tensor y(operands.output);
    fill_zero(y);
    const Rows<float> rows = rows_of(y);
    for (std::int64_t n = 0; n < extents_.samples; ++n) {
      const float* const bias = operands.parameters + sizes_.weight;
      std::copy_n(bias, sizes_.bias, rows.data + n * rows.stride);
    }
    add_forward(extents_, features(operands), weights(operands), rows);
  }

  void backward_data(const Operands& operands) override {
    const Tensor dx(operands.input_gradients[0]);
    const ConstRows dy = constant(rows_of(Tensor(operands.output_gradient)));
    const Rows<float> rows = is_rows(dx) ? rows_of(dx) : between();
    const bool adds = operands.adds_input_gradients;  // what lies as rows then
    if (!adds) std::fill_n(rows.data, rows.stride * extents_.samples, 0.0F);
    add_backward_data(extents_, dy, weights(operands), rows);
    if (!is_rows(dx)) unpack(dx, rows.data, dx.box());
  }

  void backward_weights(const Operands& operands) override {
    const ConstRows dy = constant(rows_of(Tensor(operands.output_gradient)));
    float* const dw = operands.parameter_gradients;
    const bool adds = operands.adds_parameter_gradients;
    product_backward_weights(extents_, dy, features(operands), {dw, features_}, adds);
    if (!adds) std::fill_n(dw + sizes_.weight, sizes_.bias, 0.0F);
    for (std::int64_t n = 0; n < extents_.samples; ++n) {
      const float* const row = dy.data + n * dy.stride;
      for (std::int64_t o = 0; o < sizes_.bias; ++o) dw[sizes_.weight + o] += row[o];
    }
  }

  void update(const Operands& operands) override { update_parameters(operands, sizes_.total()); }

  ConstRows weights(const Operands& operands) const { return {operands.parameters, features_}; }

  Rows<float> between() const {
    const std::int64_t size = features_ * extents_.samples;
    return {scratch(Scratch::input, static_cast<std::size_t>(size)), features_};
  }

  ConstRows features(const Operands& operands) const {
    const Tensor x(operands.inputs[0]);
    if (is_rows(x)) return constant(rows_of(x));
    const Rows<float> rows = between();
    pack(rows.data, x, x.box());
    return constant(rows);
  }

  Parameters sizes_;
  std::int64_t features_;
  ThinExtents extents_;
};

}  // namespace

Parameters parameters_of_product(const ShardSpec& spec, bool bias) {
  Parameters sizes = shard_parameters(*spec, spec.output);
  if (!bias) sizes.bias = 0;
  return sizes;
}

std::unique_ptr<Kernel> make_product_of_rows(const ShardSpec& spec, bool bias) {
  return std::make_unique<FullyConnectedKernel>(spec, spec.inputs[0][0], bias);
}

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const FullyConnected& op) {
  return make_product_of_rows(spec, op.bias);
}

}  // namespace strata::cpu
