#include "sim/profile/measured_cost.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/strategy.h"

namespace strata {
namespace {

constexpr std::string_view kHeader =
    "signature\tdtype\tphase\toutput\tinputs\tseconds\tspread_seconds\tcount\tsource\n";

std::string costs_error(const std::string& rows) {
  try {
    parse_measured_costs(std::string(kHeader) + rows, "x.costs.tsv");
  } catch (const InputError& error) {
    return error.message();
  }
  return "no error";
}

MeasuredCost relu(double seconds, std::int64_t width) {
  return {{"relu", DType::fp32, Phase::forward, {{1, 2, 1, 3, width}}, {{{1, 2, 1, 3, width}}}},
          {seconds},
          {1e-7},
          50,
          "box, 2026-11-21"};
}

TEST(MeasuredCosts, RowsReadBackEqualToTheBit) {
  MeasuredCost concat = relu(1.0 / 3e5, 8);
  concat.key = {"concat",
                DType::bf16,
                Phase::backward_data,
                {{1, 9, 1, 1, 1}},
                {{{1, 9, 1, 1, 1}}, {{0, 0, 0, 0, 0}}}};  // a shard that reads one input alone
  const std::vector<MeasuredCost> rows = {concat, relu(1e-6, 4), relu(2e-6, 5)};
  EXPECT_EQ(parse_measured_costs(print_measured_costs(rows), "x"), rows);
}

TEST(MeasuredCosts, AnUpdateIsNamedAfterItsOptimizer) {
  std::vector<MeasuredCost> rows(kOptimizers.size(), relu(1e-6, 4));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].key.phase = Phase::update;
    rows[i].key.optimizer = static_cast<Optimizer>(i);
  }
  const std::string text = print_measured_costs(rows);
  for (const char* phase :
       {"\tupdate\t", "\tupdate_momentum\t", "\tupdate_adam\t", "\tupdate_lion\t"}) {
    EXPECT_NE(text.find(phase), std::string::npos) << phase;
  }
  EXPECT_EQ(parse_measured_costs(text, "x"), rows);
}

TEST(MeasuredCosts, AreSortedAndSkipCommentsAndBlankLines) {
  const std::string text = std::string(kHeader) +
                           "# two rows\n\n"
                           "relu\tfp32\tforward\t1,2,1,3,5\t1,2,1,3,5\t2e-06\t1e-7\t50\tbox, "
                           "2026-11-21\r\n"
                           "relu\tfp32\tforward\t1,2,1,3,4\t1,2,1,3,4\t1e-06\t1e-7\t50\tbox, "
                           "2026-11-21\n";
  EXPECT_EQ(parse_measured_costs(text, "x"),
            (std::vector<MeasuredCost>{relu(1e-6, 4), relu(2e-6, 5)}));
}

TEST(MeasuredCosts, EveryBadRowIsNamedWithWhatIsAllowed) {
  EXPECT_EQ(costs_error("relu\tfp32\n"),
            "x.costs.tsv:2: a row has 9 columns separated by tabs; this one has 2");
  EXPECT_EQ(costs_error("relu\tfp6\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t1\ts\n"
                        "relu\tfp32\tsideways\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t1\ts\n"),
            "x.costs.tsv:2: 'fp6' is no dtype; allowed: fp32, tf32, bf16, fp16, fp8, fp8-block, "
            "mxfp8, nvfp4\n"
            "x.costs.tsv:3: 'sideways' is no phase; allowed: forward_statistics, forward, "
            "backward_statistics, backward_data, backward_weights, update, update_momentum, "
            "update_adam, update_adamw, update_lion");
  EXPECT_EQ(costs_error("relu\tfp32\tforward\t1,1,0,1,1\t1,1,1,1,1\t1\t0\t1\ts\n"),
            "x.costs.tsv:2: '1,1,0,1,1' is no output; allowed: five extents n,c,d,h,w of at "
            "least 1");
  EXPECT_EQ(costs_error("relu\tfp32\tforward\t1,1,1,1,1\t1,1\t1\t0\t1\ts\n"),
            "x.costs.tsv:2: '1,1' is no input; allowed: five extents n,c,d,h,w of at least 0");
  EXPECT_EQ(costs_error("relu\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t0\t0\t1\ts\n"),
            "x.costs.tsv:2: '0' is no value of seconds; allowed: a positive number of seconds, "
            "at most 1e6");
  EXPECT_EQ(costs_error("relu\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\tnan\t1\ts\n"),
            "x.costs.tsv:2: 'nan' is no value of spread_seconds; allowed: a non-negative number "
            "of seconds, at most 1e6");
  EXPECT_EQ(costs_error("relu\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t-3\ts\n"),
            "x.costs.tsv:2: '-3' is no count; allowed: an integer of at least 1");
  EXPECT_EQ(costs_error("\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t1\ts\n"),
            "x.costs.tsv:2: the signature is empty; allowed: an op's signature");
  const std::string junk = costs_error("rulu\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t1\ts\n");
  EXPECT_EQ(junk.substr(0, junk.find("; allowed: ") + 22),
            "x.costs.tsv:2: the signature 'rulu' begins with no op's name; allowed: input, conv");
}

TEST(MeasuredCosts, ControlCharactersAreNotWritten) {
  EXPECT_EQ(costs_error("relu\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t1\ts\r\r\n"),
            "x.costs.tsv:2: the source has a control character");
  MeasuredCost row = relu(1e-6, 4);
  row.source = "a\tb\nc";
  EXPECT_EQ(parse_measured_costs(print_measured_costs({row}), "x")[0].source, "a b c");
}

TEST(MeasuredCosts, ACostIsGivenOnce) {
  const std::string row = "relu\tfp32\tforward\t1,1,1,1,1\t1,1,1,1,1\t1\t0\t1\ts\n";
  EXPECT_EQ(costs_error(row + "# again\n" + row),
            "x.costs.tsv:4: the same cost stands in line 2 already; each is given once");
}

TEST(MeasuredCosts, ATableStartsWithItsColumns) {
  EXPECT_THROW(parse_measured_costs("", "x"), InputError);
  EXPECT_THROW(parse_measured_costs("relu\tfp32\n", "x"), InputError);
  EXPECT_TRUE(parse_measured_costs(kHeader, "x").empty());
}

// What extents do not show of an embedding: how much of the vocabulary the shard holds.
TEST(CostKey, OfAnEmbeddingHasItsPartOfTheVocabulary) {
  const Graph graph = build_zoo("bert:layers=1,hidden=8,heads=2,seq=4,vocab=30", 2);
  const auto key = [&](const char* layer, std::int32_t terms) {
    const LayerId id = graph.find(layer);
    Degrees degrees = kWhole;
    degrees.r = terms;
    return cost_key(graph, id, partition(graph[id], degrees).tile(0), DType::fp32, Phase::update)
        .signature;
  };
  EXPECT_EQ(key("embedding", 1), "embedding vocabulary=30");
  EXPECT_EQ(key("embedding", 2), "embedding vocabulary=15");
  EXPECT_EQ(key("type_embedding", 1), "embedding vocabulary=2");
}

TEST(Signature, NamesWhatDecidesACostBesideTheExtents) {
  Convolution conv;
  conv.out_channels = 64;
  conv.windows.h = conv.windows.w = {3, 2, 1, 1, 1};
  EXPECT_EQ(signature(conv), "conv2d kernel=1x3x3 stride=1x2x2 dilation=1x1x1 groups=1 bias=1");
  Pooling pool;
  pool.windows.w = {2, 2, 0, 0, 1};
  EXPECT_EQ(signature(pool), "max_pool2d kernel=1x1x2 stride=1x1x2");
  EXPECT_EQ(signature(FullyConnected{10, false}), "fc bias=0");
  EXPECT_EQ(signature(LocalResponseNorm{}), "lrn size=5");
  EXPECT_EQ(signature(Activation{}), "relu");
}

TEST(Signature, LeavesOutPaddingAndOutChannels) {  // they follow from the extents
  Convolution inner, border;
  inner.out_channels = 8, border.out_channels = 16;
  border.windows.h.pad_begin = 1;
  EXPECT_EQ(signature(inner), signature(border));
}

}  // namespace
}  // namespace strata
