#pragma once

// The fake Runner (fake_runner.h), whose devices can also be measured: every phase of every shard
// takes a millisecond, every move a nanosecond a byte.

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cancel.h"
#include "tests/sim/study/fake_runner.h"

namespace strata::testing {

class FakeMeasurer : public Measurer {
 public:
  FakeMeasurer(const Graph& graph, const std::vector<MeasureRequest>& requests,
               std::vector<Bytes> sizes)
      : sizes_(std::move(sizes)) {
    for (const MeasureRequest& r : requests) {
      keys_.insert(cost_key(graph, r.layer, r.output, DType::fp32, r.phase));
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

 private:
  std::set<CostKey> keys_;
  std::vector<Bytes> sizes_;
  std::int64_t rounds_ = 0;
};

struct MeasuringRunner : FakeRunner {
  std::unique_ptr<Measurer> measure(const std::string&, const Graph& graph,
                                    std::vector<MeasureRequest> requests,
                                    std::vector<Bytes> sizes) override {
    return std::make_unique<FakeMeasurer>(graph, requests, std::move(sizes));
  }
};

}  // namespace strata::testing
