#pragma once

// Networks of the zoo with their wiring as it is and everything else smaller, so that they train in
// tens of milliseconds: few channels, few features, small images.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/graph/graph.h"

namespace strata::testing {

struct SmallNetwork {
  std::string_view name;  ///< of the zoo, or what it lacks: "gated", "normed" (layer norms)
  std::int64_t batch = 4;
  std::int64_t image = 0;      ///< height and width of the input; 0: as the zoo has it
  std::int64_t narrowing = 1;  ///< divides the channels of convolutions, rounded up, and groups
  /// ELU for ReLU and ReLU6, averages for maxima, since those have gradients that jump: in a deep
  /// network, rounding carries a few of its hundred thousands of elements over a kink, or changes
  /// which is the largest, and gradients then differ by far more than rounding.
  bool smooth = false;
  std::string_view label = {};  ///< for titles, where others have the same family
};

// Two blocks of each family of transformers.
inline constexpr std::string_view kSmallGpt = "gpt:layers=2,hidden=32,heads=4,seq=12,vocab=50";
inline constexpr std::string_view kSmallLlama =
    "llama:layers=2,hidden=32,heads=4,kv_heads=2,ffn=48,seq=12,vocab=50";
inline constexpr std::string_view kSmallBert = "bert:layers=2,hidden=32,heads=4,seq=12,vocab=50";
inline constexpr std::string_view kSmallVit =
    "vit:layers=2,hidden=32,heads=4,image=12,patch=4,classes=10";

// Decoders that have what families differ in: heads that are normalised one by one; windows, caps
// and norms behind; parts side by side; norms of all heads.
inline constexpr SmallNetwork kSmallQwen = {
    .name =
        "llama:layers=2,hidden=32,heads=4,kv_heads=2,head_dim=12,ffn=48,seq=12,vocab=50,"
        "qk_norm=head,bias=qkv,tied=1",
    .label = "qwen"};
inline constexpr SmallNetwork kSmallGemma = {
    .name =
        "llama:layers=2,hidden=32,heads=4,kv_heads=2,ffn=48,seq=12,vocab=50,act=geglu,"
        "norms=both,window=5,global_every=2,window_rope_base=100,softcap=2,logit_softcap=3,"
        "scale_embedding=1,score_scale=0.5,tied=1",
    .label = "gemma"};
inline constexpr SmallNetwork kSmallFalcon = {
    .name =
        "llama:layers=2,hidden=32,heads=4,kv_heads=1,seq=12,vocab=50,norm=layer,act=relu2,"
        "parallel=shared,bias=ffn,head_bias=1,rope_share=0.5",
    .label = "falcon"};
inline constexpr SmallNetwork kSmallOlmo = {
    .name =
        "llama:layers=2,hidden=32,heads=4,ffn=48,seq=12,vocab=50,norms=after,qk_norm=full,"
        "window=5,window_layers=1",
    .label = "olmo"};
inline constexpr SmallNetwork kSmallNeox = {
    .name = "gpt:layers=2,hidden=32,heads=4,kv_heads=2,seq=12,vocab=50,parallel=separate,tied=0",
    .label = "neox"};

// Mixtures of experts: some tokens find no slot; a layer for all tokens beside them.
inline constexpr SmallNetwork kSmallMixtral = {
    .name =
        "llama:layers=2,hidden=32,heads=4,kv_heads=2,seq=16,vocab=50,experts=4,topk=2,moe_ffn=24,"
        "token_groups=4",
    .label = "mixtral"};
inline constexpr SmallNetwork kSmallDeepseek = {
    .name =
        "llama:layers=2,hidden=32,heads=4,ffn=48,seq=16,vocab=50,experts=6,topk=3,moe_ffn=20,"
        "shared_ffn=24,moe_layers=1,norm_topk=0,capacity=2,token_groups=4",
    .label = "deepseek"};

// Latent attentions, with experts in groups: sigmoids of DeepSeek-V3; queries of the block's input
// and a gate of the layer for all tokens.
inline constexpr SmallNetwork kSmallDeepseekV3 = {
    .name =
        "llama:layers=2,hidden=32,heads=4,ffn=48,seq=16,vocab=50,q_lora_rank=24,kv_lora_rank=20,"
        "qk_nope_dim=6,qk_rope_dim=4,v_head_dim=10,experts=6,topk=3,moe_ffn=20,shared_ffn=24,"
        "moe_layers=1,scoring=sigmoid,groups=3,topk_groups=2,routed_scale=2.5,correction_bias=1,"
        "capacity=2,token_groups=4",
    .label = "deepseek_v3"};
inline constexpr SmallNetwork kSmallLatent = {
    .name =
        "llama:layers=2,hidden=32,heads=4,seq=16,vocab=50,kv_lora_rank=12,qk_nope_dim=8,"
        "qk_rope_dim=6,v_head_dim=4,experts=4,topk=2,moe_ffn=20,shared_ffn=24,shared_gate=1,"
        "norm_topk=0,groups=2,topk_groups=1,routed_scale=3,capacity=2,token_groups=4",
    .label = "latent"};

// Sinks of heads, and experts and routers with biases: gpt-oss.
inline constexpr SmallNetwork kSmallOss = {
    .name =
        "llama:layers=2,hidden=32,heads=4,kv_heads=2,head_dim=12,seq=16,vocab=50,window=5,"
        "global_every=2,sinks=1,bias=attention,act=clamped_swiglu,experts=4,topk=2,moe_ffn=24,"
        "expert_bias=1,router_bias=1,capacity=2,token_groups=4",
    .label = "oss"};

// An encoder and a decoder of fewer tokens, whose blocks share numbers for distances.
inline constexpr SmallNetwork kSmallT5 = {
    .name =
        "t5:layers=2,hidden=32,heads=4,head_dim=6,ffn=48,seq=12,target_seq=8,vocab=50,buckets=8,"
        "max_distance=10",
    .label = "t5"};

// Convolutions before an encoder, and a decoder.
inline constexpr SmallNetwork kSmallWhisper = {
    .name =
        "whisper:layers=2,hidden=32,heads=4,ffn=48,seq=16,target_seq=8,positions=9,mels=6,vocab=50",
    .label = "whisper"};

/// "resnet18", "gpt".
inline std::string title(const SmallNetwork& network) {
  if (!network.label.empty()) return std::string(network.label);
  return std::string(network.name.substr(0, network.name.find(':')));
}

/// Every fully-connected layer has at most 64 features. Layers keep their names and their order.
Graph build(const SmallNetwork& network);

}  // namespace strata::testing
