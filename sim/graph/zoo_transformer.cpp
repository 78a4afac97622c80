#include "sim/graph/zoo_transformer.h"

#include <cmath>

#include "sim/graph/zoo_block.h"

namespace strata {

// 0.4 of 80 channels are 32, whatever rounding makes of the share.
std::int64_t TransformerSpec::turned_channels() const {
  return static_cast<std::int64_t>(rope_share * static_cast<double>(head_size()) + 1e-6);
}

bool TransformerSpec::has_window(std::int64_t block) const {
  if (window == 0) return false;
  if (global_every > 0 && (block + 1) % global_every == 0) return false;
  return window_layers == 0 || block >= layers - window_layers;
}

bool TransformerSpec::has_experts(std::int64_t block) const {
  return experts > 0 && (expert_layers == 0 || block >= layers - expert_layers);
}

std::int64_t TransformerSpec::groups_of_tokens() const {
  if (token_groups > 0) return token_groups;
  std::int64_t groups = 1;
  const auto suits = [&](std::int64_t count) {
    const std::int64_t chosen = chosen_experts() * (seq / count);  // in a group
    const double slots = static_cast<double>(chosen) * capacity / static_cast<double>(experts);
    return seq % count == 0 && slots >= 1 && slots == std::floor(slots);
  };
  for (std::int64_t count = 2; count <= 64; count *= 2) groups = suits(count) ? count : groups;
  return groups;
}

Graph build_decoder(std::string_view name, std::int64_t batch, const TransformerSpec& spec) {
  TransformerNet decoder(name, batch, spec);
  Net& net = decoder.net();
  LayerId at = decoder.tokens();
  if (spec.learned_positions) {
    at = net.add("positions", PositionEmbedding{spec.positions}, at);
    at = decoder.dropout("embedding_dropout", at);
  }
  at = decoder.norm("norm", decoder.blocks(at));
  at = net.add("head", Linear{spec.vocab, spec.head_bias, spec.tied ? "embedding" : ""}, at);
  if (spec.logit_softcap > 0) {
    at = net.add("head_softcap", Activation{ActivationKind::softcap, spec.logit_softcap}, at);
  }
  return std::move(decoder).with_loss(at);
}

// The pooler feeds no loss here: masked tokens are told by the embedding's weight alone.
Graph build_bert(std::string_view name, std::int64_t batch, const TransformerSpec& spec) {
  TransformerNet bert(name, batch, spec);
  Net& net = bert.net();
  const LayerId words = bert.tokens();
  const LayerId types = net.add("type_embedding", Embedding{2, spec.hidden},
                                net.join("token_types", Input{{{1, 1, 1, 1, spec.seq}}}, {}));
  LayerId at = net.join("embedding_add", Add{}, {words, types});
  at = net.add("positions", PositionEmbedding{spec.positions}, at);
  at = bert.blocks(bert.dropout("embedding_dropout", bert.norm("embedding_norm", at)));
  const LayerId first = net.add("first_token", SelectToken{}, at);
  net.add("pooler_act", Activation{ActivationKind::tanh},
          bert.linear("pooler", first, spec.hidden, true));
  at = net.add("head", Linear{spec.vocab, false, "embedding"}, at);
  return std::move(bert).with_loss(at);
}

// Where the head has the embedding's weight, what it reads is scaled by 1 / sqrt(hidden), as the
// authors' code does.
Graph build_t5(std::string_view name, std::int64_t batch, const TransformerSpec& spec) {
  TransformerNet t5(name, batch, spec);
  Net& net = t5.net();
  const std::int64_t layers = spec.decoder_layers > 0 ? spec.decoder_layers : spec.layers;
  LayerId at = t5.dropout("embedding_dropout", t5.tokens());
  at = t5.norm("encoder_norm", t5.blocks({"encoder_", spec.layers, false}, at));
  const LayerId memory = t5.dropout("encoder_dropout", at);
  at = t5.dropout("target_embedding_dropout", t5.target_tokens("target_embedding", "embedding"));
  at = t5.norm("decoder_norm", t5.blocks({"decoder_", layers, true, memory}, at));
  at = t5.dropout("decoder_dropout", at);
  if (spec.tied) {
    const double scale = 1 / std::sqrt(static_cast<double>(spec.hidden));
    at = net.add("decoder_scale", Activation{ActivationKind::scale, scale}, at);
  }
  at = net.add("head", Linear{spec.vocab, false, spec.tied ? "embedding" : ""}, at);
  return std::move(t5).with_loss(at);
}

// The encoder's positions are a table of its own, whose first values are sines in the authors'
// code, which does not train them.
Graph build_whisper(std::string_view name, std::int64_t batch, const TransformerSpec& spec) {
  TransformerNet whisper(name, batch, spec);
  Net& net = whisper.net();
  const std::int64_t layers = spec.decoder_layers > 0 ? spec.decoder_layers : spec.layers;
  LayerId at = net.add("sound_positions", PositionEmbedding{}, whisper.sound());
  at = whisper.dropout("sound_dropout", at);
  const LayerId memory =
      whisper.norm("encoder_norm", whisper.blocks({"encoder_", spec.layers, false}, at));
  at = net.add("positions", PositionEmbedding{spec.positions}, whisper.target_tokens("embedding"));
  at = whisper.dropout("embedding_dropout", at);
  at = whisper.norm("decoder_norm", whisper.blocks({"decoder_", layers, true, memory}, at));
  at = net.add("head", Linear{spec.vocab, false, "embedding"}, at);
  return std::move(whisper).with_loss(at);
}

Graph build_vit(std::string_view name, std::int64_t batch, const TransformerSpec& spec) {
  TransformerNet vit(name, batch, spec);
  Net& net = vit.net();
  LayerId at = net.input(3, spec.image, spec.image);
  at = net.conv("patches", at, spec.hidden, windows2d(spec.patch, spec.patch));
  at = net.add("class_token", ClassToken{}, net.add("tokens", Tokens{}, at));
  at = net.add("positions", PositionEmbedding{}, at);
  at = vit.norm("norm", vit.blocks(vit.dropout("embedding_dropout", at)));
  at = vit.linear("head", net.add("first_token", SelectToken{}, at), spec.classes, true);
  return std::move(vit).with_loss(at);
}

}  // namespace strata
