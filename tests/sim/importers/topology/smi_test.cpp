#include <gtest/gtest.h>

#include "sim/cluster/cluster_file.h"
#include "tests/sim/importers/topology/imported.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

Cluster cluster_of(const std::string& file, const std::string& kind,
                   std::optional<BytesPerSecond> network = std::nullopt, std::int64_t hosts = 1) {
  ImportOptions options = of_kind(kind);
  options.machine.network = network;
  options.hosts = hosts;
  return import_file(file, options).cluster;
}

// The older layout, with colours as a terminal gets them. Cards show which PCI switch GPUs share
// where NVLinks hide it.
TEST(Smi, Dgx1) {
  const Cluster dgx1 = cluster_of("dgx1.smi.txt", "v100", BytesPerSecond{12.5e9}, 2);
  EXPECT_EQ(way(dgx1, "host0/gpu0", "host0/gpu1"), "host0/gpu0 host0/gpu1: 20 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx1, "host0/gpu0", "host0/gpu3"), "host0/gpu0 host0/gpu3: 40 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx1, "host1/gpu0", "host1/gpu5"),
            "host1/gpu0 host1/pix0 host1/numa0 host1/numa1 host1/pix2 host1/gpu5: 10 GB/s, 1 us");
  EXPECT_EQ(way(dgx1, "host0/gpu2", "host1/gpu6"),
            "host0/gpu2 host0/pix1 host0/mlx5_1 network host1/mlx5_3 host1/pix3 host1/gpu6: "
            "12 GB/s, 2.7 us");
}

// The same machine by both tools: the same ways, but for the speed between its processors, which
// the matrix doesn't tell.
TEST(Smi, Dgx1GoesAsItDoesByNccl) {
  const Cluster by_smi = cluster_of("dgx1.smi.txt", "v100", BytesPerSecond{12.5e9});
  const Cluster by_nccl = import_file("dgx1.nccl.xml", of_kind("v100")).cluster;
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      EXPECT_EQ(by_smi.route(DeviceId(a), DeviceId(b)).size(),
                by_nccl.route(DeviceId(a), DeviceId(b)).size())
          << a << " to " << b;
    }
  }
}

// The newer layout. Every row counts 12 NVLinks to seven GPUs: more than a GPU has, so they lead to
// NVSwitches. The last lines name the cards.
TEST(Smi, DgxA100) {
  const Cluster dgx = cluster_of("dgx-a100.smi.txt", "a100", BytesPerSecond{25e9}, 2);
  EXPECT_EQ(way(dgx, "host0/gpu0", "host0/gpu7"),
            "host0/gpu0 host0/nvswitch host0/gpu7: 240 GB/s, 0.6 us");
  EXPECT_EQ(way(dgx, "host0/gpu1", "host1/gpu6"),
            "host0/gpu1 host0/gpu1-port host0/mlx5_1-port host0/mlx5_1 network host1/mlx5_8 "
            "host1/mlx5_8-port host1/gpu6-port host1/gpu6: 24 GB/s, 2.7 us");
}

TEST(Smi, PcieBox) {
  const Cluster box = cluster_of("pcie-box.smi.txt", "p100");
  EXPECT_EQ(way(box, "gpu0", "gpu1"), "gpu0 pix0 gpu1: 12 GB/s, 1 us");
  EXPECT_EQ(way(box, "gpu0", "gpu2"), "gpu0 pix0 pxb0 gpu2: 12 GB/s, 1 us");
  EXPECT_EQ(way(box, "gpu0", "gpu3"), "gpu0 pix0 pxb0 numa0 gpu3: 12 GB/s, 1 us");
  EXPECT_EQ(way(box, "gpu0", "gpu4"), "gpu0 pix0 pxb0 numa0 numa1 pix1 gpu4: 10 GB/s, 1 us");
  EXPECT_EQ(box.switches().size(), 5U) << "the card is left out";
}

TEST(Smi, SaysThatCardsAreLeftOut) {
  EXPECT_EQ(
      import_file("pcie-box.smi.txt", of_kind("p100")).notes,
      (std::vector<std::string>{"pcie-box.smi.txt: network cards are left out (1): `bandwidth` "
                                "says how fast each of them is"}));
}

TEST(Smi, NeedsTheKind) {
  EXPECT_EQ(said([] { import_file("dgx1.smi.txt", of_kind("")); }),
            "dgx1.smi.txt: nvidia-smi topo doesn't say what the GPUs are; `kind` says it (v100, "
            "a100, ...)");
  EXPECT_EQ(said([] { import_file("dgx1.smi.txt", of_kind("mine")); }),
            "dgx1.smi.txt: kind 'mine' doesn't tell how fast a PCI link is; `pcie` says it");
}

// Four GPUs of four links each to every other: twelve, which one GPU has. No switch.
TEST(Smi, FewNvlinksLeadFromGpuToGpu) {
  const Cluster four =
      import_text(
          "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
          "GPU0\t X \tNV4\tNV4\tNV4\t0-31\t0\nGPU1\tNV4\t X \tNV4\tNV4\t0-31\t0\n"
          "GPU2\tNV4\tNV4\t X \tNV4\t32-63\t1\nGPU3\tNV4\tNV4\tNV4\t X \t32-63\t1\n",
          of_kind("a100"))
          .cluster;
  EXPECT_EQ(way(four, "gpu0", "gpu3"), "gpu0 gpu3: 80 GB/s, 0.6 us");
  EXPECT_EQ(four.switches().size(), 2U);
}

TEST(Smi, RefusesAMatrixThatNoTreeHas) {
  EXPECT_EQ(said([] {
              import_text(
                  "\tGPU0\tGPU1\tGPU2\nGPU0\tX\tPIX\tSYS\nGPU1\tPIX\tX\tPIX\n"
                  "GPU2\tSYS\tPIX\tX\n",
                  of_kind("p100"));
            }),
            "a:4: 'GPU2' and 'GPU0' are farther apart than both are from what stands between");
}

TEST(Smi, WhatIsWrittenReadsBackEqual) {
  for (const char* file : {"dgx1.smi.txt", "dgx-a100.smi.txt", "pcie-box.smi.txt"}) {
    const Cluster cluster = cluster_of(file, "v100", BytesPerSecond{1e9}, 2);
    EXPECT_EQ(parse_cluster(print_cluster(cluster), "c.toml"), cluster) << file;
  }
}

}  // namespace
}  // namespace strata
