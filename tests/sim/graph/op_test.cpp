// What the page of each op answers without a layer: a page that leaves a question out answers as
// the default does, so all of it stands here.

#include "sim/graph/op.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/graph/ops/access.h"

namespace strata {
namespace {

std::string facts(const Op& op) {
  const OpTraits& is = traits(op);
  std::string text = fmt::format("{}:", signature(op));
  const auto tell = [&text](bool told, std::string_view what) {
    if (told) text += fmt::format(" {}", what);
  };
  tell(is_elementwise(op), "elementwise");
  tell(follows_producer(op), "follows");
  tell(is_loss(op), "loss");
  tell(is.reads_all_alike, "alike");
  tell(is.scales_channels, "scales");
  tell(backward_reads_input(op), "x");
  tell(backward_reads_output(op), "y");
  tell(is.shares_reading, "shares");
  tell(is.terms_lead, "rows are terms");
  const Box box = whole({{1, 2, 1, 1, 1}});
  const Saved kept = saved(op, {box, {}, DType::bf16});
  tell(kept.values > 0, fmt::format("saves {}", kept.values));
  tell(kept.each_element, "saves each");
  tell(!why_whole(op, Dim::c).empty(), "whole");
  tell(!is.summary.empty(), fmt::format("'{}'", is.summary));
  return text + "\n";
}

TEST(Op, PagesAnswer) {
  std::string text;
  for (const Op& op : op_prototypes()) text += facts(op);
  EXPECT_EQ(text, R"(input:
conv1d kernel=1x1x1 stride=1x1x1 dilation=1x1x1 groups=1 bias=1: x 'conv'
conv2d kernel=1x1x1 stride=1x1x1 dilation=1x1x1 groups=1 bias=1: x 'conv'
conv3d kernel=1x1x1 stride=1x1x1 dilation=1x1x1 groups=1 bias=1: x 'conv'
max_pool1d kernel=1x1x1 stride=1x1x1: saves each 'pool'
max_pool2d kernel=1x1x1 stride=1x1x1: saves each 'pool'
max_pool3d kernel=1x1x1 stride=1x1x1: saves each 'pool'
avg_pool1d kernel=1x1x1 stride=1x1x1: 'pool'
avg_pool2d kernel=1x1x1 stride=1x1x1: 'pool'
avg_pool3d kernel=1x1x1 stride=1x1x1: 'pool'
adaptive_max_pool1d: saves each 'global pool'
adaptive_max_pool2d: saves each 'global pool'
adaptive_max_pool3d: saves each 'global pool'
adaptive_avg_pool1d: 'global pool'
adaptive_avg_pool2d: 'global pool'
adaptive_avg_pool3d: 'global pool'
fc bias=1: x 'fc'
linear bias=1: x shares 'linear'
attention head_size=64 causal=0 window=0 rotary=0: x y 'attention'
relu: elementwise follows y
relu6: elementwise follows y
leaky_relu: elementwise follows y
elu: elementwise follows y
sigmoid: elementwise follows y
tanh: elementwise follows y
silu: elementwise follows x
gelu: elementwise follows x
hard_swish: elementwise follows x
hard_sigmoid: elementwise follows y
squared_relu: elementwise follows x
softcap: elementwise follows y
scale: elementwise follows
swiglu: x 'gate'
geglu: x 'gate'
clamped_swiglu: x 'gate'
batch_norm: follows scales x saves 6
layer_norm: scales x saves 2 'layer_norm'
rms_norm: scales x saves 1 'rms_norm'
lrn size=5: x
dropout: elementwise follows
concat: 'concat'
add: alike 'add'
multiply: alike x 'multiply'
flatten:
embedding vocabulary=0: x rows are terms 'embedding'
position_embedding:
tokens:
class_token:
select_token:
router top_k=1: x saves each whole 'router'
dispatch: saves 1 'dispatch'
expert_linear: x shares 'experts'
combine: x 'combine'
softmax_cross_entropy: loss y saves each 'softmax'
opaque kind=: x whole
)");
}

// Of a tensor of 10 elements in the dim.
Interval of_ten(const DimAccess& access, Interval output) {
  return needed(access, output, 10);
}

TEST(Access, SaysWhatAnIntervalNeeds) {
  EXPECT_EQ(of_ten(access::Same{}, {2, 5}), (Interval{2, 5}));
  EXPECT_EQ(of_ten(access::Whole{}, {2, 5}), (Interval{0, 10}));
  // A kernel of 3 with a stride of 2 and a padding of 1: outputs 2 and 3 tap 3 ... 7.
  EXPECT_EQ(of_ten(access::Windowed{{3, 2, 1, 1, 1}}, {2, 4}), (Interval{3, 8}));
  // Four bins of 2.5: the second begins within the third element.
  EXPECT_EQ(of_ten(access::Bins{4}, {1, 2}), (Interval{2, 5}));
  // Two groups of 5 inputs and 3 outputs: outputs 2 and 3 are of both.
  EXPECT_EQ(of_ten(access::Blocks{3, 5}, {2, 4}), (Interval{0, 10}));
  EXPECT_EQ(of_ten(access::Blocks{3, 5}, {3, 4}), (Interval{5, 10}));
  EXPECT_EQ(of_ten(access::Neighbours{2, 1}, {1, 4}), (Interval{0, 5}));
  // Elements 4 ... 13 of the output: of 2 ... 6, the first three.
  EXPECT_EQ(of_ten(access::Slice{4}, {2, 7}), (Interval{0, 3}));
  EXPECT_TRUE(of_ten(access::Slice{4}, {0, 4}).empty());
}

TEST(Access, AWindowOfOneElementReadsTheSame) {
  EXPECT_EQ(through({}), DimAccess(access::Same{}));
  EXPECT_NE(through({3, 1, 1, 1, 1}), DimAccess(access::Same{}));
}

TEST(Access, TellsWhereACutNeedsAHalo) {
  AccessMap map;
  map.dims[Dim::h] = through({3, 1, 1, 1, 1});
  map.dims[Dim::c] = access::Whole{};
  EXPECT_TRUE(map.reads_neighbours(Dim::h));
  EXPECT_FALSE(map.reads_neighbours(Dim::w));
  EXPECT_FALSE(map.reads_neighbours(Dim::c));
}

}  // namespace
}  // namespace strata
