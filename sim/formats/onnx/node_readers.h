#pragma once

// The ops of ONNX that are read, each by a function: it looks at a node and appends the layers that
// compute it, or says why it cannot. Grouped as the sources are.

#include <string_view>

#include "sim/formats/onnx/node.h"

namespace strata {

/// Throws InputError that says what is wrong (not in which node).
using NodeReader = void (*)(OnnxNode&);

/// None for an op that is not read.
NodeReader find_node_reader(std::string_view op);
/// None for the ops of other domains.
NodeReader find_node_reader(const onnx::NodeProto& node);

// linear_readers.cpp: layers with weights.
void read_convolution(OnnxNode& node);
void read_gemm(OnnxNode& node);
void read_matmul(OnnxNode& node);

// norm_readers.cpp
void read_batch_norm(OnnxNode& node);
void read_lrn(OnnxNode& node);
void read_dropout(OnnxNode& node);
/// Whether it is a Mul that spells a dropout; reads it then.
bool read_drawn_dropout(OnnxNode& node);
void read_softmax(OnnxNode& node);

// pooling_readers.cpp
void read_max_pool(OnnxNode& node);
void read_average_pool(OnnxNode& node);
void read_global_average_pool(OnnxNode& node);
void read_global_max_pool(OnnxNode& node);
void read_reduce_mean(OnnxNode& node);
void read_pad(OnnxNode& node);

// activation_readers.cpp
void read_relu(OnnxNode& node);
void read_leaky_relu(OnnxNode& node);
void read_elu(OnnxNode& node);
void read_clip(OnnxNode& node);
void read_sigmoid(OnnxNode& node);
void read_tanh(OnnxNode& node);
void read_gelu(OnnxNode& node);
void read_hard_swish(OnnxNode& node);
void read_hard_sigmoid(OnnxNode& node);
void read_division(OnnxNode& node);
void read_part_of_pattern(OnnxNode& node);

// layout_readers.cpp: other names and other axes for what is there.
void read_alias(OnnxNode& node);
void read_transpose(OnnxNode& node);
void read_relabel(OnnxNode& node);
void read_shape_part(OnnxNode& node);

// opaque_reader.cpp
/// Any op, as its outputs from number `first` on that something reads.
void read_opaque(OnnxNode& node, int first);
void read_resize(OnnxNode& node);

// join_readers.cpp
void read_concat(OnnxNode& node);
void read_add(OnnxNode& node);
void read_multiply(OnnxNode& node);

}  // namespace strata
