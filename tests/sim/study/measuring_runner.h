#pragma once

// The fake Runner (fake_runner.h), whose devices can also be measured: every phase of every shard
// takes a millisecond, every move a nanosecond a byte.

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cancel.h"
#include "sim/cluster/gpu_cluster.h"
#include "tests/sim/study/fake_runner.h"

namespace strata::testing {

class FakeMeasurer : public Measurer {
 public:
  FakeMeasurer(const Graph& graph, MeasureList list) : sizes_(std::move(list.moves)) {
    for (const MeasureRequest& r : list.shards) {
      keys_.insert(cost_key(graph, r.layer, r.output, list.dtype, r.phase));
    }
  }
  void round(const std::atomic<bool>* cancelled) override {
    throw_if_cancelled(cancelled);
    ++rounds_;
  }
  std::vector<MeasuredCost> costs(Sampled /*which*/) const override {
    std::vector<MeasuredCost> rows;
    for (const CostKey& key : keys_) rows.push_back({key, {1e-3}, {1e-5}, rounds_, "fake"});
    return rows;
  }
  std::vector<MeasuredMove> moves() const override {
    std::vector<MeasuredMove> rows;
    for (MoveKind kind : {MoveKind::copy, MoveKind::reduce, MoveKind::local}) {
      for (Bytes size : sizes_) {
        const double seconds = 1e-9 * static_cast<double>(size.value);
        rows.push_back({kind, size, {seconds}, {}, rounds_, "fake"});
      }
    }
    return rows;
  }
  /// Every second sweep.
  Disturbance disturbance() const override {
    const auto rounds = static_cast<std::size_t>(rounds_);
    return {rounds / 2, rounds};
  }
  std::string method() const override { return "by fakes"; }

 private:
  std::set<CostKey> keys_;
  std::vector<Bytes> sizes_;
  std::int64_t rounds_ = 0;
};

/// Nothing is here but what tests look at: the types that were measured and run.
struct MeasuringRunner : FakeRunner {
  std::vector<DType> measured;

  std::unique_ptr<Measurer> measure(const std::string&, const Graph& graph,
                                    MeasureList list) override {
    measured.push_back(list.dtype);
    return std::make_unique<FakeMeasurer>(graph, std::move(list));
  }
};

/// "gpus:4": each device has a GPU, and a link to any other. "gpus:0/4": four share one. The
/// driver tells how warm they are.
struct FakeGpus : MeasuringRunner {
  Bytes memory{std::int64_t{1} << 40};  ///< of a GPU

  Cluster cluster(const std::string& devices) const override {
    if (devices == "gpus:mixed") {
      const std::vector<GpuDevice> mixed = {{0, "a", "f9/2"}, {0, "b", "f9/2"}, {1, "c", "f9"}};
      return gpu_cluster(devices, mixed);
    }
    std::vector<GpuDevice> all;
    const std::size_t sharing = devices_on_first(devices);
    const std::size_t count = sharing > 1 ? sharing : std::stoul(devices.substr(5));
    for (std::size_t d = 0; d < count; ++d) {
      const int gpu = sharing > 1 ? 0 : static_cast<int>(d);
      all.push_back({gpu, "gpu" + std::to_string(d), gpu_kind("NVIDIA F9", sharing)});
    }
    return gpu_cluster(devices, all);
  }
  std::string state(const std::string&) const override { return "warm"; }
  std::optional<Bytes> own_memory(const std::string& devices) const override {
    return Bytes{memory.value / static_cast<std::int64_t>(devices_on_first(devices))};
  }
  std::string first_of(const std::string& devices, std::size_t count) const override {
    const bool shared = devices.find('/') != std::string::npos;
    if (shared && count == 1) return "gpus:1";
    return (shared ? "gpus:0/" : "gpus:") + std::to_string(count);
  }

 private:
  static std::size_t devices_on_first(const std::string& devices) {
    const std::size_t at = devices.find('/');
    return at == std::string::npos ? 1 : std::stoul(devices.substr(at + 1));
  }
};

}  // namespace strata::testing
