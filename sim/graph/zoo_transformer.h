#pragma once

// What the transformers of the zoo are made of, as a value. A feature of a block is one field here,
// one place of zoo_block.cpp and, where a text may set it, one row of zoo_keys.cpp. Part of the
// zoo.

#include <cstdint>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

enum class NormKind : std::uint8_t { layer, rms };
/// Where a block's norms stand: before what they feed, or behind the sums of its residuals.
enum class NormPlace : std::uint8_t { before, sums };
/// Products with a bias.
enum class BiasPlace : std::uint8_t { none, all };
enum class FeedForward : std::uint8_t { gelu, swiglu };

struct TransformerSpec {
  // Sizes; 0: not given.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< as heads where it is 0
  std::int64_t ffn = 0;        ///< width of the feed-forward layer; 4 hidden where it is 0
  std::int64_t seq = 0;        ///< tokens; not of vit
  std::int64_t vocab = 0;      ///< not of vit
  std::int64_t positions = 0;  ///< learned ones; as many as tokens where it is 0
  std::int64_t image = 0, patch = 0, classes = 0;  ///< vit

  // What a block has.
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::before;
  double epsilon = 1e-5;  ///< of the norms
  BiasPlace bias = BiasPlace::all;
  FeedForward activation = FeedForward::gelu;
  bool causal = false;
  double rope_base = 0;  ///< of rotary positions; 0: none
  double dropout = 0;    ///< of attentions' weights, embeddings and what residual sums take

  // What a decoder has before and behind its blocks.
  bool learned_positions = false;  ///< added to the embedding, before its dropout
  bool tied = false;               ///< the weight of the last product is the embedding's

  std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  std::int64_t head_size() const { return hidden / heads; }
  std::int64_t ffn_width() const { return ffn > 0 ? ffn : 4 * hidden; }
  bool operator==(const TransformerSpec&) const = default;
};

/// Causal blocks between an embedding and a product that tells the next token: GPT (Radford et al.
/// 2019), Llama (Touvron et al. 2023) and their kin.
Graph build_decoder(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
/// Post-norm encoder with token types and a pooler (Devlin et al. 2019), trained to tell tokens.
Graph build_bert(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
/// Encoder over the patches of an image, with a class token (Dosovitskiy et al. 2021).
Graph build_vit(std::string_view name, std::int64_t batch, const TransformerSpec& spec);

}  // namespace strata
