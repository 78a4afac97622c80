// Dense decoders: those that are published against the parameters of their checkpoints, and each
// key of a family by what it changes.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"

namespace strata {
namespace {

std::int64_t macs_of(const Graph& graph) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) total += macs(graph, LayerId(i));
  return total;
}

// Totals of the checkpoints, a weight that is two layers' once: of Gemma 3 from 4b on those of the
// text part (4,300,079,472 less 416,866,032 of the images' encoder and 2,950,272 of the projection,
// and so on), of Nemotron-4 the sums of the published sizes. Of DeepSeek-V3 and its kin the
// corrections of scores count, a number for each expert, as in their checkpoints; the blocks of
// multi-token prediction do not, whose parameters are taken off GLM-4.5's totals: a block of
// experts, three norms, a projection of 2 hidden, an embedding and a head.
TEST(Families, MembersHaveTheirPublishedParameters) {
  const std::map<std::string, std::int64_t> published = {
      {"opt-125m", 125'239'296},
      {"opt-1.3b", 1'315'758'080},
      {"opt-2.7b", 2'651'596'800},
      {"opt-6.7b", 6'658'473'984},
      {"opt-13b", 12'853'473'280},
      {"opt-30b", 29'974'540'288},
      {"opt-66b", 65'719'701'504},
      {"gpt-j-6b", 6'050'882'784},
      {"gpt-neox-20b", 20'554'567'680},
      {"pythia-70m", 70'426'624},
      {"pythia-160m", 162'322'944},
      {"pythia-410m", 405'334'016},
      {"pythia-1b", 1'011'781'632},
      {"pythia-1.4b", 1'414'647'808},
      {"pythia-2.8b", 2'775'208'960},
      {"pythia-6.9b", 6'857'302'016},
      {"pythia-12b", 11'846'072'320},
      {"falcon-7b", 6'921'720'704},
      {"falcon-40b", 41'303'293'952},
      {"falcon-180b", 178'557'088'768},
      {"mistral-nemo-12b", 12'247'782'400},
      {"codestral-22b", 22'247'282'688},
      {"mistral-large-123b", 122'610'069'504},
      {"mistral-small-24b", 23'572'403'200},
      {"qwen3-coder-480b-a35b", 480'154'875'392},
      {"gemma-3-270m", 268'098'176},
      {"olmo2-32b", 32'234'279'936},
      {"phi-3-medium", 13'960'238'080},
      {"deepseek-llm-7b", 6'910'365'696},
      {"llama-7b", 6'738'415'616},
      {"llama-13b", 13'015'864'320},
      {"llama-30b", 32'528'943'616},
      {"llama-65b", 65'285'660'672},
      {"llama2-13b", 13'015'864'320},
      {"codellama-7b", 6'738'546'688},
      {"codellama-13b", 13'016'028'160},
      {"codellama-34b", 33'743'970'304},
      {"llama3.1-8b", 8'030'261'248},
      {"llama3.1-70b", 70'553'706'496},
      {"llama3.1-405b", 405'853'388'800},
      {"llama3.2-1b", 1'235'814'400},
      {"llama3.2-3b", 3'212'749'824},
      {"llama3.3-70b", 70'553'706'496},
      {"tinyllama-1.1b", 1'100'048'384},
      {"mistral-7b", 7'241'732'096},
      {"yi-6b", 6'061'035'520},
      {"yi-34b", 34'388'917'248},
      {"qwen2.5-0.5b", 494'032'768},
      {"qwen2.5-1.5b", 1'543'714'304},
      {"qwen2.5-3b", 3'085'938'688},
      {"qwen2.5-7b", 7'615'616'512},
      {"qwen2.5-14b", 14'770'033'664},
      {"qwen2.5-32b", 32'763'876'352},
      {"qwen2.5-72b", 72'706'203'648},
      {"qwen3-0.6b", 596'049'920},
      {"qwen3-1.7b", 1'720'574'976},
      {"qwen3-4b", 4'022'468'096},
      {"qwen3-8b", 8'190'735'360},
      {"qwen3-14b", 14'768'307'200},
      {"qwen3-32b", 32'762'123'264},
      {"mixtral-8x7b", 46'702'792'704},
      {"mixtral-8x22b", 140'620'634'112},
      {"qwen3-30b-a3b", 30'532'122'624},
      {"qwen3-235b-a22b", 235'093'634'560},
      {"olmoe-1b-7b", 6'919'161'856},
      {"deepseek-moe-16b", 16'375'728'128},
      {"qwen1.5-moe-a2.7b", 14'315'784'192},
      {"qwen2-57b-a14b", 57'408'658'944},
      {"deepseek-v2-lite", 15'706'484'224},
      {"deepseek-v2", 235'741'434'880},
      {"deepseek-v3", 671'026'419'200},
      {"moonlight-16b-a3b", 15'960'110'208},
      {"kimi-k2", 1'026'408'232'448},
      {"glm-4.5-air", 110'468'824'832 - 3'616'573'568},
      {"glm-4.5", 358'337'791'296 - 5'539'962'272},
      {"gpt-oss-20b", 20'914'757'184},
      {"gpt-oss-120b", 116'829'156'672},
      {"gemma-2b", 2'506'172'416},
      {"gemma-7b", 8'537'680'896},
      {"gemma-2-2b", 2'614'341'888},
      {"gemma-2-9b", 9'241'705'984},
      {"gemma-2-27b", 27'227'128'320},
      {"gemma-3-1b", 999'885'952},
      {"gemma-3-4b", 4'300'079'472 - 416'866'032 - 2'950'272},
      {"gemma-3-12b", 12'187'325'040 - 416'866'032 - 4'424'832},
      {"gemma-3-27b", 27'432'406'640 - 416'866'032 - 6'194'304},
      {"olmo2-7b", 7'298'617'344},
      {"olmo2-13b", 13'716'198'400},
      {"smollm2-135m", 134'515'008},
      {"smollm2-360m", 361'821'120},
      {"smollm2-1.7b", 1'711'376'384},
      {"phi-2", 2'779'683'840},
      {"phi-3-mini", 3'821'079'552},
      {"phi-4", 14'659'507'200},
      {"stablelm-3b-4e1t", 2'795'443'200},
      {"stablelm-2-1.6b", 1'644'515'328},
      {"nemotron-4-15b", 15'628'775'424},
      {"nemotron-4-340b", 341'029'195'776},
      {"t5-small", 60'506'624},
      {"t5-base", 222'903'552},
      {"t5-large", 737'668'096},
      {"t5-3b", 2'851'598'336},
      {"t5-11b", 11'307'321'344},
      {"t5-v1.1-small", 76'961'152},
      {"t5-v1.1-base", 247'577'856},
      {"t5-v1.1-large", 783'150'080},
      {"t5-v1.1-xl", 2'849'757'184},
      {"t5-v1.1-xxl", 11'135'332'352},
      {"flan-t5-small", 76'961'152},
      {"flan-t5-base", 247'577'856},
      {"flan-t5-large", 783'150'080},
      {"flan-t5-xl", 2'849'757'184},
      {"flan-t5-xxl", 11'135'332'352},
      {"whisper-tiny", 37'760'640},
      {"whisper-base", 72'593'920},
      {"whisper-small", 241'734'912},
      {"whisper-medium", 763'857'920},
      {"whisper-large-v2", 1'543'304'960},
      {"whisper-large-v3", 1'543'490'560},
      {"whisper-large-v3-turbo", 808'878'080},
  };
  for (const auto& [name, parameters] : published) {
    EXPECT_EQ(build_zoo(name, 1).parameters(), parameters) << name;
  }
}

// The totals above less the experts that a token has not: blocks with experts, of each those left
// out, three products of hidden by width and, of gpt-oss, their biases. Publications round: 12.9,
// 39, 3.3, 22, 35, 3.6 and 5.1 (these two without the embedding), 37, 32 and 32 billion.
TEST(Families, TokensHaveTheirPublishedActiveParameters) {
  const auto left_out = [](std::int64_t blocks, std::int64_t experts, std::int64_t hidden,
                           std::int64_t width) { return blocks * experts * 3 * hidden * width; };
  const std::map<std::string, std::int64_t> active = {
      {"mixtral-8x7b", 46'702'792'704 - left_out(32, 6, 4096, 14336)},
      {"mixtral-8x22b", 140'620'634'112 - left_out(56, 6, 6144, 16384)},
      {"qwen3-30b-a3b", 30'532'122'624 - left_out(48, 120, 2048, 768)},
      {"qwen3-235b-a22b", 235'093'634'560 - left_out(94, 120, 4096, 1536)},
      {"qwen3-coder-480b-a35b", 480'154'875'392 - left_out(62, 152, 6144, 2560)},
      {"gpt-oss-20b", 20'914'757'184 - left_out(24, 28, 2880, 2881)},
      {"gpt-oss-120b", 116'829'156'672 - left_out(36, 124, 2880, 2881)},
      {"deepseek-v3", 671'026'419'200 - left_out(58, 248, 7168, 2048)},
      {"kimi-k2", 1'026'408'232'448 - left_out(60, 376, 7168, 2048)},
      {"glm-4.5", 352'797'829'024 - left_out(89, 152, 5120, 1536)},
  };
  for (const auto& [name, parameters] : active) {
    EXPECT_EQ(build_zoo(name, 1).active_parameters(), parameters) << name;
  }
}

/// A block of 8 hidden channels in 2 heads and 5 tokens, and more keys.
Graph small(const std::string& keys) {
  return build_zoo("llama:layers=1,hidden=8,heads=2,ffn=12,seq=5,vocab=7" + keys, 1);
}
template <class OpOf>
const OpOf& op_of(const Graph& graph, std::string_view layer) {
  return std::get<OpOf>(graph[graph.find(layer)].op);
}

// 7 8 of the embedding, as many of the head, 4 8 8 of the attention, 3 8 12 of the feed-forward
// layer, 3 8 of norms.
constexpr std::int64_t kSmall = 2 * 56 + 256 + 288 + 24;

TEST(Families, KeysChangeParameters) {
  const std::map<std::string, std::int64_t> changes = {
      {"tied=1", -56},  // the head's weight is the embedding's
      {"tied=true", -56},
      {"kv_heads=1", -64},  // keys and values of 4 channels
      {"head_dim=6", 128},  // four products of 8 by 12
      {"bias=qkv", 24},
      {"bias=attention", 32},
      {"bias=ffn", 32},  // 12, 12 and 8
      {"bias=all", 64},
      {"head_bias=1", 7},
      {"norm=layer", 24},  // shifts
      {"norms=after", 0},
      {"norms=both", 16},
      {"qk_norm=none", 0},
      {"qk_norm=head", 8},  // a scale of 4 for queries and one for keys
      {"qk_norm=1", 8},
      {"qk_norm=full", 16},
      {"act=geglu", 0},
      {"act=gelu", -96},  // no gate
      {"act=relu2", -96},
      {"parallel=shared", -8},  // one norm less
      {"parallel=separate", 0},
      {"scale_embedding=1", 0},
      {"sinks=1", 2},  // a number for each head
      {"act=clamped_swiglu", 0},
      {"window=3,softcap=50,logit_softcap=30,score_scale=0.1,rope_share=0.5", 0},
  };
  EXPECT_EQ(small("").parameters(), kSmall);
  for (const auto& [keys, more] : changes) {
    EXPECT_EQ(small("," + keys).parameters(), kSmall + more) << keys;
  }
}

TEST(Families, KeysReachTheirOps) {
  const Graph graph = small(
      ",window=3,softcap=50,logit_softcap=30,score_scale=0.1,rope_share=0.5,rope_base=500,"
      "window_rope_base=100,scale_embedding=1,act=relu2,qk_norm=head");
  EXPECT_EQ(op_of<Attention>(graph, "block1_attention"), (Attention{.head_size = 4,
                                                                    .causal = true,
                                                                    .window = 3,
                                                                    .rotary = 100,
                                                                    .rotary_size = 2,
                                                                    .scale = 0.1,
                                                                    .softcap = 50}));
  EXPECT_EQ(op_of<Activation>(graph, "head_softcap"), (Activation{ActivationKind::softcap, 30}));
  EXPECT_EQ(op_of<Activation>(graph, "block1_ffn_act").kind, ActivationKind::squared_relu);
  EXPECT_DOUBLE_EQ(op_of<Embedding>(graph, "embedding").scale, std::sqrt(8.0));
  EXPECT_EQ(op_of<RmsNorm>(graph, "block1_key_norm").head_size, 4);
  EXPECT_EQ(parse_model(print_model(graph), "small.toml", 1), graph);
}

/// The windows of six blocks: "3 3 0 3 3 0".
std::string windows(const std::string& keys) {
  const Graph graph = build_zoo("gpt:layers=6,hidden=8,heads=2,seq=5,vocab=7,window=3" + keys, 1);
  std::string text;
  for (const Layer& layer : graph.layers()) {
    const auto* attention = std::get_if<Attention>(&layer.op);
    if (attention == nullptr) continue;
    text += (text.empty() ? "" : " ") + std::to_string(attention->window);
  }
  return text;
}

TEST(Families, SomeBlocksHaveTheWindow) {
  EXPECT_EQ(windows(""), "3 3 3 3 3 3");
  EXPECT_EQ(windows(",global_every=3"), "3 3 0 3 3 0");
  EXPECT_EQ(windows(",window_layers=2"), "0 0 0 0 3 3");
}

std::string layers_of(const std::string& keys) {
  std::string text;
  const Graph graph = small(keys);
  for (const Layer& layer : graph.layers()) {
    if (!layer.name.starts_with("block1_")) continue;
    text += layer.name.substr(7) + " <";
    for (LayerId input : layer.inputs)
      text += " " + graph[input].name.substr(graph[input].name.find('_') + 1);
    text += "\n";
  }
  return text;
}

TEST(Families, PartsStandSideBySide) {
  EXPECT_EQ(layers_of(",parallel=shared,act=gelu"), R"(norm < embedding
query < norm
key < norm
value < norm
attention < query key value
attention_out < attention
ffn_in < norm
ffn_act < ffn_in
ffn_out < ffn_act
add < embedding attention_out ffn_out
)");
}

TEST(Families, NormsStandBehind) {
  EXPECT_EQ(layers_of(",norms=both,qk_norm=head,act=gelu"), R"(attention_norm < embedding
query < attention_norm
key < attention_norm
value < attention_norm
query_norm < query
key_norm < key
attention < query_norm key_norm value
attention_out < attention
attention_post_norm < attention_out
attention_add < embedding attention_post_norm
ffn_norm < attention_add
ffn_in < ffn_norm
ffn_act < ffn_in
ffn_out < ffn_act
ffn_post_norm < ffn_out
ffn_add < attention_add ffn_post_norm
)");
}

constexpr const char* kLatentKeys =
    ",q_lora_rank=6,kv_lora_rank=5,qk_nope_dim=3,qk_rope_dim=2,v_head_dim=4";

TEST(Families, LatentsStandBeforeKeysAndValues) {
  EXPECT_EQ(layers_of(std::string(kLatentKeys) + ",act=gelu"), R"(attention_norm < embedding
query_down < attention_norm
query_down_norm < query_down
query < query_down_norm
kv_down < attention_norm
kv_down_norm < kv_down
key_shared < attention_norm
key < kv_down_norm
value < kv_down_norm
attention < query key value key_shared
attention_out < attention
attention_add < embedding attention_out
ffn_norm < attention_add
ffn_in < ffn_norm
ffn_act < ffn_in
ffn_out < ffn_act
ffn_add < attention_add ffn_out
)");
  const Graph graph = small(kLatentKeys);
  EXPECT_EQ(
      op_of<Attention>(graph, "block1_attention"),
      (Attention{
          .head_size = 5, .causal = true, .rotary = 10000, .value_size = 4, .shared_size = 2}));
  // 8 hidden channels to 6 and 5 + 2, norms of 6 and 5, 6 to 2 5, 5 to 2 (3 + 4), 2 4 to 8.
  EXPECT_EQ(graph.parameters(), kSmall - 256 + 48 + 56 + 11 + 60 + 70 + 64);
  // Queries of the block's input: 8 to 2 5.
  EXPECT_EQ(
      small(",attention=mla,kv_lora_rank=5,qk_nope_dim=3,qk_rope_dim=2,v_head_dim=4").parameters(),
      kSmall - 256 + 80 + 56 + 5 + 70 + 64);
}

TEST(Families, ExpertsAndRoutersMayHaveBiases) {
  const Graph graph = small(
      ",sinks=1,act=clamped_swiglu,experts=4,topk=2,moe_ffn=6,expert_bias=1,router_bias=1,"
      "bias=attention");
  EXPECT_TRUE(op_of<Attention>(graph, "block1_attention").sinks);
  EXPECT_EQ(op_of<GatedActivation>(graph, "block1_ffn_expert_act").kind, GateKind::clamped);
  EXPECT_TRUE(op_of<Router>(graph, "block1_ffn_router").bias);
  EXPECT_TRUE(op_of<ExpertLinear>(graph, "block1_ffn_expert_up").bias);
  // Of an attention's heads and products, of a router, of four experts.
  const std::int64_t biases = 2 + 4 * 8 + 4 + 4 * (6 + 6 + 8);
  EXPECT_EQ(graph.parameters(), kSmall - 288 + 4 * 8 + 4 * 3 * 8 * 6 + biases);
  // Of four experts a token has two.
  EXPECT_EQ(graph.active_parameters(), graph.parameters() - 2 * (3 * 8 * 6 + 6 + 6 + 8));
}

TEST(Families, RoutingReachesItsOps) {
  const Graph graph = small(
      ",experts=8,topk=3,moe_ffn=4,shared_ffn=6,shared_gate=1,scoring=sigmoid,groups=4,"
      "topk_groups=2,routed_scale=2.5,correction_bias=1");
  EXPECT_EQ(op_of<Router>(graph, "block1_ffn_router"), (Router{.experts = 8,
                                                               .top_k = 3,
                                                               .sigmoid = true,
                                                               .correction = true,
                                                               .groups = 4,
                                                               .top_groups = 2,
                                                               .scale = 2.5}));
  // Scores of 8 experts and their corrections, experts, the layer beside, and its gate.
  EXPECT_EQ(graph.parameters(), kSmall - 288 + 64 + 8 + 8 * 96 + 144 + 8);
  EXPECT_THAT(graph[graph.find("block1_ffn_shared_gated")].inputs,
              testing::ElementsAre(graph.find("block1_ffn_shared_out"),
                                   graph.find("block1_ffn_shared_sigmoid")));
}

TEST(Families, DecodersAttendToEncoders) {
  const Graph graph = build_zoo(
      "t5:layers=2,hidden=8,heads=2,ffn=12,seq=5,target_seq=3,vocab=7,decoder_layers=1", 1);
  const auto inputs = [&](std::string_view layer) {
    std::string names;
    for (LayerId input : graph[graph.find(layer)].inputs) names += " " + graph[input].name;
    return names;
  };
  EXPECT_EQ(inputs("decoder_block1_cross_query"), " decoder_block1_cross_attention_norm");
  EXPECT_EQ(inputs("decoder_block1_cross_key"), " encoder_norm");
  EXPECT_EQ(inputs("decoder_block1_cross_value"), " encoder_norm");
  const Layer& crossing = graph[graph.find("decoder_block1_cross_attention")];
  EXPECT_EQ(crossing.op, Op(Attention{.head_size = 4, .scale = 1}));
  EXPECT_EQ(crossing.output, (Extents{{1, 8, 1, 1, 3}}));
  EXPECT_EQ(graph[crossing.inputs[1]].output, (Extents{{1, 8, 1, 1, 5}}));
  const auto& first = op_of<Attention>(graph, "encoder_block1_attention");
  EXPECT_EQ(first, (Attention{.head_size = 4, .scale = 1, .buckets = 32}));
  EXPECT_EQ(op_of<Attention>(graph, "encoder_block2_attention").bias_of,
            "encoder_block1_attention");
  EXPECT_TRUE(op_of<Attention>(graph, "decoder_block1_attention").causal);
  // One embedding, two tables of 32 buckets, an attention in each block and one more of a
  // decoder's, feed-forward layers without gates, and a norm before each part and behind each
  // stack.
  EXPECT_EQ(graph.parameters(), 56 + 2 * 64 + 4 * 256 + 3 * 192 + 9 * 8);
  // The weights' products by token, memory's keys and values among them, and of heads of 4 channels
  // the pairs of queries and keys that see each other, twice.
  const std::int64_t of_encoder = 5 * 2 * (256 + 192) + 2 * 2 * 8 * 25;
  const std::int64_t of_decoder = 3 * (256 + 192 + 128 + 56) + 5 * 128 + 2 * 8 * (6 + 15);
  EXPECT_EQ(macs_of(graph), of_encoder + of_decoder);
  EXPECT_EQ(parse_model(print_model(graph), "t5.toml", 1), graph);
}

// Of each token the weights of products, and of a causal attention twice a head's channels for each
// key that it sees on average: half of all tokens and one more, or of a window as below.
TEST(Families, MacsFollowFromSizes) {
  const std::int64_t qwen =
      4096 * (std::int64_t{36} * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 12288) +
              std::int64_t{151936} * 4096 + 36 * 32 * 128 * 4097);
  EXPECT_EQ(macs_of(build_zoo("qwen3-8b", 1)), qwen);
  const std::int64_t falcon =
      2048 * (std::int64_t{32} * (2 * 4544 * 4544 + 2 * 4544 * 64 + 8 * 4544 * 4544) +
              std::int64_t{65024} * 4544 + 32 * 4544 * 2049);
  EXPECT_EQ(macs_of(build_zoo("falcon-7b", 1)), falcon);
  // Half the blocks see 4,096 of 8,192 tokens: (4096 4097 / 2 + 4096 4096) / 8192 on average.
  const std::int64_t gemma =
      8192 * (std::int64_t{26} * (2304 * 2 * (2048 + 1024) + std::int64_t{3} * 2304 * 9216) +
              std::int64_t{256000} * 2304 + 13 * 2048 * (8193 + 6144));
  EXPECT_EQ(macs_of(build_zoo("gemma-2-2b", 1)), gemma);
}

std::string message_of(const std::string& model) {
  try {
    build_zoo(model, 1);
  } catch (const InputError& wrong) {
    return wrong.message();
  }
  return "";
}
std::string error_of_keys(const std::string& keys) {
  const std::string model = "llama2-7b:" + keys, text = message_of(model);
  EXPECT_TRUE(text.starts_with("model '" + model + "': ")) << text;
  return text.substr(std::min(text.size(), model.size() + 10));
}

TEST(Families, KeysThatMakeNoNetwork) {
  EXPECT_EQ(error_of_keys("tied=2"), "tied must be 1 or 0, not '2'");
  EXPECT_EQ(error_of_keys("act=tanh"),
            "act must be one of gelu, relu, relu2, swiglu, geglu, clamped_swiglu, not 'tanh'");
  EXPECT_EQ(error_of_keys("qk_norm=2"), "qk_norm must be one of none, head, full, not '2'");
  EXPECT_EQ(error_of_keys("softcap=0"), "softcap must be a number from 1e-06 to 1e+12, not '0'");
  EXPECT_EQ(error_of_keys("softcap=nan"),
            "softcap must be a number from 1e-06 to 1e+12, not 'nan'");
  EXPECT_EQ(error_of_keys("rope_share=0.01"),
            "rope_share 0.01 turns 1 of a head's 128 channels, which are no pairs");
  EXPECT_EQ(error_of_keys("window_layers=2"), "window_layers and global_every need window");
  EXPECT_EQ(error_of_keys("window_rope_base=2"), "window_rope_base needs window");
  EXPECT_EQ(error_of_keys("window=8,window_layers=33"), "window_layers 33 is more than layers 32");
  EXPECT_EQ(error_of_keys("window=8,window_layers=3,global_every=2"),
            "window_layers and global_every exclude each other");
  EXPECT_EQ(error_of_keys("parallel=shared,norms=after"), "parallel parts need norms=before");
  EXPECT_EQ(error_of_keys("tied=1,head_bias=1"), "head_bias needs tied=0");
  EXPECT_EQ(error_of_keys("attention=mla"),
            "attention=mla, q_lora_rank, qk_nope_dim, qk_rope_dim and v_head_dim need "
            "kv_lora_rank");
  EXPECT_EQ(error_of_keys("kv_lora_rank=8,v_head_dim=8"),
            "kv_lora_rank needs qk_nope_dim, qk_rope_dim and v_head_dim");
  EXPECT_EQ(error_of_keys("kv_lora_rank=8,v_head_dim=8,qk_nope_dim=8,qk_rope_dim=3"),
            "qk_rope_dim 3 is not even: rotary positions turn pairs");
  EXPECT_EQ(error_of_keys("kv_lora_rank=8,v_head_dim=8,qk_nope_dim=8,qk_rope_dim=2,kv_heads=2"),
            "head_dim, kv_heads, qk_norm and rope_share do not go with kv_lora_rank");
  EXPECT_EQ(error_of_keys("kv_lora_rank=8,attention=gqa"), "kv_lora_rank needs attention=mla");
  EXPECT_EQ(error_of_keys("experts=8,groups=3"), "groups 3 do not divide experts 8");
  EXPECT_EQ(error_of_keys("experts=8,groups=4,topk_groups=5"),
            "topk_groups 5 is more than groups 4");
  EXPECT_EQ(error_of_keys("experts=8,groups=4,topk_groups=1,topk=3"),
            "topk 3 is more than the 2 experts of 1 groups");
  EXPECT_EQ(error_of_keys("experts=8,groups=8,correction_bias=1"),
            "correction_bias needs groups of two experts or more");
  EXPECT_EQ(error_of_keys("experts=8,shared_gate=1"), "shared_gate needs shared_ffn");
  EXPECT_EQ(message_of("gpt2:tied=0,tied=1"), "model 'gpt2:tied=0,tied=1': tied is given twice");
}

TEST(Families, UnknownNamesAreNearToKnownOnes) {
  EXPECT_THAT(message_of("qwen2-7b"),
              testing::StartsWith("unknown model 'qwen2-7b'; near it: qwen2.5-7b, "));
  EXPECT_THAT(message_of("lama3-8b:seq=8"),
              testing::StartsWith("unknown model 'lama3-8b:seq=8'; near it: llama3-8b"));
  EXPECT_THAT(message_of("zzzzzzzz"),
              testing::StartsWith("unknown model 'zzzzzzzz'; allowed: lenet5"));
}

}  // namespace
}  // namespace strata
