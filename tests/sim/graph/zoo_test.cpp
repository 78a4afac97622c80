// The zoo against torchvision's own layer tables (tests/golden/zoo), line by line.

#include "sim/graph/zoo.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/blocks.h"
#include "tests/paths.h"

namespace strata {
namespace {

/// The spatial dims that a line shows: those of the op's rank, as "2d" in its name says.
std::vector<Dim> shown(const Windows&, int rank) {
  if (rank == 3) return {Dim::d, Dim::h, Dim::w};
  return {Dim::h, Dim::w};
}

std::string joined(const std::vector<std::int64_t>& values, const char* separator) {
  std::string text;
  for (std::int64_t value : values) {
    text += (text.empty() ? "" : separator) + std::to_string(value);
  }
  return text;
}

std::string show_windows(const Windows& windows, int rank) {
  std::vector<std::int64_t> kernel, stride, padding;
  for (Dim dim : shown(windows, rank)) {
    const Window& window = windows[dim];
    EXPECT_EQ(window.pad_begin, window.pad_end);
    EXPECT_EQ(window.dilation, 1);
    kernel.push_back(window.kernel);
    stride.push_back(window.stride);
    padding.push_back(window.pad_begin);
  }
  return "k" + joined(kernel, "x") + ",s" + joined(stride, "x") + ",p" + joined(padding, "x");
}

std::string show_windows(const Op& op) {
  if (const auto* conv = std::get_if<Convolution>(&op)) {
    return show_windows(conv->windows, conv->rank) + ",g" + std::to_string(conv->groups);
  }
  if (const auto* pool = std::get_if<Pooling>(&op)) return show_windows(pool->windows, pool->rank);
  return "-";
}

/// (c), (c, h, w) or, in a network of videos, (c, d, h, w).
std::string show_output(const Extents& e, bool flat, bool video) {
  if (flat) return std::to_string(e[Dim::c]);
  std::vector<std::int64_t> shape = {e[Dim::c], e[Dim::h], e[Dim::w]};
  if (video) shape.insert(shape.begin() + 1, e[Dim::d]);
  return joined(shape, "x");
}

std::string show_line(const Graph& graph, LayerId id, bool flat, bool video) {
  const Layer& layer = graph[id];
  std::vector<std::int64_t> inputs;
  for (LayerId input : layer.inputs) inputs.push_back(input.value);
  const std::int64_t parameters = layer.parameters.total();
  std::ostringstream line;
  line << name(layer.op) << ' ' << show_output(layer.output, flat, video) << ' ' << parameters
       << ' ' << macs(graph, id) << ' ' << (inputs.empty() ? "-" : joined(inputs, ",")) << ' '
       << show_windows(layer.op) << ' ' << (parameters > 0 ? layer.name : "-");
  return line.str();
}

/// The graph as its golden file writes it, without the loss, which torchvision's models lack.
std::string show(const Graph& graph) {
  const bool video = graph.layers()[0].output[Dim::d] > 1;
  std::map<std::string, int> counts;
  std::ostringstream lines;
  std::int64_t work = 0;
  bool flat = false;
  for (std::size_t i = 0; i + 1 < graph.size(); ++i) {
    const Op& op = graph.layers()[i].op;
    ++counts[std::string(name(op))];
    flat = flat || std::holds_alternative<Flatten>(op);
    lines << show_line(graph, LayerId(i), flat, video) << '\n';
    work += macs(graph, LayerId(i));
  }
  std::ostringstream all;
  all << "total " << graph.parameters() << ' ' << work << "\ncounts";
  for (const auto& [op, count] : counts) all << ' ' << op << '=' << count;
  all << '\n' << lines.str();
  return all.str();
}

std::string read_golden(const std::string& network) {
  std::ifstream file(source_path("tests/golden/zoo/") + network + ".txt");
  EXPECT_TRUE(file) << network;
  std::string text;
  for (std::string line; std::getline(file, line);) {
    if (line[0] != '#') text += line + '\n';
  }
  return text;
}

class ZooGolden : public testing::TestWithParam<std::string> {};

TEST_P(ZooGolden, EqualsTorchvisionLayerByLayer) {
  EXPECT_EQ(show(build_zoo(GetParam(), 1)), read_golden(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Torchvision, ZooGolden,
                         testing::Values("alexnet", "vgg16", "inception_v3", "resnet50",
                                         "googlenet", "densenet121", "mobilenet_v2", "r3d_18"),
                         [](const auto& test) { return test.param; });

// The published counts, to the unit.
TEST(Zoo, TransformersHaveTheirPublishedParameters) {
  const std::map<std::string, std::int64_t> published = {
      {"gpt2", 124'439'808},           {"gpt2-medium", 354'823'168}, {"gpt2-large", 774'030'080},
      {"gpt2-xl", 1'557'611'200},      {"bert-base", 109'482'240},   {"bert-large", 335'141'888},
      {"vit_b_16", 86'567'656},        {"vit_l_16", 304'326'632},    {"llama2-7b", 6'738'415'616},
      {"llama2-70b", 68'976'648'192},  {"llama3-8b", 8'030'261'248}, {"llama3-70b", 70'553'706'496},
      {"llama3-405b", 405'853'388'800}};
  for (const auto& [name, parameters] : published) {
    EXPECT_EQ(build_zoo(name, 1).parameters(), parameters) << name;
  }
}

// As "block1_attention_norm: 12 x 12", of transformers and of what is deep and uniform.
TEST(Zoo, BlocksThatRepeatAreKnown) {
  const auto blocks = [](std::string_view model) {
    const Graph graph = build_zoo(model, 1);
    std::string text;
    for (const Repeat& block : repeated_blocks(graph)) {
      text += graph[LayerId(block.first)].name + ": " + std::to_string(block.length) + " x " +
              std::to_string(block.times) + "\n";
    }
    return text;
  };
  EXPECT_EQ(blocks("gpt2"), "block1_attention_norm: 12 x 12\n");
  EXPECT_EQ(blocks("llama3-8b"), "block1_attention_norm: 13 x 32\n");
  EXPECT_EQ(blocks("vit_b_16"), "block1_attention_norm: 12 x 12\n");
  EXPECT_EQ(blocks("bert-base"), "embedding_norm: 12 x 12\n");
  EXPECT_EQ(blocks("resnet50"), "layer2_0_relu3: 10 x 3\nlayer3_0_relu3: 10 x 5\n");
  EXPECT_EQ(blocks("vgg16"), "");
}

TEST(Zoo, SizesOfAFamily) {
  EXPECT_EQ(build_zoo("gpt2:seq=256", 1).layers()[1].output, (Extents{{1, 768, 1, 1, 256}}));
  EXPECT_EQ(build_zoo("gpt:layers=12,hidden=768,heads=12,seq=1024,vocab=50257", 1).parameters(),
            124'439'808);
  EXPECT_EQ(build_zoo("vit:layers=12,hidden=768,heads=12,image=224,patch=16,classes=1000", 1)
                .parameters(),
            86'567'656);
}

TEST(Zoo, SizesThatMakeNoNetwork) {
  const auto error = [](const std::string& model) -> std::string {
    try {
      build_zoo(model, 1);
    } catch (const InputError& wrong) {
      return wrong.message();
    }
    return "";
  };
  EXPECT_EQ(
      error("gpt2:sq=256"),
      "model 'gpt2:sq=256': 'sq=256' is no key of gpt; allowed: layers, hidden, heads, seq, "
      "vocab, ffn, positions, kv_heads, head_dim, act, bias, norm, epsilon, norms, parallel, "
      "qk_norm, window, window_layers, global_every, score_scale, softcap, sinks, logit_softcap, "
      "scale_embedding, tied, head_bias, experts, topk, moe_ffn, shared_ffn, moe_layers, "
      "norm_topk, scoring, groups, topk_groups, routed_scale, correction_bias, shared_gate, "
      "expert_bias, router_bias, "
      "capacity, token_groups, dropout, each as KEY=VALUE");
  EXPECT_EQ(
      error("gpt2:seq"),
      "model 'gpt2:seq': 'seq' is no key of gpt; allowed: layers, hidden, heads, seq, "
      "vocab, ffn, positions, kv_heads, head_dim, act, bias, norm, epsilon, norms, parallel, "
      "qk_norm, window, window_layers, global_every, score_scale, softcap, sinks, logit_softcap, "
      "scale_embedding, tied, head_bias, experts, topk, moe_ffn, shared_ffn, moe_layers, "
      "norm_topk, scoring, groups, topk_groups, routed_scale, correction_bias, shared_gate, "
      "expert_bias, router_bias, "
      "capacity, token_groups, dropout, each as KEY=VALUE");
  EXPECT_EQ(error("gpt2:seq=0"),
            "model 'gpt2:seq=0': seq must be an integer from 1 to 2147483648, not '0'");
  EXPECT_EQ(error("gpt2:seq=2048"), "layer positions: 1024 positions are too few for 2048 tokens");
  EXPECT_EQ(error("gpt:layers=2,hidden=8,heads=2,seq=4"),
            "model 'gpt:layers=2,hidden=8,heads=2,seq=4': vocab is missing");
  EXPECT_EQ(error("gpt2:heads=5"), "model 'gpt2:heads=5': hidden 768 is no multiple of heads 5");
  EXPECT_EQ(error("llama3-8b:kv_heads=5"),
            "model 'llama3-8b:kv_heads=5': heads 32 is no multiple of kv_heads 5");
  EXPECT_THAT(error("gpt"),
              testing::HasSubstr("unknown model 'gpt'; near it: gpt2; allowed: lenet5, "));
}

std::int64_t total_macs(const Graph& graph) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) total += macs(graph, LayerId(i));
  return total;
}

TEST(Zoo, LeNet5HasTheTextbookCounts) {
  // 6 (25+1) + 16 (150+1) + 120 (400+1) + 84 (120+1) + 10 (84+1) = 61,706;
  // 28*28*6*25 + 10*10*16*150 + 400*120 + 120*84 + 84*10 = 416,520.
  const Graph lenet = build_zoo("lenet5", 1);
  EXPECT_EQ(lenet.parameters(), 61'706);
  EXPECT_EQ(total_macs(lenet), 416'520);
}

TEST(Zoo, TheOtherResNetsHaveTorchvisionsTotals) {
  // Parameters: torchvision's published model table. MACs of ResNet-18 likewise; those of the
  // deeper two are ResNet-50's (its golden) plus those of the bottlenecks that they add.
  EXPECT_EQ(build_zoo("resnet18", 1).parameters(), 11'689'512);
  EXPECT_EQ(total_macs(build_zoo("resnet18", 1)), 1'814'073'344);
  EXPECT_EQ(build_zoo("resnet101", 1).parameters(), 44'549'160);
  EXPECT_EQ(build_zoo("resnet152", 1).parameters(), 60'192'808);
  const std::int64_t block14 = std::int64_t{14} * 14 * (1024 * 256 + 9 * 256 * 256 + 256 * 1024);
  const std::int64_t block28 = std::int64_t{28} * 28 * (512 * 128 + 9 * 128 * 128 + 128 * 512);
  const std::int64_t resnet50 = total_macs(build_zoo("resnet50", 1));
  EXPECT_EQ(total_macs(build_zoo("resnet101", 1)), resnet50 + 17 * block14);
  EXPECT_EQ(total_macs(build_zoo("resnet152", 1)), resnet50 + 30 * block14 + 4 * block28);
}

TEST(Zoo, TextCnnReadsThreeFourAndFiveWords) {
  // (3 + 4 + 5) 300 * 100 + 3 * 100 + 2 (300 + 1) = 360,902;
  // 100 * 300 (62*3 + 61*4 + 60*5) + 600 = 21,900,600.
  const Graph textcnn = build_zoo("textcnn", 1);
  EXPECT_EQ(textcnn.parameters(), 360'902);
  EXPECT_EQ(total_macs(textcnn), 21'900'600);
}

TEST(Zoo, EveryNetworkEndsInItsLossAndScalesWithTheBatch) {
  for (const ZooEntry& entry : zoo()) {
    const Graph one = build_zoo(entry.name, 1), many = build_zoo(entry.name, 48);
    EXPECT_EQ(one.name(), entry.name);
    EXPECT_EQ(name(one.layers().back().op), "softmax_cross_entropy") << entry.name;
    EXPECT_EQ(one.layers().back().name, "loss");
    EXPECT_EQ(many.parameters(), one.parameters());
    EXPECT_EQ(total_macs(many), 48 * total_macs(one));
    EXPECT_EQ(one.with_batch(48), many);
  }
}

TEST(Zoo, AnUnknownNameIsAnErrorThatListsWhatThereIs) {
  EXPECT_TRUE(in_zoo("vgg16"));
  EXPECT_FALSE(in_zoo("vgg17"));
  try {
    build_zoo("vgg17", 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(
        error.message(),
        testing::StartsWith("unknown model 'vgg17'; near it: vgg16; allowed: lenet5, alexnet"));
  }
}

}  // namespace
}  // namespace strata
