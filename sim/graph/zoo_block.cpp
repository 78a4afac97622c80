#include "sim/graph/zoo_block.h"

#include <fmt/format.h>

namespace strata {

LayerId TransformerNet::tokens() {
  const LayerId numbers = net_.input(1, 1, spec_.seq);
  return net_.add("embedding", Embedding{spec_.vocab, spec_.hidden}, numbers);
}

LayerId TransformerNet::norm(const std::string& name, LayerId from) {
  if (spec_.norm == NormKind::rms) return net_.add(name, RmsNorm{spec_.epsilon}, from);
  return net_.add(name, LayerNorm{spec_.epsilon, true}, from);
}

LayerId TransformerNet::dropout(const std::string& name, LayerId from) {
  return spec_.dropout > 0 ? net_.add(name, Dropout{spec_.dropout}, from) : from;
}

LayerId TransformerNet::linear(const std::string& name, LayerId from, std::int64_t features) {
  return net_.add(name, Linear{features, spec_.bias == BiasPlace::all}, from);
}

LayerId TransformerNet::blocks(LayerId from) {
  for (std::int64_t number = 0; number < spec_.layers; ++number) {
    from = block({number, fmt::format("block{}_", number + 1)}, from);
  }
  return from;
}

LayerId TransformerNet::block(const BlockPlace& place, LayerId from) {
  from = with_residual(place, "attention", from, &TransformerNet::attention);
  return with_residual(place, "ffn", from, &TransformerNet::feed_forward);
}

LayerId TransformerNet::with_residual(const BlockPlace& place, const std::string& part,
                                      LayerId from, Part inner) {
  const bool before = spec_.norm_place == NormPlace::before;
  const std::string name = place.prefix + part;
  const LayerId in = before ? norm(name + "_norm", from) : from;
  const LayerId out = dropout(name + "_dropout", (this->*inner)(place, in));
  const LayerId sum = net_.join(name + "_add", Add{}, {from, out});
  return before ? sum : norm(name + "_norm", sum);
}

Attention TransformerNet::attention_op() const {
  Attention op;
  op.head_size = spec_.head_size();
  op.causal = spec_.causal;
  op.rotary = spec_.rope_base;
  op.dropout = spec_.dropout;
  return op;
}

LayerId TransformerNet::attention(const BlockPlace& place, LayerId from) {
  const std::int64_t keys = spec_.key_heads() * spec_.head_size();
  const LayerId q = linear(place.prefix + "query", from, spec_.heads * spec_.head_size());
  const LayerId k = linear(place.prefix + "key", from, keys);
  const LayerId v = linear(place.prefix + "value", from, keys);
  const LayerId seen = net_.join(place.prefix + "attention", attention_op(), {q, k, v});
  return linear(place.prefix + "attention_out", seen, spec_.hidden);
}

LayerId TransformerNet::feed_forward(const BlockPlace& place, LayerId from) {
  const std::string name = place.prefix + "ffn_";
  LayerId at;
  if (spec_.activation == FeedForward::swiglu) {
    const LayerId gate = linear(name + "gate", from, spec_.ffn_width());
    const LayerId up = linear(name + "up", from, spec_.ffn_width());
    at = net_.join(name + "act", GatedActivation{}, {gate, up});
  } else {
    at = linear(name + "in", from, spec_.ffn_width());
    at = net_.add(name + "act", Activation{ActivationKind::gelu}, at);
  }
  return linear(name + "out", at, spec_.hidden);
}

}  // namespace strata
