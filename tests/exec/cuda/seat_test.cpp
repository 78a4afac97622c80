// What a seat's kernels find of the step that they belong to, however far the host is ahead.

#include "exec/cuda/streams/seat.h"

#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "tests/exec/cuda/gpu_array.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

constexpr std::uint64_t kSteps = 3 * PinnedRing::kSlots + 5;

/// What it found at its turn: the step, its first label and its last.
struct Note {
  const StepState* step;
  const std::int64_t* labels;
  std::int64_t last;
  std::uint64_t* to;
  STRATA_ANYWHERE void operator()(std::int64_t) const {
    to[0] = step->step;
    to[1] = static_cast<std::uint64_t>(labels[0]);
    to[2] = static_cast<std::uint64_t>(labels[last]);
  }
};

/// Of steps that are all begun before anybody waits: 3 numbers each. `count`: of a step's labels.
template <class Count>
std::vector<std::uint64_t> noted(Seat& seat, const Count& count) {
  GpuArray<std::uint64_t> notes(seat.stream(), std::vector<std::uint64_t>(3 * kSteps));
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    // Gone when the seat has been told.
    std::vector<std::int64_t> labels(count(step));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int64_t>(1000 * step + i);
    }
    seat.begin_step({step, 0, labels});
    labels.assign(labels.size(), -1);
    each(seat.stream(), 1,
         Note{seat.step(), seat.labels(), static_cast<std::int64_t>(labels.size()) - 1,
              notes.data() + 3 * step});
  }
  return notes.get();
}

template <class Count>
std::vector<std::uint64_t> told(const Count& count) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    all.insert(all.end(), {step, 1000 * step, 1000 * step + count(step) - 1});
  }
  return all;
}

TEST(SeatTest, KernelsFindTheStepThatTheyWereAskedForIn) {
  const auto four = [](std::uint64_t) { return std::size_t{4}; };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    host::draw_orders_from(seed);
    Seat seat(0, Precision::fp32);
    EXPECT_EQ(noted(seat, four), told(four)) << seed;
  }
}

TEST(SeatTest, BatchesMayGrowUnderWay) {
  const auto more = [](std::uint64_t step) { return std::size_t{1} + 10 * (step / 20); };
  Seat seat(0, Precision::fp32);
  EXPECT_EQ(noted(seat, more), told(more));
}

// However late a copy reads the host's pageable memory, nothing of it is read.
TEST(SeatTest, WhatItIsToldMayGoAtOnce) {
  Seat seat(0, Precision::fp32);
  GpuArray<std::int64_t> kept(seat.stream(), std::vector<std::int64_t>(1000));
  seat.stream().finish();
  host::read_pageable_late(true);
  std::vector<std::int64_t> values(1000, 7);
  seat.tell(kept.data(), std::as_bytes(std::span(values)));
  values.assign(values.size(), -1);
  seat.stream().finish();
  host::read_pageable_late(false);
  EXPECT_EQ(kept.get(), std::vector<std::int64_t>(1000, 7));
}

// A copy and the mark behind it are two pieces of work, by the clock of the host that stands for a
// GPU: one in all is waited for.
TEST(SeatTest, AHostAheadByAWholeRingWaitsForTheOldestStepAlone) {
  Seat seat(0, Precision::fp32);
  for (std::size_t step = 0; step < PinnedRing::kSlots; ++step) seat.begin_step({step, 0, {}});
  const Seconds before = now();
  seat.begin_step({PinnedRing::kSlots, 0, {}});
  EXPECT_NEAR((now() - before).value, 2e-6, 1e-9);
  seat.stream().finish();
}

// Which the other tests stand on.
TEST(GpuArray, KeepsValuesThatChangeLater) {
  host::read_pageable_late(true);
  Stream stream(0);
  std::vector<float> values = {1, 2, 3};
  const GpuArray<float> array(stream, values);
  values.assign(3, -1);
  EXPECT_EQ(array.get(), (std::vector<float>{1, 2, 3}));
  host::read_pageable_late(false);
}

}  // namespace
}  // namespace strata::cuda
