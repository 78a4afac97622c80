#pragma once

// What the transformers of the zoo are made of, as a value. A feature of a block is one field here,
// one place of zoo_block.cpp and, where a text may set it, one row of zoo_keys.cpp. Part of the
// zoo.

#include <cstdint>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata {

enum class NormKind : std::uint8_t { layer, rms };
/// Where a block's norms stand: before its attention and its feed-forward layer, behind each of
/// them (OLMo 2), before and behind (Gemma 2), or behind the sums of its residuals (BERT).
enum class NormPlace : std::uint8_t { before, after, both, sums };
/// Products with a bias: none of a block's, those of query, key and value, all of the attention's,
/// both of the feed-forward layer, all, all but those of keys (Whisper).
enum class BiasPlace : std::uint8_t { none, qkv, attention, ffn, all, all_but_keys };
/// Between the feed-forward layer's products.
enum class FeedForward : std::uint8_t { gelu, relu, relu2, swiglu, geglu, clamped_swiglu };
/// RMS norms of queries and keys: none, of each head by itself (with one scale for all heads: Qwen
/// 3), or of all heads together (OLMo 2).
enum class QkNorm : std::uint8_t { none, head, full };
/// An attention's keys and values: of products of the block's input, or of a latent vector, whose
/// products they are (DeepSeek-AI, "DeepSeek-V2", 2024). By the sizes where it is not said.
enum class AttentionKind : std::uint8_t { by_sizes, grouped, latent };
/// What a router makes scores of.
enum class Scoring : std::uint8_t { softmax, sigmoid };
/// Whether attention and feed-forward layer read the block's input side by side: no, behind one
/// norm for both (GPT-J), or behind a norm each (GPT-NeoX).
enum class ParallelParts : std::uint8_t { none, shared, separate };

struct TransformerSpec {
  // Sizes; 0: not given.
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< as heads where it is 0
  std::int64_t head_dim = 0;   ///< channels of a head; hidden / heads where it is 0
  std::int64_t ffn = 0;        ///< width of the feed-forward layer; 4 hidden where it is 0
  std::int64_t seq = 0;        ///< tokens; not of vit
  std::int64_t vocab = 0;      ///< not of vit
  std::int64_t positions = 0;  ///< learned ones; as many as tokens where it is 0
  std::int64_t image = 0, patch = 0, classes = 0;  ///< vit
  std::int64_t mels = 80;                          ///< whisper: channels of a frame of sound
  std::int64_t decoder_layers =
      0;  ///< t5, whisper: of the decoder; as many as the encoder's where it is 0
  std::int64_t target_seq = 0;  ///< t5, whisper: of the decoder; as the encoder's where it is 0

  // What a block has.
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::before;
  double epsilon = 1e-5;  ///< of the norms
  ParallelParts parallel = ParallelParts::none;
  BiasPlace bias = BiasPlace::all;
  FeedForward activation = FeedForward::gelu;
  double dropout = 0;  ///< of attentions' weights, embeddings and what residual sums take

  // What its feed-forward layer has where that is a mixture of experts.
  std::int64_t experts = 0;        ///< 0: the layer is dense
  std::int64_t top_k = 0;          ///< experts that a token has; 2 where it is 0
  std::int64_t expert_ffn = 0;     ///< width of an expert; that of a dense layer where it is 0
  std::int64_t shared_ffn = 0;     ///< width of a dense layer beside the experts; 0: none
  std::int64_t expert_layers = 0;  ///< how many blocks have experts, the last; 0: all
  std::int64_t token_groups = 0;  ///< of a sequence, with slots of their own; by size where it is 0
  double capacity = 1;            ///< slots over what tokens take of evenly chosen experts
  bool normalize_gates = true;    ///< a token's add up to gate_scale
  Scoring scoring = Scoring::softmax;
  double gate_scale = 1;
  std::int64_t expert_groups = 0;  ///< of which a token's experts are in the best; 1 where it is 0
  std::int64_t chosen_groups = 0;  ///< how many of them; all where it is 0
  bool choice_correction = false;  ///< a number for each expert is added to scores it is chosen by
  bool gated_shared = false;       ///< a sigmoid for each token multiplies the dense layer beside
  bool expert_bias = false;        ///< of the experts' products
  bool router_bias = false;

  // What its attention has.
  bool causal = false;
  AttentionKind attention = AttentionKind::by_sizes;
  std::int64_t query_rank = 0;      ///< latent: of the vector that queries are products of; 0: none
  std::int64_t kv_rank = 0;         ///< latent: of the vector that keys and values are products of
  std::int64_t own_key_dim = 0;     ///< latent: channels of a head of keys that are its own
  std::int64_t shared_key_dim = 0;  ///< latent: those that all share and rotary positions turn
  std::int64_t value_dim = 0;       ///< latent: channels of a head of values
  QkNorm qk_norm = QkNorm::none;
  double rope_base = 0;            ///< of rotary positions; 0: none
  double rope_share = 1;           ///< of a head's channels, which they turn
  std::int64_t window = 0;         ///< so many tokens are seen; 0: all
  std::int64_t window_layers = 0;  ///< how many blocks have the window, the last; 0: all
  std::int64_t global_every = 0;   ///< each so-manieth block sees all tokens; 0: none
  double window_rope_base = 0;     ///< of blocks with a window; 0: as rope_base
  double score_scale = 0;          ///< of the products; 1 / sqrt(head_dim) where it is 0
  double softcap = 0;              ///< of the products; 0: none
  std::int64_t buckets = 0;        ///< of distances that add to the products; 0: none
  std::int64_t max_distance = 128;
  bool sinks = false;  ///< a learned score without a key for each head

  // What a decoder has before and behind its blocks.
  bool learned_positions = false;  ///< added to the embedding, before its dropout
  bool scale_embedding = false;    ///< by sqrt(hidden)
  bool tied = false;               ///< the weight of the last product is the embedding's
  bool head_bias = false;          ///< of the last product
  double logit_softcap = 0;        ///< 0: none

  bool is_latent() const { return kv_rank > 0; }
  std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  std::int64_t head_size() const {
    if (is_latent()) return own_key_dim + shared_key_dim;
    return head_dim > 0 ? head_dim : hidden / heads;
  }
  std::int64_t ffn_width() const { return ffn > 0 ? ffn : 4 * hidden; }
  std::int64_t chosen_experts() const { return top_k > 0 ? top_k : 2; }
  std::int64_t groups_of_experts() const { return expert_groups > 0 ? expert_groups : 1; }
  std::int64_t expert_width() const { return expert_ffn > 0 ? expert_ffn : ffn_width(); }
  /// Whether a block, counted from 0, has experts.
  bool has_experts(std::int64_t block) const;
  /// As given; else the largest power of two up to 64 by which slots for even choices do not grow.
  std::int64_t groups_of_tokens() const;
  /// How many of a head's channels rotary positions turn.
  std::int64_t turned_channels() const;
  /// Whether a block, counted from 0, sees a window of tokens only.
  bool has_window(std::int64_t block) const;
  bool operator==(const TransformerSpec&) const = default;
};

/// Causal blocks between an embedding and a product that tells the next token: GPT (Radford et al.
/// 2019), Llama (Touvron et al. 2023) and their kin.
Graph build_decoder(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
/// Post-norm encoder with token types and a pooler (Devlin et al. 2019), trained to tell tokens.
Graph build_bert(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
/// An encoder, and a decoder whose blocks also attend to what that made (Raffel et al. 2020).
/// Distances between tokens add to products, by numbers that the blocks of each share.
Graph build_t5(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
/// An encoder of frames of sound, halved by convolutions, and a decoder (Radford et al. 2022).
Graph build_whisper(std::string_view name, std::int64_t batch, const TransformerSpec& spec);
/// Encoder over the patches of an image, with a class token (Dosovitskiy et al. 2021).
Graph build_vit(std::string_view name, std::int64_t batch, const TransformerSpec& spec);

}  // namespace strata
