#pragma once

// Ranks whose processes are threads of one: each has its own ThreadRanks, and all of them a hub.
//   on_ranks(4, [](const Ranks& ranks) { ... });
// runs the function on each; the first that throws ends the others, and is thrown.

#include <bit>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "exec/cuda/device/device.h"
#include "exec/runtime/ranks.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {

/// What all ranks write to and read, between two barriers.
struct RankHub {
  explicit RankHub(std::size_t count) : barrier(count) {}
  host::Barrier barrier;
  std::mutex mutex;
  std::vector<std::uint64_t> words;
  std::exception_ptr error;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(RankHub& hub, std::size_t rank, std::size_t size)
      : hub_(hub), rank_(rank), size_(size) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  double now() const override { return cuda::now().value; }

  void merge(std::span<float> values) const override { join<std::uint32_t>(values); }
  void merge(std::span<double> values) const override { join<std::uint64_t>(values); }
  void merge(std::span<std::int64_t> values) const override { join<std::uint64_t>(values); }
  void add(std::span<std::int64_t> values) const override {
    exchange<std::uint64_t>(values, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  bool any(bool value) const override {
    std::int64_t bit = value ? 1 : 0;
    merge(std::span(&bit, 1));
    return bit != 0;
  }
  double of_lead(double value) const override {
    if (rank_ != 0) value = 0;
    merge(std::span(&value, 1));
    return value;
  }

 private:
  template <class Bits, class Value>
  void join(std::span<Value> values) const {
    exchange<Bits>(values, [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
  template <class Bits, class Value, class Combine>
  void exchange(std::span<Value> values, const Combine& combine) const {
    if (rank_ == 0) hub_.words.assign(values.size(), 0);
    hub_.barrier.wait();
    {
      const std::lock_guard lock(hub_.mutex);
      for (std::size_t i = 0; i < values.size(); ++i) {
        hub_.words[i] = combine(hub_.words[i], std::bit_cast<Bits>(values[i]));
      }
    }
    hub_.barrier.wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::bit_cast<Value>(static_cast<Bits>(hub_.words[i]));
    }
    hub_.barrier.wait();
  }

  RankHub& hub_;
  std::size_t rank_, size_;
};

inline void on_ranks(std::size_t count, const std::function<void(const Ranks&)>& work) {
  RankHub hub(count);
  const auto one = [&](std::size_t rank) {
    const host::Rank here;
    try {
      work(ThreadRanks(hub, rank, count));
    } catch (...) {
      {
        const std::lock_guard lock(hub.mutex);
        if (!hub.error) hub.error = std::current_exception();
      }
      hub.barrier.fail();
    }
  };
  {
    const host::Asleep until_they_end;
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < count; ++rank) threads.emplace_back(one, rank);
  }
  if (hub.error) std::rethrow_exception(hub.error);
}

}  // namespace strata::cuda
