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

/// One of a network's blocks: its number, from 0, and what its layers' names begin with.
struct BlockPlace {
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
  LayerId norm(const std::string& name, LayerId from);
  /// `from` itself where there is no dropout.
  LayerId dropout(const std::string& name, LayerId from);
  LayerId linear(const std::string& name, LayerId from, std::int64_t features, bool bias);
  /// All of them.
  LayerId blocks(LayerId from);

 private:
  using Part = LayerId (TransformerNet::*)(const BlockPlace&, LayerId from);

  LayerId block(const BlockPlace& place, LayerId from);
  /// Its attention, then its feed-forward layer, each with a residual sum of its own.
  LayerId in_turn(const BlockPlace& place, LayerId from);
  LayerId with_residual(const BlockPlace& place, const std::string& part, LayerId from, Part inner);
  /// Both beside each other, with one residual sum.
  LayerId side_by_side(const BlockPlace& place, LayerId from);

  LayerId attention(const BlockPlace& place, LayerId from);
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
