#pragma once

// The blocks of transformers, from a TransformerSpec. A sequence's positions are its width,
// (n, c, w); the products of a query, key and value are layers of their own, as checkpoints of most
// families have them. Part of the zoo.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/zoo_net.h"
#include "sim/graph/zoo_transformer.h"

namespace strata {

/// Blocks one after another.
struct BlockStack {
  std::string prefix;  ///< of their layers' names
  std::int64_t layers = 0;
  bool causal = false;
  LayerId memory = {};  ///< what they attend to, beside their own tokens; invalid: nothing
};

/// One of a stack's blocks: its number, from 0, and what its layers' names begin with.
struct BlockPlace {
  const BlockStack* stack = nullptr;
  std::int64_t number = 0;
  std::string prefix;
};

/// A feed-forward layer: what its layers' names begin with, and how wide it is between its
/// products.
struct FeedForwardPart {
  std::string prefix;
  std::int64_t width = 0;
  bool of_experts = false;  ///< each has its own, for the slots that tokens took
};

/// A Net with the phrases of transformers. Every phrase appends layers and returns the last one.
class TransformerNet {
 public:
  TransformerNet(std::string_view name, std::int64_t batch, const TransformerSpec& spec)
      : net_(name, batch), spec_(spec) {}
  Net& net() { return net_; }
  /// Ends the network with softmax cross-entropy on `from`.
  Graph with_loss(LayerId from) && { return std::move(net_).with_loss(from); }

  /// Numbers of tokens, of which each has a vector.
  LayerId tokens();
  /// The same of the decoder behind an encoder, with vectors of its own or the encoder's.
  LayerId target_tokens(const std::string& embedding, const std::string& weight_of = {});
  /// Frames of sound, (n, mels, w), to half as many vectors.
  LayerId sound();
  LayerId norm(const std::string& name, LayerId from);
  /// `from` itself where there is no dropout.
  LayerId dropout(const std::string& name, LayerId from);
  LayerId linear(const std::string& name, LayerId from, std::int64_t features, bool bias);
  /// All of them.
  LayerId blocks(LayerId from);
  LayerId blocks(const BlockStack& stack, LayerId from);

 private:
  using Part = LayerId (TransformerNet::*)(const BlockPlace&, LayerId from);

  LayerId block(const BlockPlace& place, LayerId from);
  /// Its attention, then its feed-forward layer, each with a residual sum of its own.
  LayerId in_turn(const BlockPlace& place, LayerId from);
  LayerId with_residual(const BlockPlace& place, const std::string& part, LayerId from, Part inner);
  /// Both beside each other, with one residual sum.
  LayerId side_by_side(const BlockPlace& place, LayerId from);

  LayerId attention(const BlockPlace& place, LayerId from);
  /// To the stack's memory, whose tokens have no distances from a block's own.
  LayerId cross_attention(const BlockPlace& place, LayerId from);
  /// Of the queries of one tensor to keys and values of another.
  LayerId attention_between(const std::string& prefix, const Attention& op, LayerId from,
                            LayerId memory);
  LayerId latent_attention(const BlockPlace& place, LayerId from);
  /// A product and the norm of what it makes.
  LayerId latent(const std::string& name, LayerId from, std::int64_t rank);
  /// A query's or a key's.
  LayerId head_norm(const std::string& name, LayerId from);
  Attention attention_op(const BlockPlace& place) const;
  LayerId feed_forward(const BlockPlace& place, LayerId from);
  /// A mixture of experts, and a layer for all tokens beside it where there is one.
  LayerId mixture(const std::string& prefix, LayerId from);
  Router router() const;
  LayerId layer_of_all(const FeedForwardPart& part, LayerId from);
  /// What stands between the feed-forward layer's products, of its first or its first two.
  LayerId activation(const FeedForwardPart& part, LayerId from);
  LayerId product(const FeedForwardPart& part, const std::string& name, LayerId from,
                  std::int64_t features);
  bool has_bias(BiasPlace part) const;

  Net net_;
  TransformerSpec spec_;
};

}  // namespace strata
