// Blocks of transformers. A sequence's positions are its width, (n, c, w); the products of a query,
// key and value are layers of their own, as checkpoints of most families have them.

#include "sim/graph/zoo_transformer.h"

#include <string>

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

struct BlockStyle {
  bool pre_norm = true;      ///< norms stand before what they feed, else after the sums
  bool rms = false;          ///< RMS norms, else layer norms
  bool bias = true;          ///< of the products
  bool gated = false;        ///< SwiGLU, else GELU
  double epsilon = 1e-5;     ///< of the norms
  Attention attention = {};  ///< its head_size is worked out
};

class Transformer {
 public:
  Transformer(std::string_view name, std::int64_t batch, const TransformerSize& size,
              const BlockStyle& style)
      : net_(name, batch), size_(size), style_(style) {
    style_.attention.head_size = size.hidden / size.heads;
    style_.attention.dropout = size.dropout;
  }
  Net& net() { return net_; }
  Net&& take() { return std::move(net_); }

  /// Numbers of tokens, of which each has a vector.
  LayerId tokens() {
    const LayerId numbers = net_.input(1, 1, size_.seq);
    return net_.add("embedding", Embedding{size_.vocab, size_.hidden}, numbers);
  }
  LayerId linear(const std::string& name, LayerId from, std::int64_t features) {
    return net_.add(name, Linear{features, style_.bias}, from);
  }
  LayerId norm(const std::string& name, LayerId from) {
    if (style_.rms) return net_.add(name, RmsNorm{style_.epsilon}, from);
    return net_.add(name, LayerNorm{style_.epsilon, true}, from);
  }
  LayerId dropout(const std::string& name, LayerId from) {
    return size_.dropout > 0 ? net_.add(name, Dropout{size_.dropout}, from) : from;
  }
  LayerId blocks(LayerId at) {
    for (std::int64_t block = 0; block < size_.layers; ++block) {
      const std::string prefix = fmt::format("block{}_", block + 1);
      at = with_residual(prefix, "attention", at, &Transformer::attention);
      at = with_residual(prefix, "ffn", at, &Transformer::feed_forward);
    }
    return at;
  }

 private:
  using Part = LayerId (Transformer::*)(const std::string& prefix, LayerId from);

  LayerId with_residual(const std::string& prefix, const std::string& part, LayerId from,
                        Part inner) {
    const std::string norm_name = prefix + part + "_norm";
    const LayerId in = style_.pre_norm ? norm(norm_name, from) : from;
    const LayerId out = dropout(prefix + part + "_dropout", (this->*inner)(prefix, in));
    const LayerId sum = net_.join(prefix + part + "_add", Add{}, {from, out});
    return style_.pre_norm ? sum : norm(norm_name, sum);
  }

  LayerId attention(const std::string& prefix, LayerId from) {
    const std::int64_t heads = size_.kv_heads > 0 ? size_.kv_heads : size_.heads;
    const std::int64_t keys = heads * style_.attention.head_size;
    const LayerId q = linear(prefix + "query", from, size_.hidden);
    const LayerId k = linear(prefix + "key", from, keys);
    const LayerId v = linear(prefix + "value", from, keys);
    const LayerId seen = net_.join(prefix + "attention", style_.attention, {q, k, v});
    return linear(prefix + "attention_out", seen, size_.hidden);
  }

  LayerId feed_forward(const std::string& prefix, LayerId from) {
    const std::int64_t width = size_.ffn > 0 ? size_.ffn : 4 * size_.hidden;
    LayerId at;
    if (style_.gated) {
      const LayerId gate = linear(prefix + "ffn_gate", from, width);
      const LayerId up = linear(prefix + "ffn_up", from, width);
      at = net_.join(prefix + "ffn_act", GatedActivation{}, {gate, up});
    } else {
      at = linear(prefix + "ffn_in", from, width);
      at = net_.add(prefix + "ffn_act", Activation{ActivationKind::gelu}, at);
    }
    return linear(prefix + "ffn_out", at, size_.hidden);
  }

  Net net_;
  TransformerSize size_;
  BlockStyle style_;
};

}  // namespace

Graph build_gpt(std::string_view name, std::int64_t batch, const TransformerSize& size) {
  BlockStyle style;
  style.attention.causal = true;
  Transformer gpt(name, batch, size, style);
  LayerId at = gpt.net().add("positions", PositionEmbedding{size.positions}, gpt.tokens());
  at = gpt.norm("norm", gpt.blocks(gpt.dropout("embedding_dropout", at)));
  at = gpt.net().add("head", Linear{size.vocab, false, "embedding"}, at);
  return gpt.take().with_loss(at);
}

Graph build_llama(std::string_view name, std::int64_t batch, const TransformerSize& size) {
  BlockStyle style{.rms = true, .bias = false, .gated = true};
  style.attention.causal = true;
  style.attention.rotary = size.rotary;
  Transformer llama(name, batch, size, style);
  LayerId at = llama.norm("norm", llama.blocks(llama.tokens()));
  at = llama.linear("head", at, size.vocab);
  return llama.take().with_loss(at);
}

// The pooler feeds no loss here: masked tokens are told by the embedding's weight alone.
Graph build_bert(std::string_view name, std::int64_t batch, const TransformerSize& size) {
  Transformer bert(name, batch, size, {.pre_norm = false, .epsilon = 1e-12});
  Net& net = bert.net();
  const LayerId words = bert.tokens();
  const LayerId types = net.add("type_embedding", Embedding{2, size.hidden},
                                net.join("token_types", Input{{{1, 1, 1, 1, size.seq}}}, {}));
  LayerId at = net.join("embedding_add", Add{}, {words, types});
  at = net.add("positions", PositionEmbedding{size.positions}, at);
  at = bert.blocks(bert.dropout("embedding_dropout", bert.norm("embedding_norm", at)));
  const LayerId first = net.add("first_token", SelectToken{}, at);
  net.add("pooler_act", Activation{ActivationKind::tanh},
          bert.linear("pooler", first, size.hidden));
  at = net.add("head", Linear{size.vocab, false, "embedding"}, at);
  return bert.take().with_loss(at);
}

Graph build_vit(std::string_view name, std::int64_t batch, const TransformerSize& size) {
  Transformer vit(name, batch, size, {.epsilon = 1e-6});
  Net& net = vit.net();
  LayerId at = net.input(3, size.image, size.image);
  at = net.conv("patches", at, size.hidden, windows2d(size.patch, size.patch));
  at = net.add("class_token", ClassToken{}, net.add("tokens", Tokens{}, at));
  at = net.add("positions", PositionEmbedding{}, at);
  at = vit.norm("norm", vit.blocks(vit.dropout("embedding_dropout", at)));
  at = vit.linear("head", net.add("first_token", SelectToken{}, at), size.classes);
  return vit.take().with_loss(at);
}

}  // namespace strata
