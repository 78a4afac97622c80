// Batches that are too large for one graph: what is said names the batch and what helps, before
// anything is computed, and what helps does.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/case/network.h"
#include "sim/case/rounds.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {
namespace {

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

// 32 samples for each of 2,048 devices, the usual batch.
CaseRequest llama_on_2048() {
  CaseRequest request;
  request.model = "llama3-405b";
  request.cluster = "h100-256x8";
  request.training.dtype = DType::bf16;
  return request;
}

TEST(LargeBatch, IsNamedWithWhatHelps) {
  CaseRequest request = llama_on_2048();
  EXPECT_EQ(refusal([&] { load_case(request); }),
            "a batch of 65,536 is too large for one step of llama3-405b; set `micro_batch`, or a "
            "batch of up to 405");
  request.training.batch = 405;
  EXPECT_EQ(load_case(request).batch(), 405);
  request.training.batch = 406;
  EXPECT_NE(refusal([&] { load_case(request); }), "");
  request.training.batch = 65'536;
  request.training.micro_batch = 1;
  EXPECT_EQ(load_case(request).batch(), 65'536);
}

// What is wrong with the network itself is said as ever.
TEST(LargeBatch, IsNotBlamedForANetworkThatIsWrong) {
  EXPECT_EQ(refusal([] { load_model("vgg17", 1 << 30); }), refusal([] { load_model("vgg17", 1); }));
}

// Else the strategy would be of the round that fits, and leave most devices without work.
TEST(LargeBatch, IsNotOfARoundThatLeavesDevicesWithoutWork) {
  CaseRequest request = llama_on_2048();
  request.training.micro_batch = 1;
  const Case input = load_case(request);
  EXPECT_EQ(refusal([&] { load_strategy("data", input); }),
            "micro-batches of 1 for each of 2,048 data-parallel groups are too large a round for "
            "llama3-405b; allowed: rounds of up to 405 samples, so fewer groups");
  EXPECT_EQ(refusal([&] { in_rounds(input, 2048); }),
            refusal([&] { load_strategy("data", input); }));
  EXPECT_FALSE(divide_in_rounds(input, 2048));
  const Strategy hybrid = load_strategy("hybrid:tp=8,pp=16", input);
  EXPECT_EQ(in_rounds(input, hybrid).rounds, 65'536U / 16);
}

}  // namespace
}  // namespace strata
