#pragma once

// The transformers of the zoo, by their sizes. Part of the zoo.

#include <cstdint>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

/// What the families have in common. 0: not given.
struct TransformerSize {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< llama; as heads where it is 0
  std::int64_t ffn = 0;        ///< width of the feed-forward layer; 4 hidden where it is 0
  std::int64_t seq = 0;        ///< tokens; not of vit
  std::int64_t vocab = 0;      ///< not of vit
  std::int64_t positions = 0;  ///< learned ones; as many as tokens where it is 0
  double dropout = 0;          ///< of attentions' weights, embeddings and what residual sums take
  double rotary = 0;           ///< llama: the base of rotary positions
  std::int64_t image = 0, patch = 0, classes = 0;  ///< vit
};

/// Pre-norm decoder with learned positions and GELU (Radford et al. 2019); the weight of the last
/// product is the embedding's.
Graph build_gpt(std::string_view name, std::int64_t batch, const TransformerSize& size);
/// Pre-norm decoder with rotary positions, RMS norms, SwiGLU and grouped queries (Touvron et al.
/// 2023).
Graph build_llama(std::string_view name, std::int64_t batch, const TransformerSize& size);
/// Post-norm encoder with token types and a pooler (Devlin et al. 2019), trained to tell tokens.
Graph build_bert(std::string_view name, std::int64_t batch, const TransformerSize& size);
/// Encoder over the patches of an image, with a class token (Dosovitskiy et al. 2021).
Graph build_vit(std::string_view name, std::int64_t batch, const TransformerSize& size);

}  // namespace strata
