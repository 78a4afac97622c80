#pragma once

// A mutator that knows what networks of ONNX are made of. Bytes changed at random hardly ever leave
// protobuf's form, and never make a node of another op that reads a value which is there. This one
// changes ops, attributes, wires, shapes and constants of a network, adds nodes and takes them out,
// so that most of what it makes passes the first checks. One mutation in eight is libFuzzer's.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include "tests/fuzz/random_choice.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace strata {

// Numbers and texts of attributes and constants.
class OnnxValueMutator {
 public:
  explicit OnnxValueMutator(RandomChoice& random) : random_(random) {}

  std::int64_t integer() { return kIntegers[random_.below(random_.one_in(4) ? 21 : 12)]; }

  void fill_new(onnx::AttributeProto& attribute) {
    using Attribute = onnx::AttributeProto;
    attribute.set_name(std::string(random_.any_of(kAttributes)));
    constexpr std::array kTypes = {Attribute::INT,    Attribute::INTS,   Attribute::FLOAT,
                                   Attribute::STRING, Attribute::TENSOR, Attribute::FLOATS};
    attribute.set_type(kTypes[random_.below(random_.one_in(4) ? 6 : 2)]);
    for (std::uint32_t left = random_.below(4); left > 0; --left) attribute.add_ints(integer());
    change_value(attribute);
  }

  void change_value(onnx::AttributeProto& attribute) {
    switch (attribute.type()) {
      case onnx::AttributeProto::INT:
        return attribute.set_i(integer());
      case onnx::AttributeProto::FLOAT:
        return attribute.set_f(random_.any_of(kFloats));
      case onnx::AttributeProto::STRING:
        return attribute.set_s(std::string(random_.any_of(kTexts)));
      case onnx::AttributeProto::TENSOR:
        return change_tensor(*attribute.mutable_t());
      case onnx::AttributeProto::FLOATS:
        return attribute.add_floats(random_.any_of(kFloats));
      default:
        return change_integers(*attribute.mutable_ints());
    }
  }

  template <class Integers>
  void change_integers(Integers& integers) {
    const int count = integers.size();
    if (count == 0 || random_.one_in(4)) return integers.Add(integer());
    const auto at = static_cast<int>(random_.below(count));
    if (random_.one_in(4)) return integers.RemoveLast();
    if (random_.one_in(4)) return integers.SwapElements(at, count - 1);
    integers.Set(at, integer());
  }

  void change_tensor(onnx::TensorProto& tensor) {
    switch (random_.below(4)) {
      case 0:
        return change_integers(*tensor.mutable_dims());
      case 1:
        return tensor.set_data_type(random_.one_in(2) ? onnx::TensorProto::INT64
                                                      : static_cast<int>(random_.below(17)));
      case 2:
        return change_numbers(tensor);
      default:
        return fit_values(tensor);
    }
  }

  void change_numbers(onnx::TensorProto& tensor) {
    if (tensor.float_data_size() > 0) {
      return tensor.set_float_data(static_cast<int>(random_.below(tensor.float_data_size())),
                                   random_.any_of(kFloats));
    }
    if (tensor.raw_data().size() < 8) return change_integers(*tensor.mutable_int64_data());
    const std::int64_t value = integer();
    const std::size_t at = 8 * random_.below(tensor.raw_data().size() / 8);
    const auto* bytes = reinterpret_cast<const char*>(&value);
    std::copy_n(bytes, sizeof value, tensor.mutable_raw_data()->begin() + std::ptrdiff_t(at));
  }

  // As many floats as its dims say.
  void fit_values(onnx::TensorProto& tensor) {
    std::int64_t count = 1;
    for (const std::int64_t dim : tensor.dims()) {
      if (dim < 0 || dim > 256 || (count *= dim) > 256) return;
    }
    tensor.clear_raw_data();
    tensor.clear_int64_data();
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.mutable_float_data()->Resize(static_cast<int>(count), random_.any_of(kFloats));
  }

 private:
  static constexpr std::array<std::string_view, 44> kAttributes = {
      "allowzero",    "axis",         "axes",        "batch_dims",
      "ceil_mode",    "dilations",    "end",         "count_include_pad",
      "exclusive",    "group",        "is_causal",   "keepdims",
      "kernel_shape", "kv_num_heads", "num_outputs", "noop_with_empty_axes",
      "output_shape", "q_num_heads",  "pads",        "perm",
      "reverse",      "shape",        "size",        "output_padding",
      "split",        "spatial",      "start",       "strides",
      "to",           "transA",       "transB",      "value_ints",
      "alpha",        "beta",         "epsilon",     "value",
      "auto_pad",     "mode",         "num_groups",  "keep_aspect_ratio_policy",
      "blocksize",    "equation",     "hidden_size", "direction"};
  static constexpr std::array<std::string_view, 12> kTexts = {
      "",         "SAME_UPPER", "SAME_LOWER", "VALID", "nearest",   "linear",
      "constant", "reflect",    "not_larger", "tanh",  "ij,jk->ik", "bidirectional"};
  static constexpr std::array<std::int64_t, 21> kIntegers = {
      0,  1,  2,  3,  4,    5,     6,          7,          8,         12,       16,
      32, -1, -2, -3, 1000, 65536, 2147483648, 4294967296, INT64_MAX, INT64_MIN};
  static constexpr std::array<float, 8> kFloats = {0, 1, -1, 0.5F, 1e-5F, 2, 1e38F, -1e-40F};

  RandomChoice& random_;
};

class OnnxMutator {
 public:
  OnnxMutator(onnx::ModelProto& model, std::uint32_t seed)
      : model_(model), graph_(*model.mutable_graph()), random_(seed), values_(random_) {}

  void mutate() {
    for (std::uint32_t left = 1 + random_.below(3); left > 0; --left) change_something();
  }

  /// Puts nodes and constants of another network behind this one's, which may read them.
  void splice(const onnx::GraphProto& other) {
    for (const auto& tensor : other.initializer()) {
      if (random_.one_in(2)) *graph_.add_initializer() = tensor;
    }
    for (const auto& node : other.node()) {
      if (random_.one_in(2)) insert(node);
    }
  }

 private:
  static constexpr std::array<std::string_view, 120> kOps = {"Abs",          "Add",
                                                             "And",          "Attention",
                                                             "AveragePool",  "BatchNormalization",
                                                             "Cast",         "CastLike",
                                                             "Ceil",         "Clip",
                                                             "Concat",       "Constant",
                                                             "Conv",         "ConstantOfShape",
                                                             "ConvInteger",  "ConvTranspose",
                                                             "Cos",          "CumSum",
                                                             "Div",          "Dropout",
                                                             "Elu",          "Equal",
                                                             "Erf",          "Exp",
                                                             "Expand",       "Flatten",
                                                             "Floor",        "Gather",
                                                             "GatherND",     "GatherElements",
                                                             "Gelu",         "Gemm",
                                                             "Greater",      "GlobalAveragePool",
                                                             "LRN",          "GlobalMaxPool",
                                                             "HardSigmoid",  "GreaterOrEqual",
                                                             "HardSwish",    "GroupNormalization",
                                                             "Identity",     "If",
                                                             "IsNaN",        "LayerNormalization",
                                                             "LeakyRelu",    "Less",
                                                             "Log",          "LogSoftmax",
                                                             "Loop",         "LpPool",
                                                             "MatMul",       "Max",
                                                             "MaxPool",      "Min",
                                                             "Mish",         "Mod",
                                                             "Mul",          "Neg",
                                                             "Not",          "Or",
                                                             "Pad",          "Pow",
                                                             "QLinearConv",  "RMSNormalization",
                                                             "Range",        "RandomUniformLike",
                                                             "Reciprocal",   "ReduceMax",
                                                             "ReduceMean",   "ReduceSum",
                                                             "Relu",         "ReduceL2",
                                                             "Reshape",      "Resize",
                                                             "Round",        "RotaryEmbedding",
                                                             "SequenceAt",   "SplitToSequence",
                                                             "Shape",        "Sigmoid",
                                                             "Sin",          "Size",
                                                             "Slice",        "Softmax",
                                                             "Split",        "Sqrt",
                                                             "Squeeze",      "Sub",
                                                             "Sum",          "Tanh",
                                                             "Transpose",    "Trilu",
                                                             "Unsqueeze",    "Upsample",
                                                             "Where",        "Nothing",
                                                             "ArgMax",       "Bernoulli",
                                                             "Compress",     "DFT",
                                                             "DepthToSpace", "DequantizeLinear",
                                                             "Einsum",       "EyeLike",
                                                             "GRU",          "GridSample",
                                                             "HannWindow",   "LSTM",
                                                             "MaxUnpool",    "MelWeightMatrix",
                                                             "OneHot",       "QuantizeLinear",
                                                             "RNN",          "ReverseSequence",
                                                             "RoiAlign",     "STFT",
                                                             "ScatterND",    "SpaceToDepth",
                                                             "Tile",         "TopK"};
  template <class Repeated>
  auto* any_in(Repeated* all) {
    return all->empty() ? nullptr : all->Mutable(static_cast<int>(random_.below(all->size())));
  }
  onnx::NodeProto* any_node() { return any_in(graph_.mutable_node()); }

  void change_something() {
    switch (random_.below(12)) {
      case 0:
        return change_op();
      case 1:
      case 2:
        return change_attributes();
      case 3:
      case 4:
        return change_inputs();
      case 5:
        return change_nodes();
      case 6:
        return change_input_shape();
      case 7:
      case 8:
        return change_constant();
      case 9:
        return change_ends();
      case 10:
        return insert_op();
      default:
        return change_opset();
    }
  }

  void change_op() {
    if (onnx::NodeProto* node = any_node()) node->set_op_type(std::string(random_.any_of(kOps)));
  }

  void change_attributes() {
    onnx::NodeProto* node = any_node();
    if (!node) return;
    auto* all = node->mutable_attribute();
    if (all->empty() || random_.one_in(3)) return values_.fill_new(*all->Add());
    if (random_.one_in(6))
      return all->DeleteSubrange(static_cast<int>(random_.below(all->size())), 1);
    values_.change_value(*any_in(all));
  }

  // Of all that is there: what an op would not read is wrong in a way that must be said.
  std::string any_value() {
    if (random_.one_in(16)) return "";
    if (random_.one_in(4) && !graph_.initializer().empty()) {
      return any_in(graph_.mutable_initializer())->name();
    }
    onnx::NodeProto* node = any_node();
    if (node && !node->output().empty() && !random_.one_in(4)) {
      return node->output(static_cast<int>(random_.below(node->output_size())));
    }
    return graph_.input().empty() ? "x" : any_in(graph_.mutable_input())->name();
  }

  void change_inputs() {
    onnx::NodeProto* node = any_node();
    if (!node) return;
    auto* inputs = node->mutable_input();
    if (inputs->empty() || random_.one_in(3)) return node->add_input(any_value());
    if (random_.one_in(5)) return inputs->RemoveLast();
    if (random_.one_in(5)) {
      return inputs->SwapElements(0, static_cast<int>(random_.below(inputs->size())));
    }
    *any_in(inputs) = any_value();
  }

  void change_nodes() {
    auto* nodes = graph_.mutable_node();
    if (nodes->empty()) return insert_op();
    const auto at = static_cast<int>(random_.below(nodes->size()));
    if (random_.one_in(3)) return nodes->SwapElements(at, std::min(at + 1, nodes->size() - 1));
    if (random_.one_in(2)) return insert(onnx::NodeProto(nodes->Get(at)));
    const onnx::NodeProto node = nodes->Get(at);
    nodes->DeleteSubrange(at, 1);
    if (node.input_size() > 0 && node.output_size() > 0) rename(at, node.output(0), node.input(0));
  }

  void insert_op() {
    onnx::NodeProto node;
    node.set_op_type(std::string(random_.any_of(kOps)));
    for (std::uint32_t left = 1 + random_.below(2); left > 0; --left) node.add_input(any_value());
    node.add_output("new");
    insert(std::move(node));
  }

  // Behind a node at random, whose output it reads and whose readers read it instead.
  void insert(onnx::NodeProto node) {
    auto* nodes = graph_.mutable_node();
    const auto before = static_cast<int>(random_.below(nodes->size()));
    for (std::string& output : *node.mutable_output()) output = fmt::format("v{}", next_name());
    if (before < nodes->size() && nodes->Get(before).output_size() > 0 && node.input_size() > 0) {
      node.set_input(0, nodes->Get(before).output(0));
      if (node.output_size() > 0) rename(before + 1, node.input(0), node.output(0));
    }
    *nodes->Add() = std::move(node);
    for (int at = nodes->size() - 1; at > before + 1; --at) nodes->SwapElements(at, at - 1);
  }

  std::size_t next_name() {
    std::size_t most = 0;
    for (const auto& node : graph_.node()) {
      for (const auto& name : node.output()) most = std::max(most, name.size());
    }
    return most + 100 * static_cast<std::size_t>(graph_.node_size()) + random_.below(100);
  }

  void rename(int from, const std::string& name, const std::string& to) {
    for (int at = from; at < graph_.node_size(); ++at) {
      auto* inputs = graph_.mutable_node(at)->mutable_input();
      std::replace(inputs->begin(), inputs->end(), name, to);
    }
    for (auto& output : *graph_.mutable_output()) {
      if (output.name() == name) output.set_name(to);
    }
  }

  void change_input_shape() {
    onnx::ValueInfoProto* input = any_in(graph_.mutable_input());
    if (!input) return;
    auto* dims = input->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
    if (random_.one_in(8)) {
      return input->mutable_type()->mutable_tensor_type()->set_elem_type(
          static_cast<int>(random_.below(17)));
    }
    if (dims->empty() || random_.one_in(5)) return dims->Add()->set_dim_value(values_.integer());
    if (random_.one_in(6)) return dims->RemoveLast();
    if (random_.one_in(6)) return any_in(dims)->set_dim_param("n");
    any_in(dims)->set_dim_value(values_.integer());
  }

  void change_constant() {
    auto* all = graph_.mutable_initializer();
    if (all->empty() || random_.one_in(6)) return add_constant(*all->Add());
    values_.change_tensor(*any_in(all));
  }

  void add_constant(onnx::TensorProto& tensor) {
    tensor.set_name(fmt::format("c{}", random_.below(1000)));
    tensor.set_data_type(onnx::TensorProto::INT64);
    const auto count = static_cast<int>(1 + random_.below(4));
    tensor.add_dims(count);
    for (int i = 0; i < count; ++i) tensor.add_int64_data(values_.integer());
    if (onnx::NodeProto* node = any_node()) node->add_input(tensor.name());
  }

  void change_ends() {
    auto* outputs = graph_.mutable_output();
    if (outputs->empty() || random_.one_in(4)) return outputs->Add()->set_name(any_value());
    if (outputs->size() > 1 && random_.one_in(2)) return outputs->RemoveLast();
    any_in(outputs)->set_name(any_value());
  }

  void change_opset() {
    if (model_.opset_import().empty()) model_.add_opset_import();
    any_in(model_.mutable_opset_import())->set_version(6 + random_.below(19));
  }

  onnx::ModelProto& model_;
  onnx::GraphProto& graph_;
  RandomChoice random_;
  OnnxValueMutator values_;
};

inline std::size_t write_onnx(const onnx::ModelProto& model, std::uint8_t* to, std::size_t most) {
  const std::size_t size = model.ByteSizeLong();
  if (size > most || !model.SerializeToArray(to, static_cast<int>(most))) return 0;
  return size;
}

/// A network in an arena, which frees it at once: half of a mutation's time was spent on that.
inline onnx::ModelProto* model_in(google::protobuf::Arena& arena) {
  return google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
}

/// For LLVMFuzzerCustomMutator, with its arguments.
inline std::size_t mutate_onnx(std::uint8_t* data, std::size_t size, std::size_t max_size,
                               unsigned seed) {
  google::protobuf::Arena arena;
  onnx::ModelProto& model = *model_in(arena);
  const bool is_model = seed % 8 > 0 && model.ParseFromArray(data, static_cast<int>(size));
  if (!is_model) return LLVMFuzzerMutate(data, size, max_size);
  OnnxMutator(model, seed).mutate();
  const std::size_t made = write_onnx(model, data, max_size);
  return made > 0 ? made : size;
}

/// For LLVMFuzzerCustomCrossOver, with its arguments.
inline std::size_t splice_onnx(std::string_view one, std::string_view other, std::uint8_t* to,
                               std::size_t max_size, unsigned seed) {
  google::protobuf::Arena arena;
  onnx::ModelProto &model = *model_in(arena), &more = *model_in(arena);
  if (!model.ParseFromArray(one.data(), static_cast<int>(one.size()))) return 0;
  if (!more.ParseFromArray(other.data(), static_cast<int>(other.size()))) return 0;
  OnnxMutator(model, seed).splice(more.graph());
  return write_onnx(model, to, max_size);
}

}  // namespace strata
