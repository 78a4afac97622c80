#include "sim/profile/profile.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/paths.h"

namespace strata {
namespace {

using testing::ElementsAre;

constexpr std::string_view kToy = R"(kind = "toy"
description = "round numbers"

[provenance]
date = "2026-11-21"
method = "made up"
command = "none"

[device]
memory_capacity = { value = "1 GiB", source = "a" }
memory_bandwidth = { value = "100 GB/s", source = "b" }

[peak]
fp32 = { value = "1 TFLOP/s", source = "c" }
bf16 = { value = "8 TFLOP/s", source = "d" }

[efficiency]
launch = { value = "10 us", source = "e" }
memory = { value = 0.5, source = "f" }
gemm = { value = 0.9, source = "g" }
winograd = { value = 0, source = "h" }
direct = { value = 0.1, source = "i" }
half_tile = { value = 32, source = "j" }
half_depth = { value = 16, source = "k" }
tile_m = { value = 128, source = "l" }
tile_n = { value = 64, source = "m" }
split_k = { value = 1024, source = "n" }
cores = { value = 10, source = "o" }
)";

// The toy with one piece of its text replaced.
std::string toy(std::string_view piece, std::string_view other) {
  std::string text(kToy);
  return text.replace(text.find(piece), piece.size(), other);
}

std::string profile_error(const std::string& text) {
  try {
    parse_profile(text, "toy.toml");
  } catch (const InputError& error) {
    return error.message();
  }
  return "no error";
}

TEST(Profile, ReadsEveryFigureWithItsSource) {
  const Profile p = parse_profile(kToy, "toy.toml");
  EXPECT_EQ(p.kind, "toy");
  EXPECT_EQ(p.memory_capacity, (Sourced<Bytes>{{1 << 30}, "a"}));
  EXPECT_EQ(p.bandwidth, (Sourced<BytesPerSecond>{{100e9}, "b"}));
  EXPECT_EQ(p.peaks[0], (Sourced<FlopsPerSecond>{{1e12}, "c"}));
  EXPECT_EQ(p.peaks[1], std::nullopt);
  EXPECT_EQ(p.peaks[2], (Sourced<FlopsPerSecond>{{8e12}, "d"}));
  EXPECT_EQ(p.efficiency.launch.source, "e");
  EXPECT_DOUBLE_EQ(p.efficiency.launch.value.value, 1e-5);
  EXPECT_EQ(p.efficiency.cores, (Sourced<std::int64_t>{10, "o"}));
  EXPECT_EQ(p.provenance, (Provenance{"2026-11-21", "made up", "none"}));
  EXPECT_TRUE(p.costs.empty() && p.measured.empty());
}

TEST(Profile, PrintsWhatReadsBackEqual) {
  Profile p = parse_profile(kToy, "toy.toml");
  p.efficiency.launch.value = {1.0 / 3e5};
  p.efficiency.gemm.value = 0.1 + 0.2;
  p.peaks[0]->value = {1e13 / 3};
  p.description = "a \"quoted\"\nline";
  p.costs = "toy.costs.tsv";
  EXPECT_EQ(parse_profile(print_profile(p), "x"), p);
}

TEST(Profile, KeepsTheProvenanceOfEachPart) {
  const Profile p = parse_profile(toy("[device]", R"([[provenance.earlier]]
date = "2026-11-19"
method = "guessed"
command = "first"

[[provenance.earlier]]
date = "2026-11-20"
method = "measured"
command = "second"

[device])"),
                                  "toy.toml");
  EXPECT_THAT(p.earlier, ElementsAre(Provenance{"2026-11-19", "guessed", "first"},
                                     Provenance{"2026-11-20", "measured", "second"}));
  EXPECT_EQ(p.provenance.command, "none");
  EXPECT_EQ(parse_profile(print_profile(p), "x"), p);
}

TEST(Profile, SaysHowItsKernelsWork) {
  const Profile p = parse_profile(
      toy("[peak]", "[kernels]\nattention = \"unfused\"\ndropout = \"masks\"\n[peak]"), "toy.toml");
  EXPECT_EQ(p.kernels, (KernelTraits{.attention = AttentionKernel::unfused, .keeps_masks = true}));
  EXPECT_EQ(parse_profile(print_profile(p), "again.toml"), p);
  EXPECT_EQ(parse_profile(toy("", ""), "toy.toml").kernels, KernelTraits{});
}

TEST(Profile, KnowsImplementationsOfAnAttention) {
  const std::string text = toy("[peak]",
                               "[attention.cudnn]\n"
                               "forward = { value = 1.5, source = \"a\" }\n"
                               "backward = { value = 0.5, source = \"b\" }\n[peak]");
  const Profile p = parse_profile(text, "toy.toml");
  const auto& cudnn = p.attention[static_cast<std::size_t>(AttentionKernel::cudnn)];
  EXPECT_EQ(cudnn, (AttentionSpeed{{1.5, "a"}, {0.5, "b"}}));
  EXPECT_FALSE(p.attention[static_cast<std::size_t>(AttentionKernel::flash2)]);
  EXPECT_EQ(parse_profile(print_profile(p), "again.toml"), p);
}

TEST(Profile, SaysWhatWasPublished) {
  const std::string with =
      "[published_mfu]\nbf16 = { value = 0.5, source = \"p\" }\n\n[efficiency]";
  const Profile p = parse_profile(toy("[efficiency]", with), "toy.toml");
  EXPECT_EQ(p.published_mfu[2], (Sourced<double>{0.5, "p"}));
  EXPECT_EQ(p.published_mfu[0], std::nullopt);
  EXPECT_EQ(parse_profile(print_profile(p), "printed.toml"), p);
  EXPECT_EQ(parse_profile(kToy, "toy.toml").published_mfu, PublishedMfu{});
  EXPECT_EQ(profile_error(toy("[efficiency]", "[published_mfu]\nbf16 = 0.5\n\n[efficiency]")),
            "toy.toml:18: 'bf16' must be a table; it is 0.5");
}

TEST(Profile, SaysHowManyDevicesWereBusyWhileItWasMeasured) {
  EXPECT_EQ(parse_profile(kToy, "toy.toml").devices, 0);
  const Profile p = parse_profile(toy("[provenance]", "devices = 2\n[provenance]"), "toy.toml");
  EXPECT_EQ(p.devices, 2);
  EXPECT_EQ(parse_profile(print_profile(p), "x"), p);
  EXPECT_EQ(profile_error(toy("[provenance]", "devices = 0\n[provenance]")),
            "toy.toml:4: 'devices' must be an integer from 1 to 1048576; it is 0");
}

TEST(Profile, TheShippedOnesReadBackEqual) {
  EXPECT_THAT(shipped_profiles(),
              ElementsAre("a100", "b200", "gb200", "gb300", "h100", "h20", "h200", "h800", "k80",
                          "l40s", "mi300x", "p100", "p100-pcie", "rtx-4090", "v100"));
  for (const std::string& kind : shipped_profiles()) {
    const Profile p = load_profile(kind);
    EXPECT_EQ(p.kind, kind);
    Profile rowless = p;
    for (KernelTable& table : rowless.tables) table.rows.clear();
    EXPECT_EQ(parse_profile(print_profile(p), kind), rowless);
    EXPECT_EQ(read_profile(source_path("profiles/") + kind + ".toml"), p);
  }
}

// An H100 with less NVLink, which a cluster says: it shares the tables, too.
TEST(Profile, AnH800IsAnH100) {
  Profile h800 = load_profile("h800"), h100 = load_profile("h100");
  EXPECT_EQ(h800.tables.front().file, "h100.product-bf16.csv");
  h100.kind = h800.kind, h100.description = h800.description, h100.provenance = h800.provenance;
  EXPECT_EQ(h800, h100);
}

TEST(Profile, AnUnknownKindIsToldWhatThereIs) {
  try {
    load_profile("p1000");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(),
              "no profile of device kind 'p1000'; allowed: a100, b200, gb200, gb300, "
              "h100, h20, h200, h800, k80, l40s, mi300x, p100, p100-pcie, rtx-4090, v100, or a "
              ".toml file");
  }
  EXPECT_THROW(load_profile("nowhere/p100.toml"), InputError);
}

TEST(Profile, ReadsTheCostsBesideIt) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "strata_profile_test";
  std::filesystem::create_directories(folder);
  const std::vector<MeasuredCost> rows = {
      {{"relu", DType::fp32, Phase::forward, {{1, 1, 1, 1, 8}}, {{{1, 1, 1, 1, 8}}}},
       {1e-6},
       {0},
       7,
       "here"}};
  std::ofstream(folder / "toy.toml") << "costs = \"toy.costs.tsv\"\n" << kToy;
  std::ofstream(folder / "toy.costs.tsv") << print_measured_costs(rows);
  EXPECT_EQ(load_profile((folder / "toy.toml").string()).measured, rows);
  std::filesystem::remove_all(folder);
}

TEST(Profile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(profile_error(toy("kind = \"toy\"\n", "")), "toy.toml:1: missing key 'kind'");
  EXPECT_EQ(profile_error(toy("gemm = { value = 0.9", "gemm = { value = 1.5")),
            "toy.toml:20: 'value' must be a number from 0.0001 to 1; it is 1.5");
  EXPECT_EQ(profile_error(toy("gemm = { value = 0.9", "gemm = { value = 0")),
            "toy.toml:20: 'value' must be a number from 0.0001 to 1; it is 0");
  EXPECT_EQ(profile_error(toy("1 TFLOP/s", "1 FLOP/s")),
            "toy.toml:14: 'value' must be at least 1 MFLOP/s; it is \"1 FLOP/s\"");
  EXPECT_EQ(profile_error(toy("100 GB/s", "1 B/s")),
            "toy.toml:11: 'value' must be at least 1 MB/s; it is \"1 B/s\"");
  EXPECT_EQ(profile_error(toy("10 us", "2 s")),
            "toy.toml:18: 'value' must be at most 1 s; it is \"2 s\"");
  EXPECT_EQ(profile_error(toy("cores = { value = 10", "cores = { value = 0")),
            "toy.toml:28: 'value' must be an integer from 1 to 1048576; it is 0");
  EXPECT_EQ(profile_error(toy("fp32 = { value = \"1 TFLOP/s\", source = \"c\" }\n", "")),
            "toy.toml:13: missing key 'fp32'");
  EXPECT_EQ(profile_error(toy("source = \"d\"", "from = \"d\"")),
            "toy.toml:15: missing key 'source'");
  EXPECT_EQ(profile_error(toy("bf16", "fp6")),
            "toy.toml:15: unknown key 'fp6'; allowed: fp32, tf32, bf16, fp16, fp8, fp8-block, "
            "mxfp8, nvfp4");
  EXPECT_EQ(profile_error(toy("[peak]", "[kernels]\nattention = \"flash\"\ndropout = 1\n[peak]")),
            "toy.toml:14: 'attention' must be \"fused\" or \"unfused\"; it is \"flash\"\n"
            "toy.toml:15: 'dropout' must be a string; it is 1");
  EXPECT_EQ(profile_error(toy("[peak]", "[peaks]")),
            "toy.toml:1: missing key 'peak'\n"
            "toy.toml:13: unknown key 'peaks'; allowed: kind, description, costs, devices, "
            "provenance, device, peak, sustained, published_mfu, efficiency, kernels, attention, "
            "moves, kernel");
  EXPECT_EQ(profile_error(toy("{ value = 0.5, source = \"f\" }", "0.5")),
            "toy.toml:19: 'memory' must be a table; it is 0.5");
}

TEST(Profile, SaysAllThatIsWrongAtOnce) {
  std::string text = toy("date = \"2026-11-21\"\n", "");
  text.replace(text.find("tile_m"), 6, "tile_x");
  EXPECT_EQ(profile_error(text),
            "toy.toml:4: missing key 'date'\n"
            "toy.toml:16: missing key 'tile_m'\n"
            "toy.toml:24: unknown key 'tile_x'; allowed: launch, memory, gemm, "
            "winograd, direct, half_tile, half_depth, tile_m, tile_n, split_k, "
            "cores");
}

}  // namespace
}  // namespace strata
