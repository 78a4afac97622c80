#pragma once

// The ops of ONNX that are read, each by a function: it looks at a node and appends the layers that
// compute it, or says why it cannot. Each source of readers lists the ops that it reads.

#include <span>
#include <string_view>

#include "sim/importers/onnx/node.h"

namespace strata {

/// Throws InputError that says what is wrong (not in which node).
using NodeReader = void (*)(OnnxNode&);

/// None for an op that is not read.
NodeReader find_node_reader(std::string_view op);
/// None for the ops of other domains.
NodeReader find_node_reader(const onnx::NodeProto& node);

struct KnownOp {
  std::string_view op;
  NodeReader read;
};
using KnownOps = std::span<const KnownOp>;

KnownOps activation_readers();
KnownOps join_readers();
/// Other names and other axes for what is there.
KnownOps layout_readers();
/// Layers with weights.
KnownOps linear_readers();
KnownOps norm_readers();
/// Of known ops, those that may be opaque.
KnownOps opaque_readers();
KnownOps pooling_readers();
/// Of ops that are read in networks of tokens alone.
KnownOps token_readers();

// token_readers.cpp
/// Whether a node is part of a network of tokens (attention, products of each token, positions);
/// reads it then.
bool read_tokens(OnnxNode& node);

/// Each of these says whether the node is what it is called; reads it then.
using TokenReader = bool (*)(OnnxNode&);
struct TokenOp {
  std::string_view op;
  TokenReader read;
};
using TokenOps = std::span<const TokenOp>;
TokenOps attention_ops();
TokenOps embedding_ops();
TokenOps rotary_ops();
TokenOps spelled_ops();
TokenOps view_ops();

// layout_readers.cpp: what constants and shapes alone pass through.
void read_alias(OnnxNode& node);
void read_transpose(OnnxNode& node);
void read_shape_part(OnnxNode& node);

// norm_readers.cpp
/// Whether it is a Mul that spells a dropout; reads it then.
bool read_drawn_dropout(OnnxNode& node);

// opaque_reader.cpp
/// Any op, as its outputs from number `first` on that something reads.
void read_opaque(OnnxNode& node, int first);

}  // namespace strata
