#pragma once

// What a layer computes, as a closed set of values, and what is to be known of it. Each op has a
// page in ops/ with kTraits, name(), output(inputs), reads(context), work(shard, phase) and
// visit_keys(visitor), and what of these it has to say something to: backward_reads(),
// parameters(inputs), macs_per_output(inputs), terms(), units(inputs), statistics(box),
// saved(context), cost_attributes(), make_canonical(), prototypes() and why_whole(dim). The
// functions below ask the page of the op that is there; tests/sim/graph/op_test.cpp has what each
// answers. Values; thread-safe.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/geometry/geometry.h"
#include "sim/graph/ops/access.h"
#include "sim/graph/ops/activation.h"
#include "sim/graph/ops/attention.h"
#include "sim/graph/ops/convolution.h"
#include "sim/graph/ops/dropout.h"
#include "sim/graph/ops/experts.h"
#include "sim/graph/ops/facts.h"
#include "sim/graph/ops/flatten.h"
#include "sim/graph/ops/fully_connected.h"
#include "sim/graph/ops/gate.h"
#include "sim/graph/ops/input.h"
#include "sim/graph/ops/joins.h"
#include "sim/graph/ops/linear.h"
#include "sim/graph/ops/normalization.h"
#include "sim/graph/ops/opaque.h"
#include "sim/graph/ops/phase.h"
#include "sim/graph/ops/pooling.h"
#include "sim/graph/ops/softmax_cross_entropy.h"
#include "sim/graph/ops/tokens.h"
#include "sim/graph/ops/window.h"
#include "sim/graph/ops/work.h"

namespace strata {

using Op = std::variant<Input, Convolution, Pooling, AdaptivePooling, FullyConnected, Linear,
                        Attention, Activation, GatedActivation, BatchNorm, LayerNorm, RmsNorm,
                        LocalResponseNorm, Dropout, Concat, Add, Multiply, Flatten, Embedding,
                        PositionEmbedding, Tokens, ClassToken, SelectToken, Router, Dispatch,
                        ExpertLinear, Combine, SoftmaxCrossEntropy, Opaque>;

/// The op's name in tables, JSON and model files: "input", "conv2d", "max_pool2d", "avg_pool1d",
/// "adaptive_avg_pool2d", "fc", "linear", "attention", "relu", ..., "swiglu", "batch_norm",
/// "layer_norm", "rms_norm", "lrn", "dropout", "concat", "add", "multiply", "flatten", "embedding",
/// "position_embedding", "tokens", "class_token", "select_token", "router", "dispatch",
/// "expert_linear", "combine", "softmax_cross_entropy", "opaque".
std::string_view name(const Op& op);

/// All of an op that decides its cost beside the extents, as keys of measured costs have it:
/// "conv2d kernel=1x3x3 stride=1x1x1 dilation=1x1x1 groups=1 bias=1", "max_pool2d kernel=1x2x2
/// stride=1x2x2", "relu", "fc bias=1".
std::string signature(const Op& op);
/// The same of a shard with this output that holds so many parameters: of an embedding, the part of
/// the vocabulary that it has.
std::string signature(const Op& op, const Extents& output, const Parameters& held);

/// For people: the name, and of an opaque op what it is: "opaque (Resize)".
std::string title(const Op& op);

/// The op with the values that it ignores at their defaults (a slope on a ReLU, padding's count in
/// maximum pooling), so that networks which compute the same compare equal.
Op canonical(Op op);

/// The output's extents. Throws InputError that says what does not fit (not the layer's name).
Extents infer_output(const Op& op, InputExtents inputs);

/// For inputs that infer_output accepts.
Parameters infer_parameters(const Op& op, InputExtents inputs);

/// Multiply-accumulates per output element: I/groups x kernel, or the input's features; else 0.
std::int64_t macs_per_output(const Op& op, InputExtents inputs);

/// Terms of each output element's sum: of the op's own, or the input channels that it is a sum
/// over; 1 where there is no sum.
std::int64_t reduction(const Op& op, InputExtents inputs, const Extents& output);

/// What the degree of a cut must divide in each dim: how many units the dim has that stay whole (an
/// attention's heads); 0 where any degree will do.
Extents units(const Op& op, InputExtents inputs);

/// What the op reads of one of its inputs.
AccessMap access_map(const Op& op, const ReadContext& context);

const OpTraits& traits(const Op& op);

inline bool is_elementwise(const Op& op) {
  return traits(op).elementwise;
}
/// Whether the search cuts the layer as its producer, where their outputs are equal.
inline bool follows_producer(const Op& op) {
  return traits(op).elementwise || traits(op).follows_producer;
}
/// Whether the backward pass gives a gradient of the input.
inline bool has_gradient(const Op& op, std::size_t input) {
  return input == 0 || !traits(op).gradient_of_first_alone;
}
inline bool is_loss(const Op& op) {
  return traits(op).loss;
}
inline bool is_input(const Op& op) {
  return std::holds_alternative<Input>(op);
}
inline bool is_opaque(const Op& op) {
  return std::holds_alternative<Opaque>(op);
}

/// Whether any backward phase reads the layer's inputs, or its output, beside the gradient; the
/// inputs where its parameters are trained, or are not.
bool backward_reads_input(const Op& op, bool trains = true);
bool backward_reads_output(const Op& op);
/// Whether the gradient of its parameters is made of these, too.
bool backward_reads_parameters(const Op& op);

/// For the shard with this output box.
Statistics statistics(const Op& op, const Box& output);
Saved saved(const Op& op, const SavedContext& of);

/// Why the output may not be cut in the dim; empty where it may.
std::string_view why_whole(const Op& op, Dim dim);

/// An op of every name, with its defaults, in the order in which messages list them.
const std::vector<Op>& op_prototypes();
/// Their names, for messages: "conv2d, fc, ...".
std::string op_names();

/// Calls of `visitor`, for each key of the op in a model file in turn,
///   count(key, value, fallback)    an integer      flag(key, value, fallback)   true or false
///   number(key, value, fallback)   a real          shape(key, extents)          one sample's
///   extents along(key, windows, rank, member, fallback)    one integer, or one for each dim of the
///   rank padding(key, windows, rank)                    likewise, or [begin, end] for each dim
///   outputs(key, adaptive pooling)                 likewise, of the outputs
///   text(key, value)                               a text
///   name(key, value)                               a layer's name, or none
/// where a fallback of nullopt means that the key must be there. The reader and the printer are
/// such visitors.
template <class Visitor>
void visit_keys(Op& op, Visitor& visitor) {
  std::visit([&](auto& it) { it.visit_keys(visitor); }, op);
}

}  // namespace strata
