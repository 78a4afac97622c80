// What is said of a case before anybody trusts its prediction.

#include "sim/trust/cost_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/case/cost_basis.h"
#include "sim/graph/model_file.h"
#include "sim/measure/measure_profile.h"
#include "sim/profile/write_profile.h"
#include "sim/text/file.h"
#include "tests/folder.h"
#include "tests/sim/measure/measuring_runner.h"

namespace strata {
namespace {

using strata::testing::Folder;
using strata::testing::MeasuringRunner;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CaseRequest lenet_on(const std::string& cluster, DType dtype = DType::fp32) {
  CaseRequest request;
  request.model = "lenet5";
  request.cluster = cluster;
  request.training.batch = 4;
  request.training.dtype = dtype;
  return request;
}

TEST(Doubts, AKindHasNoArithmeticOfAType) {
  EXPECT_THAT(cost_warnings(load_case(lenet_on("p100-1x2"))), IsEmpty());
  EXPECT_THAT(cost_warnings(load_case(lenet_on("p100-1x2", DType::fp16))), IsEmpty());
  EXPECT_THAT(cost_warnings(load_case(lenet_on("p100-1x2", DType::bf16))),
              ElementsAre("p100 has no bf16 arithmetic: it computes in fp32, and only the bytes "
                          "are those of the type"));
  EXPECT_THAT(cost_warnings(load_case(lenet_on("a100-1x2", DType::fp8))),
              ElementsAre("a100 has no fp8 arithmetic: its products are in bf16"));
  EXPECT_THAT(cost_warnings(load_case(lenet_on("p100-1x2", DType::fp8))),
              ElementsAre("p100 has no fp8 arithmetic: its products are in fp32"));
  EXPECT_THAT(cost_warnings(load_case(lenet_on("p100-1x2", DType::tf32))),
              ElementsAre("p100 has no tf32 arithmetic: it computes in fp32, and nothing is "
                          "faster"));
}

TEST(Doubts, OpaqueOpsCostTheirBytesAlone) {
  const Folder folder("doubts");
  GraphBuilder net("net");
  const LayerId data = net.add("data", Input{{{1, 3, 1, 8, 8}}}, {});
  const LayerId big = net.add("big", Opaque{"Resize", {{1, 3, 1, 16, 16}}}, {data});
  const LayerId bigger = net.add("bigger", Opaque{"Resize", {{1, 3, 1, 32, 32}}}, {big});
  net.add("y", Opaque{"ReduceMax", {{1, 3, 1, 1, 1}}}, {bigger});
  write_file_whole(folder.file("net.toml"), print_model(std::move(net).build()));
  CaseRequest request = lenet_on("p100-1x2");
  request.model = folder.file("net.toml");
  EXPECT_THAT(cost_warnings(load_case(request)),
              ElementsAre("3 of 4 layers are opaque (Resize, ReduceMax): their costs are those "
                          "of the bytes that they move, without arithmetic"));
}

// 5 x 5 of 8 x 8 + 5 x 5 + 10 activations are the Einsum's, and 30 of 30 + 250 parameters.
TEST(Doubts, TellHowMuchHasNoCost) {
  const Folder folder("doubts");
  GraphBuilder net("net");
  const LayerId data = net.add("data", Input{{{1, 1, 1, 8, 8}}}, {});
  const LayerId mixed = net.add("mixed", Activation{}, {data});
  Opaque einsum{"Einsum", {{1, 1, 1, 5, 5}}, 30};
  einsum.uncosted = true;
  const LayerId lost = net.add("lost", einsum, {mixed});
  net.add("fc", FullyConnected{10, false}, {lost});
  const Graph graph = std::move(net).build();
  const Uncosted found = uncosted(graph);
  EXPECT_EQ(found, (Uncosted{1, {"Einsum"}, 25.0 / 99, 30.0 / 280}));
  write_file_whole(folder.file("net.toml"), print_model(graph));
  CaseRequest request = lenet_on("p100-1x2");
  request.model = folder.file("net.toml");
  const Case input = load_case(request);
  EXPECT_EQ(uncosted(input.graph), found) << "a model file keeps what is known";
  EXPECT_THAT(
      cost_warnings(input),
      ElementsAre("1 of 4 layers is opaque (Einsum): their costs are those of the bytes "
                  "that they move, without arithmetic",
                  "how much Einsum computes is not known: 1 of 4 layers, with 25.3 % of the "
                  "activations and 10.7 % of the parameters, cost the bytes that they move "
                  "alone, so a step takes longer than predicted"));
}

TEST(Doubts, OfProductsOfOpaqueOpsAreNone) {
  const Folder folder("doubts");
  GraphBuilder net("net");
  Opaque product{"MatMul", {{1, 1, 1, 1, 6}}, 24};
  product.macs = 4, product.columns = 6;
  net.add("y", product, {net.add("data", Input{{{1, 1, 1, 1, 4}}}, {})});
  write_file_whole(folder.file("net.toml"), print_model(std::move(net).build()));
  CaseRequest request = lenet_on("p100-1x2");
  request.model = folder.file("net.toml");
  const Case input = load_case(request);
  EXPECT_EQ(uncosted(input.graph), Uncosted{});
  EXPECT_THAT(cost_warnings(input),
              ElementsAre("1 of 2 layers is opaque (MatMul): their costs are those of the bytes "
                          "that they move, and of the products that their shapes tell of"));
}

TEST(Doubts, CostsOfTwoBusyDevicesAreNotThoseOfOne) {
  const Folder folder("doubts");
  MeasuringRunner runner;
  ProfileRequest measured;
  measured.models = {"lenet5"};
  measured.devices = "cpu:2";
  measured.training.batch = 4;
  measured.strategies = {"data"};
  write_profile(folder.file("p.toml"), measure_profile(runner, measured).profile);

  CaseRequest request = lenet_on("cpu:2");
  request.profiles = {folder.file("p.toml")};
  EXPECT_THAT(cost_warnings(load_case(request)), IsEmpty());
  request.cluster = "cpu:1";
  EXPECT_THAT(cost_warnings(load_case(request)),
              ElementsAre("the costs of cpu were measured on 2 devices at once, and localhost "
                          "has 1: devices of one host share its memory, so fewer or more of them "
                          "take other times"));
}

}  // namespace
}  // namespace strata
