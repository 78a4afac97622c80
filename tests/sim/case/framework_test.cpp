// What frameworks do otherwise than a case by itself.

#include "sim/case/framework.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/case/what_ifs.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/text/file.h"

namespace strata {
namespace {

CaseRequest request_as(const char* framework, const char* model, const char* cluster) {
  CaseRequest request;
  request.model = model;
  request.cluster = cluster;
  request.training.batch = 16;
  request.framework = framework;
  return request;
}

double step(const CaseRequest& request) {
  const Case input = load_case(request);
  return predict(input, data_parallel(input.graph, static_cast<int>(input.cluster.device_count())))
      .step_seconds()
      .value;
}

CaseRequest chosen(CaseRequest request, std::vector<std::string_view> given = {}) {
  choose_settings(request, [&](std::string_view key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  });
  return request;
}

TEST(Frameworks, Of2017WaitForParameterServers) {
  const CaseRequest request = chosen(request_as("ddp-2017", "alexnet", "dgx1-p100"));
  EXPECT_EQ(request.training.sync.algorithm, SyncAlgorithm::ps);
  EXPECT_EQ(load_case(request).runtime.overlap, Overlap::none);
  EXPECT_GT(step(request), step(request_as("none", "alexnet", "dgx1-p100")));
  EXPECT_EQ(
      chosen(request_as("ddp-2017", "alexnet", "dgx1-p100"), {"sync"}).training.sync.algorithm,
      SyncAlgorithm::ring);
  CaseRequest shared = request;
  shared.training.sync.zero = Zero::state;
  EXPECT_THAT(
      [&] { load_case(shared); },
      ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("`as` ddp-2017: `zero` 1 shares")));
}

// A block of hidden size 32: 4 products of 32 x 32, 2 of 32 x 128, biases and norms.
TEST(Frameworks, FsdpSharesAllInBucketsOfABlock) {
  const CaseRequest request =
      request_as("fsdp", "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64", "a100-1x8");
  const Case input = load_case(chosen(request));
  constexpr std::int64_t kBlock = 4 * 32 * 32 + 2 * 32 * 128 + (4 * 32 + 128 + 32) + 4 * 32;
  EXPECT_EQ(input.sync.bucket, Bytes{4 * kBlock});
  EXPECT_EQ(input.sync.zero, Zero::parameters);
  EXPECT_EQ(input.optimizer, Optimizer::adam);
  EXPECT_DOUBLE_EQ(input.runtime.communication_share, 24.0 / 108);
  CaseRequest own = request;
  own.training.sync.bucket = Bytes{1000};
  own = chosen(own, {"zero", "optimizer", "bucket"});
  EXPECT_EQ(own.training.sync.zero, Zero::nothing);
  EXPECT_EQ(own.training.optimizer, Optimizer::sgd);
  EXPECT_EQ(load_case(own).sync.bucket, Bytes{1000});
}

TEST(Frameworks, MegatronMergesProductsAndSumsAtOnce) {
  const CaseRequest request =
      request_as("megatron", "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64", "a100-1x8");
  const Case input = load_case(chosen(request));
  EXPECT_EQ(input.optimizer, Optimizer::adam);
  EXPECT_FALSE(kernels_of(input).fused_attention());
  EXPECT_EQ(input.sync.bucket, kOneBucket);
  EXPECT_EQ(input.products, Products::merged);
  EXPECT_EQ(input.exchanges, Exchanges::collective);
  EXPECT_TRUE(input.runtime.launches.any());
  EXPECT_EQ(chosen(request, {"bucket"}).training.sync.bucket, kUsualBucket);
}

// Under sequence parallelism tokens are gathered again; without it, nothing changes.
TEST(Frameworks, MegatronGathersAgainUnderSequenceParallelism) {
  CaseRequest request =
      request_as("megatron", "gpt:layers=4,hidden=32,heads=4,seq=16,vocab=64", "a100-1x8");
  request.training.micro_batch = 2;
  const auto predicted = [&](const char* strategy, const WhatIfs& sets) {
    request.sets = sets;
    const Case input = load_case(request);
    return result_of(input, predict(input, load_strategy(strategy, input)));
  };
  const WhatIfs kOnce = {{"gather", "once"}};
  for (const char* strategy : {"data", "hybrid:tp=4", "hybrid:tp=2,pp=2", "hybrid:pp=4"}) {
    const CaseResult usual = predicted(strategy, {}), once = predicted(strategy, kOnce);
    EXPECT_EQ(usual.step_seconds, once.step_seconds) << strategy;
    EXPECT_EQ(usual.peak_memory_bytes, once.peak_memory_bytes) << strategy;
    EXPECT_EQ(usual.comm_bytes, once.comm_bytes) << strategy;
  }
  const CaseResult usual = predicted("hybrid:tp=4,sp=1", {});
  const CaseResult once = predicted("hybrid:tp=4,sp=1", kOnce);
  EXPECT_LT(usual.peak_memory_bytes, once.peak_memory_bytes);
  EXPECT_GT(usual.comm_bytes, once.comm_bytes);
}

// Executors compute each layer's product by itself.
TEST(Frameworks, PlansWithMergedProductsAreNotRun) {
  Case input = load_case(request_as("none", "lenet5", "p100-1x2"));
  EXPECT_NO_THROW(lower_to_run(input, data_parallel(input.graph, 2)));
  input.products = Products::merged;
  EXPECT_THAT([&] { lower_to_run(input, data_parallel(input.graph, 2)); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::HasSubstr("`set` products=merged is predicted only")));
}

constexpr const char* kMixture = "llama:layers=1,hidden=64,heads=4,seq=16,vocab=100,experts=8";

TokenDispatch dispatch_of_case(const CaseRequest& request) {
  const Case input = load_case(request);
  return input.graph[input.graph.find("block1_ffn_dispatch")].routing.dispatch;
}

// Its launches are fitted to mixtures, and say nothing of others.
TEST(Frameworks, NemoLaunchesAreOfNetworksWithExperts) {
  const char* const dense = "llama:layers=1,hidden=64,heads=4,seq=16,vocab=100";
  EXPECT_FALSE(load_case(request_as("nemo", dense, "h100-1x8")).runtime.launches.any());
  const Launches launches = load_case(request_as("nemo", kMixture, "h100-1x8")).runtime.launches;
  EXPECT_EQ(launches.forward, Seconds{45e-6});
  EXPECT_EQ(launches.backward, Seconds{45e-6});
}

// Where a cluster does not say what it takes, or pairs exchange, there is none but if it is asked.
TEST(Frameworks, LeaveADispatchOutThatTheCaseHasNot) {
  CaseRequest request = request_as("nemo", kMixture, "h100-1x8");
  EXPECT_EQ(dispatch_of_case(request), TokenDispatch::deepep);
  request.sets = {{"exchanges", "pairwise"}};
  EXPECT_EQ(dispatch_of_case(request), TokenDispatch::direct);
  EXPECT_EQ(dispatch_of_case(request_as("nemo", kMixture, "a100-1x8")), TokenDispatch::direct);
}

TEST(Frameworks, CommunicationSharesAreOfKindsThatAreKnown) {
  EXPECT_EQ(load_case(request_as("fsdp", "lenet5", "k80-1x2")).runtime.communication_share, 0);
}

std::string said_of(std::string_view toml) {
  try {
    parse_framework(toml, "ours.toml");
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(Frameworks, AreFilesOfSettingsAndWhatIfs) {
  const Framework ours = parse_framework(R"(
name = "ours"
[settings]
optimizer = "adamw"
bucket = { value = "100 MiB", source = "our code" }
[set]
"launch.forward" = { value = "25us", source = "a trace" }
"launch.backward" = { value = "5us", networks = "experts", source = "a trace" }
"layer.softmax_cross_entropy.speed" = 0.5
)",
                                         "ours.toml");
  EXPECT_EQ(ours.name, "ours");
  EXPECT_EQ(ours.settings, (std::vector<FrameworkEntry>{{"bucket", "100 MiB", "our code"},
                                                        {"optimizer", "adamw", ""}}));
  EXPECT_EQ(ours.what_ifs,
            (std::vector<FrameworkEntry>{{"launch.forward", "25us", "a trace"},
                                         {"launch.backward", "5us", "a trace", "", true},
                                         {"layer.softmax_cross_entropy.speed", "0.5", ""}}));
}

TEST(Frameworks, RefuseWhatTheyCannotSay) {
  EXPECT_EQ(
      said_of("name = \"ours\"\n[settings]\nbatch = 3\n[set]\ncolour = \"red\"\n"),
      "ours.toml:3: unknown key 'batch'; allowed: sync, bucket, zero, zero_group, offload, dtype, "
      "gradients, optimizer, schedule, overlap, recompute\nours.toml:5: unknown key 'colour'; "
      "allowed: " +
          what_if_keys());
  EXPECT_THAT(said_of("name = \"ours\"\n[settings]\noptimizer = \"sdg\"\n"),
              ::testing::HasSubstr("ours.toml:3: unknown optimizer \"sdg\"; allowed: sgd"));
  EXPECT_THAT(said_of("name = \"ours\"\n[set]\n\"launch.forward\" = { value = \"1us\", source "
                      "= \"\", networks = \"dense\" }\n"),
              ::testing::HasSubstr("ours.toml:3: 'networks' must be \"experts\""));
  EXPECT_THAT(said_of("description = \"\""), ::testing::HasSubstr("name"));
  EXPECT_EQ(load_framework("megatron-2021").name, "megatron");
  EXPECT_THAT([] { load_framework("megatorn"); },
              ::testing::ThrowsMessage<InputError>("unknown framework \"megatorn\"; allowed: none, "
                                                   "megatron, ddp-2017, fsdp, mosaic, internevo, "
                                                   "deepspeed, pytorch, "
                                                   "pytorch-compile, fsdp2, megatron-core, nemo, "
                                                   "or a .toml file"));
}

// Where it says so, not where it is used first.
TEST(Frameworks, SayWhichValueIsNone) {
  EXPECT_THAT(said_of("name = \"ours\"\n[set]\n\"launch.forward\" = \"fast\"\n"),
              ::testing::HasSubstr("ours.toml:3: 'fast' is not a time; allowed: "));
  EXPECT_THAT(said_of("name = \"ours\"\n[set]\ndropout = { value = \"none\", source = \"a\" }\n"),
              ::testing::HasSubstr("ours.toml:3: 'none' is not a value of dropout"));
  EXPECT_THAT(said_of("name = \"ours\"\n[set]\n\"layer.rms_nrom.speed\" = 0.5\n"),
              ::testing::HasSubstr("ours.toml:3: 'rms_nrom' is no op; allowed: *, "));
}

// Steps that judge a framework say nothing of another that has taken its name.
TEST(Frameworks, OfOnesOwnHaveNamesOfTheirOwn) {
  const std::string file = ::testing::TempDir() + "framework_names.toml";
  write_file_whole(file, "name = \"mosaic\"\n");
  EXPECT_THAT([&] { load_framework(file); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::HasSubstr("'name' is \"mosaic\", which comes with Strata")));
  write_file_whole(file, "name = \"ours\"\n");
  EXPECT_EQ(load_framework(file).name, "ours");
}

// What a network has no layers for, is left out; what does not suit the machine is an error.
TEST(Frameworks, ChangeWhatIsThere) {
  Case input = load_case(request_as("none", "lenet5", "p100-1x2"));
  Framework ours{"ours", "", {}, {{"layer.attention.speed", "2", ""}, {"overlap", "off", ""}}};
  run_as(ours, input);
  EXPECT_EQ(input.framework, "ours");
  EXPECT_EQ(input.runtime.overlap, Overlap::none);
  ours.what_ifs = {{"link.inter.bandwidth", "2x", ""}};
  EXPECT_THAT([&] { run_as(ours, input); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(
                  "`as` ours: link.inter.bandwidth=2x: cluster p100-1x2 has no link 'inter'")));
}

// Layers in fp32 convert nothing.
TEST(Frameworks, MayHaveOtherFiguresInFp32) {
  const Framework ours = parse_framework(
      "name = \"ours\"\n[set]\n\"layer.fc.speed\" = { value = 0.2, fp32 = 0.5, source = \"a\" }\n",
      "ours.toml");
  EXPECT_EQ(ours.what_ifs, (std::vector<FrameworkEntry>{{"layer.fc.speed", "0.2", "a", "0.5"}}));
  const auto speed = [&](DType dtype) {
    CaseRequest request = request_as("none", "lenet5", "a100-1x2");
    request.training.dtype = dtype;
    Case input = load_case(request);
    run_as(ours, input);
    return input.graph[LayerId(input.graph.size() - 2)].speed;
  };
  EXPECT_EQ(speed(DType::bf16), 0.2);
  EXPECT_EQ(speed(DType::tf32), 0.5);
  EXPECT_EQ(speed(DType::fp32), 0.5);
}

// Of an A100 nobody knows FlashAttention 3, of a P100 nothing.
TEST(Frameworks, LeaveOutAnAttentionThatNobodyKnows) {
  Case input = load_case(request_as("none", "lenet5", "a100-1x2"));
  Framework ours{"ours", "", {}, {{"attention", "flash3", ""}}};
  run_as(ours, input);
  EXPECT_EQ(input.models.front()->kernels().attention, AttentionKernel::fused);
  ours.what_ifs = {{"attention", "flash2", ""}};
  run_as(ours, input);
  EXPECT_EQ(input.models.front()->kernels().attention, AttentionKernel::flash2);
}

// Its figure is of its own attention.
TEST(Frameworks, LeaveOutHowFastAnotherAttentionIs) {
  const auto speed = [](const WhatIfs& sets) {
    CaseRequest request = request_as("megatron", "gpt2", "a100-1x1");
    request.sets = sets;
    const Case loaded = load_case(request);
    for (const Layer& layer : loaded.graph.layers()) {
      if (std::holds_alternative<Attention>(layer.op)) return layer.speed;
    }
    return 0.0;
  };
  EXPECT_EQ(speed({}), 0.875);
  EXPECT_EQ(speed({{"attention", "unfused"}}), 0.875);
  EXPECT_EQ(speed({{"attention", "flash2"}}), 1);
  EXPECT_EQ(speed({{"attention", "flash2"}, {"layer.attention.speed", "0.5"}}), 0.5);
}

TEST(Frameworks, ThatShipHaveSources) {
  for (const Framework& framework : shipped_frameworks()) {
    EXPECT_FALSE(framework.description.empty()) << framework.name;
    EXPECT_EQ(load_framework(framework.name).name, framework.name);
    for (const auto* entries : {&framework.settings, &framework.what_ifs}) {
      for (const FrameworkEntry& entry : *entries) {
        EXPECT_FALSE(entry.source.empty()) << framework.name << ": " << entry.key;
      }
    }
  }
}

// What a host waits for is there when the device needs it anyway: where launches take next to
// nothing, waiting for stages costs next to nothing, however many chunks a stage has.
TEST(Frameworks, HostsThatWaitForStagesHoldUpNothingElse) {
  CaseRequest request =
      request_as("none", "gpt:layers=8,hidden=256,heads=8,seq=128,vocab=512", "a100-1x4");
  request.training.micro_batch = 1;
  const auto step_of = [](const CaseRequest& of) {
    const Case input = load_case(of);
    return predict(input, load_strategy("hybrid:pp=4,vp=2", input)).step_seconds().value;
  };
  const double alone = step_of(request);
  request.sets = {{"launch.stages", "wait"}};
  EXPECT_NEAR(step_of(request), alone, 1e-3 * alone);
  request.sets.emplace_back("launch.forward", "1ns");
  EXPECT_NEAR(step_of(request), alone, 1e-3 * alone);
}

}  // namespace
}  // namespace strata
