// A shard of a convolution by oneDNN, on activations as they lie wherever the library is fast
// there. Weights change with every step, so each run brings them into the library's form.

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "exec/cpu/convolution_problem.h"
#include "exec/cpu/kernels.h"

namespace strata::cpu {
namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

/// What all phases of a shard know.
struct Shard {
  ConvolutionShape shape;
  Box input, output;

  ConvolutionProblem in(ConvolutionLayout layout) const {
    return problem(shape, input, output, layout);
  }
};

dnnl::convolution_forward::primitive_desc forward(const ConvolutionProblem& it) {
  using Forward = dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_training;
  return {Forward::desc(kind, kAlgorithm, it.source, it.weights, it.bias, it.destination,
                        it.strides, it.dilations, it.pad_begin, it.pad_end),
          attributes(), dnnl_engine()};
}

dnnl::convolution_backward_data::primitive_desc backward_data(const ConvolutionProblem& it) {
  using Backward = dnnl::convolution_backward_data;
  return {Backward::desc(kAlgorithm, it.source, it.weights, it.destination, it.strides,
                         it.dilations, it.pad_begin, it.pad_end),
          attributes(), dnnl_engine(), forward(it)};
}

dnnl::convolution_backward_weights::primitive_desc backward_weights(const ConvolutionProblem& it) {
  using Backward = dnnl::convolution_backward_weights;
  return {Backward::desc(kAlgorithm, it.source, it.weights, it.bias, it.destination, it.strides,
                         it.dilations, it.pad_begin, it.pad_end),
          attributes(), dnnl_engine(), forward(it)};
}

/// In the first layout that suits; in the plain one, which always can be run, if none does.
template <class Make>
auto choose(const Shard& shard, int weights, Make make) {
  for (ConvolutionLayout layout : kConvolutionLayouts) {
    auto it = make(shard.in(layout));
    if (layout == kConvolutionLayouts.back() ||
        suits(it.impl_info_str(), it.query_md(dnnl::query::exec_arg_md, weights), shard.shape)) {
      return it;
    }
  }
  throw InternalError("no layout of a convolution");
}

/// Whether the gradient of the weights is faster as a product of matrices in the plain layout, with
/// both reorders, than in blocks: many channels on a small plane (measured with AVX2 at 3 x 3, 256
/// to 512 channels: 1.1 to 1.9 times at 14 x 14 and below, slower above).
bool multiplies_faster(const ConvolutionShape& shape) {
  constexpr std::int64_t kSmall = 196;  // 14 x 14
  std::int64_t plane = 1;
  for (const ConvolutionAxis& axis : shape.axes) plane *= axis.output;
  return vector_block() == 8 && shape.groups.count == 1 && shape.in_channels >= 256 &&
         plane <= kSmall && shape.taps() > 1;
}

auto choose_for_weights(const Shard& shard) {
  if (multiplies_faster(shard.shape)) return backward_weights(shard.in(ConvolutionLayout::plain));
  return choose(shard, DNNL_ARG_DIFF_WEIGHTS, backward_weights);
}

/// The weights, or their gradient, on the way between the layer's form and the library's.
class Weights {
 public:
  Weights(const ConvolutionShape& shape, const memory::desc& theirs, Bridge::Way way)
      : shape_(shape), bridge_(owner_weights(shape), theirs, way, Scratch::weights) {}

  const memory& argument() const { return bridge_.argument(); }
  void take(const float* weights) {
    float* data = const_cast<float*>(weights);  // an input of the primitive
    if (!shape_.groups.exact()) spread_weights(shape_, weights, data = spread());
    bridge_.enter(data);
  }
  void prepare(float* gradient) { bridge_.enter(shape_.groups.exact() ? gradient : spread()); }
  void give(float* gradient) {
    bridge_.leave();
    if (!shape_.groups.exact()) gather_weights(shape_, spread(), gradient);
  }

 private:
  float* spread() const {
    const std::int64_t size = shape_.out_channels * shape_.groups.inputs * shape_.taps();
    return scratch(Scratch::grouped_weights, static_cast<std::size_t>(size));
  }

  const ConvolutionShape& shape_;
  Bridge bridge_;
};

/// The bias, or its gradient: the library's has zeros for the rest of the last block.
class Bias {
 public:
  Bias(const ConvolutionShape& shape, const memory::desc& theirs)
      : count_(shape.out_channels),
        padded_(theirs.dims()[0]),
        theirs_(theirs, dnnl_engine(), DNNL_MEMORY_NONE) {}

  const memory& argument() const { return theirs_; }
  void take(float* bias) {
    if (padded_ != count_) std::fill(std::copy_n(bias, count_, padded()), padded() + padded_, 0.0F);
    prepare(bias);
  }
  void prepare(float* gradient) {
    theirs_.set_data_handle(padded_ == count_ ? gradient : padded(), dnnl_stream());
  }
  void give(float* gradient) {
    if (padded_ != count_) std::copy_n(padded(), count_, gradient);
  }

 private:
  float* padded() const { return scratch(Scratch::bias, static_cast<std::size_t>(padded_)); }

  std::int64_t count_, padded_;
  memory theirs_;
};

/// A primitive between a shard's tensors.
template <class Primitive>
class ShardPrimitive {
 public:
  /// The numbers of its arguments; no bias: 0. `result`: which of them it writes.
  struct Numbers {
    int source, weights, bias, destination, result;
  };
  ShardPrimitive(const Shard& shard, const typename Primitive::primitive_desc& it,
                 const Numbers& numbers)
      : shape_(shard.shape),
        source_(owner_source(shape_, shard.input), theirs(it, numbers.source),
                way(numbers, numbers.source), Scratch::input),
        weights_(shape_, theirs(it, numbers.weights), way(numbers, numbers.weights)),
        destination_(owner_destination(shape_, shard.output), theirs(it, numbers.destination),
                     way(numbers, numbers.destination), Scratch::output),
        primitive_(it),
        workspace_(it.scratchpad_desc()),
        arguments_{{DNNL_ARG_SCRATCHPAD, workspace_.argument()},
                   {numbers.source, source_.argument()},
                   {numbers.weights, weights_.argument()},
                   {numbers.destination, destination_.argument()}} {
    if (!shape_.bias || numbers.bias == 0) return;
    bias_.emplace(shape_, theirs(it, numbers.bias));
    arguments_.emplace(numbers.bias, bias_->argument());
  }

 protected:
  void execute() {
    workspace_.enter();
    primitive_.execute(dnnl_stream(), arguments_);
  }

  const ConvolutionShape& shape_;
  Bridge source_;
  Weights weights_;
  std::optional<Bias> bias_;
  Bridge destination_;

 private:
  static memory::desc theirs(const typename Primitive::primitive_desc& it, int number) {
    return it.query_md(dnnl::query::exec_arg_md, number);
  }
  static Bridge::Way way(const Numbers& numbers, int number) {
    return number == numbers.result ? Bridge::Way::out : Bridge::Way::in;
  }

  Primitive primitive_;
  Workspace workspace_;
  Arguments arguments_;
};

class Forward : public ShardPrimitive<dnnl::convolution_forward> {
 public:
  explicit Forward(const Shard& shard)
      : ShardPrimitive(
            shard, choose(shard, DNNL_ARG_WEIGHTS, forward),
            {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, DNNL_ARG_DST}) {}

  void run(const Operands& operands) {
    source_.enter(static_cast<float*>(operands.inputs[0].data));
    weights_.take(operands.parameters);
    if (bias_) bias_->take(operands.parameters + shape_.weights());
    destination_.enter(static_cast<float*>(operands.output.data));
    execute();
    destination_.leave();
  }
};

class BackwardData : public ShardPrimitive<dnnl::convolution_backward_data> {
 public:
  explicit BackwardData(const Shard& shard)
      : ShardPrimitive(
            shard, choose(shard, DNNL_ARG_WEIGHTS, backward_data),
            {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, 0, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC}),
        unread_(shape_.cropped(shard.input) ? padded_size(extents(shard.input)) : 0) {}

  void run(const Operands& operands) {
    float* const gradient = static_cast<float*>(operands.input_gradients[0].data);
    destination_.enter(static_cast<float*>(operands.output_gradient.data));
    weights_.take(operands.parameters);
    if (unread_ > 0) std::fill_n(gradient, unread_, 0.0F);
    source_.enter(gradient);
    execute();
    source_.leave();
  }

 private:
  std::int64_t unread_;  ///< floats to clear where some of the box is not read
};

class BackwardWeights : public ShardPrimitive<dnnl::convolution_backward_weights> {
 public:
  explicit BackwardWeights(const Shard& shard)
      : ShardPrimitive(shard, choose_for_weights(shard),
                       {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS, DNNL_ARG_DIFF_DST,
                        DNNL_ARG_DIFF_WEIGHTS}) {}

  void run(const Operands& operands) {
    const std::int64_t count = shape_.weights() + (shape_.bias ? shape_.out_channels : 0);
    float* const sums = operands.parameter_gradients;
    const bool adds = operands.adds_parameter_gradients;
    float* const weights =
        adds ? scratch(Scratch::gradients, static_cast<std::size_t>(count)) : sums;
    float* const bias = weights + shape_.weights();
    source_.enter(static_cast<float*>(operands.inputs[0].data));
    destination_.enter(static_cast<float*>(operands.output_gradient.data));
    weights_.prepare(weights);
    if (bias_) bias_->prepare(bias);
    execute();
    weights_.give(weights);
    if (bias_) bias_->give(bias);
    for (std::int64_t i = 0; adds && i < count; ++i) sums[i] += weights[i];
  }
};

class ConvolutionKernel : public PhasedKernel {
 public:
  explicit ConvolutionKernel(Shard shard) : shard_(std::move(shard)) {}

 private:
  void forward(const Operands& operands) override { run_made(forward_, operands); }
  void backward_data(const Operands& operands) override { run_made(backward_data_, operands); }
  void backward_weights(const Operands& operands) override {
    run_made(backward_weights_, operands);
  }
  void update(const Operands& operands) override {
    const std::int64_t bias = shard_.shape.bias ? shard_.shape.out_channels : 0;
    update_parameters(operands, shard_.shape.weights() + bias);
  }

  /// Made when first run: a network that only predicts has no backward phases.
  template <class T>
  void run_made(std::optional<T>& it, const Operands& operands) {
    checked("convolution", [&] {
      dnnl_stream();  // before it is made: the library plans for as many threads as there are
      if (!it) it.emplace(shard_);
      it->run(operands);
    });
  }

  Shard shard_;
  std::optional<Forward> forward_;
  std::optional<BackwardData> backward_data_;
  std::optional<BackwardWeights> backward_weights_;
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(const ShardSpec& spec, const Convolution& op) {
  const std::vector<Box>& inputs = spec.inputs[0];
  if (inputs.empty() || empty(inputs[0])) return make_convolution_in_padding(spec);
  const Box& input = inputs[0];
  return std::make_unique<ConvolutionKernel>(
      Shard{blocked_shape(spec, op, input), input, spec.output});
}

}  // namespace strata::cpu
