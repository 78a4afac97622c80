#include "sim/case/what_ifs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/cost/layer_costs.h"
#include "sim/text/file.h"
#include "tests/paths.h"

namespace strata {
namespace {

CaseRequest lenet5() {
  CaseRequest request;
  request.model = "lenet5";
  request.cluster = "a100-1x2";
  return request;
}

std::string value_of(const WhatIfSpec& what_if) {
  switch (what_if.form) {
    case WhatIfForm::bandwidth:
      return "3 GB/s";
    case WhatIfForm::latency:
    case WhatIfForm::duration:
      return "7us";
    case WhatIfForm::speed:
    case WhatIfForm::share:
      return "0.25";
    case WhatIfForm::size:
      return "5 GB";
    case WhatIfForm::ratio:
      return "3";
    case WhatIfForm::load:
      return "zipf:1";
    case WhatIfForm::power:
      return "300 W";
    case WhatIfForm::word:
      return std::string(what_if.words.front());
  }
  return {};
}

// Of a row's key: all links, devices or layers.
std::string key_of(const WhatIfSpec& what_if) {
  std::string key(what_if.key);
  const std::size_t at = key.find("SELECTOR");
  return at == std::string::npos ? key : key.replace(at, 8, "*");
}

TEST(WhatIfs, EachIsFoundByItsKeyAndStandsInTheHelpAndTheDocs) {
  const std::string docs = read_file(source_path("docs/clusters.md"));
  const std::string help = what_if_help();
  for (const WhatIfSpec& what_if : what_ifs()) {
    EXPECT_EQ(find_what_if(key_of(what_if)), &what_if) << what_if.key;
    EXPECT_TRUE(is_what_if(key_of(what_if))) << what_if.key;
    EXPECT_NE(help.find(what_if.key), std::string::npos) << what_if.key;
    EXPECT_NE(docs.find(fmt::format("`{}`", what_if.key)), std::string::npos) << what_if.key;
    for (const std::string_view word : what_if.words) {
      EXPECT_NE(help.find(word), std::string::npos) << what_if.key;
    }
  }
}

// As files of frameworks check them, before there is a case.
TEST(WhatIfs, ValuesOfEveryFormAreChecked) {
  for (const WhatIfSpec& what_if : what_ifs()) {
    EXPECT_NO_THROW(check_value(what_if, value_of(what_if))) << what_if.key;
    EXPECT_THROW(check_value(what_if, "neither a number nor a word"), InputError) << what_if.key;
  }
}

bool equal(const Case& a, const Case& b) {
  return a.cluster == b.cluster && a.sync == b.sync && a.runtime == b.runtime &&
         a.products == b.products && a.exchanges == b.exchanges &&
         a.gathers_again == b.gathers_again && a.host_jitter == b.host_jitter &&
         a.models.front()->kernels() == b.models.front()->kernels() && a.graph == b.graph;
}

TEST(WhatIfs, TheLastSharingUnitCounts) {
  const auto bucket = [](const WhatIfs& sets) {
    CaseRequest request = lenet5();
    request.sets = sets;
    return load_case(request).sync.bucket;
  };
  const Bytes usual = bucket({}), block = bucket({{"sharing.unit", "block"}});
  EXPECT_NE(block, usual);
  EXPECT_EQ(bucket({{"sharing.unit", "block"}, {"sharing.unit", "bucket"}}), usual);
  EXPECT_EQ(bucket({{"sharing.unit", "bucket"}, {"sharing.unit", "block"}}), block);
}

// Of a word, one of the two is what the case has already.
TEST(WhatIfs, EachChangesTheCase) {
  CaseRequest request = lenet5();
  request.model = "llama:layers=1,hidden=64,heads=4,seq=16,vocab=100,experts=4";
  request.cluster = "h100-2x1";  // says what every dispatcher takes
  request.training.dtype = DType::bf16;
  const Case before = load_case(request);
  for (const WhatIfSpec& what_if : what_ifs()) {
    const auto with = [&](const std::string& value) {
      Case after = before;
      change(after, key_of(what_if), value);
      settle_what_ifs(after);
      return after;
    };
    if (what_if.form != WhatIfForm::word) {
      EXPECT_FALSE(equal(with(value_of(what_if)), before)) << what_if.key;
      continue;
    }
    const Case first = with(std::string(what_if.words.front()));
    const Case second = with(std::string(what_if.words.back()));
    EXPECT_FALSE(equal(first, second)) << what_if.key;
    EXPECT_TRUE(equal(first, before) || equal(second, before)) << what_if.key;
  }
}

// The optimizer's kernel is not the layer's.
TEST(WhatIfs, LayersThatAreFasterUpdateAsBefore) {
  CaseRequest request = lenet5();
  const auto costs = [&] {
    const Case input = load_case(request);
    const LayerId fc(input.graph.size() - 2);
    LayerCosts of_layers(input.graph, compute_settings(input));
    return of_layers(fc, whole(input.graph[fc].output), *input.models.front());
  };
  const PhaseCosts usual = costs();
  request.sets = {{"layer.fc.speed", "0.5"}};
  const PhaseCosts slow = costs();
  for (const Phase phase : {Phase::forward, Phase::backward_data, Phase::backward_weights}) {
    const auto at = static_cast<std::size_t>(phase);
    EXPECT_DOUBLE_EQ(slow[at].seconds.value, 2 * usual[at].seconds.value) << at;
  }
  const auto update = static_cast<std::size_t>(Phase::update);
  EXPECT_EQ(slow[update].seconds, usual[update].seconds);
  EXPECT_GT(usual[update].seconds, Seconds{});
}

// The cube of the clock, beside a fifth that is drawn anyway.
TEST(WhatIfs, LessPowerIsLessThatIsKeptUp) {
  CaseRequest request = lenet5();
  request.cluster = "h100-1x2";
  request.training.dtype = DType::bf16;
  const auto share = [&](const char* key, const char* power) {
    request.sets = {{key, power}};
    return load_case(request).models.front()->kernels().sustained_share;
  };
  EXPECT_DOUBLE_EQ(share("device.*.power", "700W"), 1);
  EXPECT_NEAR(share("device.h100.power", "525 W"), std::cbrt(0.55 / 0.8), 1e-12);
  for (const auto& [key, power, said] :
       {std::tuple("device.*.power", "800 W", "at most 700 W"),
        std::tuple("device.*.power", "140 W", "above 140 W"),
        std::tuple("device.gpu0.power", "300 W", "no kind of device 'gpu0'; allowed: *, h100")}) {
    const auto asked = [&, key = key, power = power] { share(key, power); };
    EXPECT_THAT(asked, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(said)));
  }
  request.training.dtype = DType::fp8;
  EXPECT_THAT([&] { share("device.*.power", "525 W"); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(
                  "the profile of h100 does not say what it keeps up at which power in fp8")));
  // A product is as much slower, and a sum of elements is not.
  request.model = "gpt:layers=1,hidden=4096,heads=32,seq=2048,vocab=1024";
  request.training.batch = 16;
  request.training.dtype = DType::bf16;
  const auto seconds = [&](const char* power, Op op) {
    request.sets = {{"device.*.power", power}};
    const Case input = load_case(request);
    const auto layer = std::ranges::find_if(input.graph.layers(), [&](const Layer& each) {
      return name(each.op) == name(op) && each.output[Dim::c] >= 4096;
    });
    const LayerId id(static_cast<std::size_t>(layer - input.graph.layers().begin()));
    LayerCosts costs(input.graph, compute_settings(input));
    return costs(id, whole(layer->output), *input.models.front())[1].seconds.value;
  };
  EXPECT_NEAR(seconds("525 W", Linear{}) / seconds("700 W", Linear{}), 1 / std::cbrt(0.55 / 0.8),
              1e-9);
  EXPECT_EQ(seconds("525 W", Add{}), seconds("700 W", Add{}));
}

TEST(WhatIfs, TheLastJitterCounts) {
  CaseRequest request = lenet5();
  request.cluster = "a100-2x8";
  request.sets = {{"jitter.hosts", "0.5"}, {"jitter.hosts", "0.1"}};
  const Case input = load_case(request);
  EXPECT_NEAR(input.cluster[DeviceId(0)].speed, 1 / (1 + 0.1 * 0.5641896), 1e-6);
}

TEST(WhatIfs, ExchangesAreCollectiveByDefaultWhereALayerAttends) {
  CaseRequest request = lenet5();
  EXPECT_EQ(load_case(request).exchanges, Exchanges::pairwise);
  request.model = "gpt:layers=2,hidden=64,heads=4,seq=16,vocab=100";
  EXPECT_EQ(load_case(request).exchanges, Exchanges::collective);
  request.sets = {{"exchanges", "pairwise"}};
  EXPECT_EQ(load_case(request).exchanges, Exchanges::pairwise);
}

TEST(WhatIfs, DispatchersAreOfCollectiveExchanges) {
  CaseRequest request = lenet5();
  request.model = "llama:layers=1,hidden=64,heads=4,seq=16,vocab=100,experts=4";
  request.cluster = "h100-1x2";
  request.sets = {{"experts.dispatch", "deepep"}, {"exchanges", "pairwise"}};
  EXPECT_THAT([&] { load_case(request); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::HasSubstr("or with exchanges=collective any")));
  request.sets.front().second = "direct";
  EXPECT_NO_THROW(load_case(request));
  request.sets = {{"experts.dispatch", "deepep"}};
  EXPECT_NO_THROW(load_case(request));
  request.cluster = "a100-2x8";
  EXPECT_THAT([&] { load_case(request); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(
                  "the cluster a100-2x8 does not say how fast deepep is, in "
                  "[collectives.token_sends]; allowed: direct, alltoall, allgather")));
}

TEST(WhatIfs, SwitchAsTheirWordsSay) {
  Case input = load_case(lenet5());
  change(input, "attention", "unfused");
  EXPECT_FALSE(kernels_of(input).fused_attention());
  change(input, "attention", "fused");
  EXPECT_TRUE(kernels_of(input).fused_attention());
  change(input, "attention", "flash2");
  EXPECT_EQ(kernels_of(input).attention, AttentionKernel::flash2);
  change(input, "optimizer.kernel", "for-loop");
  EXPECT_EQ(input.models.front()->kernels().update, UpdateKernel::for_loop);
  change(input, "overlap", "off");
  EXPECT_EQ(input.runtime.overlap, Overlap::none);
  change(input, "launch.stages", "wait");
  EXPECT_TRUE(input.runtime.launches.wait_for_stages);
}

TEST(WhatIfs, WhatADeviceHasDecidesWhatFits) {
  CaseRequest request = lenet5();
  request.sets = {{"device.gpu1.memory", "40 GB"}, {"device.*.memory_reserve", "1 GB"}};
  const Case input = load_case(request);
  EXPECT_EQ(memory_capacity(input, DeviceId(1)), Bytes{39'000'000'000});
  EXPECT_EQ(least_memory_capacity(input), Bytes{39'000'000'000});
  const std::vector<Bytes> peaks(2, Bytes{39'500'000'000});
  EXPECT_EQ(shortage(input, peaks), (Shortage{DeviceId(1), peaks[1], Bytes{39'000'000'000}}));
}

TEST(WhatIfs, AReserveLeavesSomething) {
  CaseRequest request = lenet5();
  request.sets = {{"device.gpu0.memory_reserve", "90 GB"}};
  EXPECT_THAT([&] { load_case(request); },
              ::testing::ThrowsMessage<InputError>(
                  "device gpu0: memory_reserve of 90.00 GB leaves nothing of its 80.00 GB"));
}

TEST(WhatIfs, SayWhatIsAllowed) {
  Case input = load_case(lenet5());
  const auto refusal = [&](const std::string& key, const std::string& value) -> std::string {
    try {
      change(input, key, value);
    } catch (const InputError& error) {
      return error.message();
    }
    return "none";
  };
  EXPECT_EQ(refusal("overlap", "yes"), "'yes' is not a value of overlap; allowed: on, off");
  EXPECT_EQ(refusal("attention", "flash3"),
            "the profiles of these devices do not say how fast flash3 is; allowed: "
            "fused, flash1, flash2, cudnn, memory-efficient, unfused");
  EXPECT_EQ(refusal("communication.share", "1"),
            "'1' is no share; allowed: a number from 0, below 1, or nccl");
  EXPECT_EQ(refusal("colour", "1"), "unknown key 'colour'; allowed: " + what_if_keys());
}

}  // namespace
}  // namespace strata
