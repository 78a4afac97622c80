#include "sim/exporters/chakra/waits.h"

#include <array>

#include <gtest/gtest.h>

#include "sim/plan/plan_builder.h"

namespace strata {
namespace {

const DeviceId a(0), b(1), c(2);
const LayerId layer(0);

Task compute(DeviceId device) {
  return {TaskKind::compute, Phase::forward, layer, device, 0, 0, Stream::device};
}
Task transfer(DeviceId to) {
  return {TaskKind::transfer, Phase::forward, layer, to, 0, 0, Stream::links};
}

std::vector<StepTask> step0(std::vector<TaskId> tasks) {
  std::vector<StepTask> all;
  for (TaskId task : tasks) all.push_back({0, task});
  return all;
}

TEST(Waits, OfATransferStandWhereItsDataAreMadeAndWhereTheyGo) {
  PlanBuilder builder(DType::fp32, 2);
  const TaskId made = builder.add(compute(a), {});
  const TaskId room = builder.add(compute(b), {});
  const Piece piece{a, {}, {8}};
  const TaskId moved = builder.add_transfer(transfer(b), 0, {&piece, 1}, {made, room});
  const Plan plan = std::move(builder).build();
  const Waits waits(plan);
  EXPECT_EQ(waits.on(a, {0, moved}), step0({made}));
  EXPECT_EQ(waits.on(b, {0, moved}), step0({room}));
  EXPECT_EQ(waits.left_out({0, moved}), 0u);
}

// a may overwrite what it sent to b when that has left: its own end of the transfer.
TEST(Waits, ForWhatADeviceSentAreForItsOwnEnd) {
  PlanBuilder builder(DType::fp32, 2);
  const TaskId made = builder.add(compute(a), {});
  const Piece piece{a, {}, {8}};
  const TaskId moved = builder.add_transfer(transfer(b), 0, {&piece, 1}, {made});
  builder.carry(made, moved);
  const Plan plan = std::move(builder).build();
  const Waits waits(plan);
  EXPECT_EQ(waits.on(a, {0, made}), step0({}));
  EXPECT_EQ(waits.on(a, {1, made}), step0({moved}));
  EXPECT_EQ(waits.left_out({1, made}), 0u);
}

// Of the producers behind a join, c sends nothing to b: that wait has no message.
TEST(Waits, BehindAJoinAreForItsTasks) {
  PlanBuilder builder(DType::fp32, 3);
  const TaskId by_a = builder.add(compute(a), {});
  const TaskId by_b = builder.add(compute(b), {});
  const TaskId by_c = builder.add(compute(c), {});
  const TaskId join = builder.add({TaskKind::join, Phase::forward, layer, {}, 0, 0, Stream::links},
                                  {by_a, by_b, by_c});
  const Piece piece{a, {}, {8}};
  const TaskId moved = builder.add_transfer(transfer(b), 0, {&piece, 1}, {join});
  const Plan plan = std::move(builder).build();
  const Waits waits(plan);
  EXPECT_EQ(waits.on(a, {0, moved}), step0({by_a}));
  EXPECT_EQ(waits.on(b, {0, moved}), step0({by_b}));
  EXPECT_EQ(waits.left_out({0, moved}), 1u);
}

// Everyone's reduction must end before anyone fetches: on b, b's own part says so.
TEST(Waits, ForAPeersPartInAGroupAreForTheOwn) {
  PlanBuilder builder(DType::fp32, 2);
  const std::uint32_t shape = builder.add_group_shape({{a, b}, {}});
  const std::uint32_t group =
      builder.add_group({GroupPurpose::parameters, SyncAlgorithm::ring, shape, {8}, {}, {}, {}});
  const TaskId by_a = builder.add(compute(a), {}), by_b = builder.add(compute(b), {});
  const auto part = [](TaskKind kind, DeviceId device) {
    return Task{kind, Phase::update, layer, device, 0, 0, Stream::device};
  };
  const TaskId reduce_a = builder.join_group(group, part(TaskKind::reduce, a), {by_a, by_b});
  const TaskId reduce_b = builder.join_group(group, part(TaskKind::reduce, b), {by_a, by_b});
  builder.gather_group(group, part(TaskKind::gather, a), {reduce_a, reduce_b});
  const TaskId gather_b =
      builder.gather_group(group, part(TaskKind::gather, b), {reduce_a, reduce_b});
  const Plan plan = std::move(builder).build();
  const Waits waits(plan);
  EXPECT_EQ(waits.on(b, {0, reduce_b}), step0({by_b}));
  EXPECT_EQ(waits.on(b, {0, gather_b}), step0({reduce_b}));
  EXPECT_EQ(waits.left_out({0, gather_b}), 0u);
}

// Both gather what both made: each device's node waits for its own producer, which it reads and
// sends, and what follows on b waits for b's node, also where it needs what a fetched.
TEST(Waits, OfAnExchangeAreForWhatEachDeviceSendsAndReads) {
  PlanBuilder builder(DType::fp32, 2);
  const std::uint32_t shape = builder.add_group_shape({{a, b}, {}});
  const std::uint32_t exchange = builder.add_exchange(GroupWork::all_gather, shape, {16}, 1);
  const TaskId by_a = builder.add(compute(a), {}), by_b = builder.add(compute(b), {});
  const Piece from_a{a, {}, {8}}, from_b{b, {}, {8}};
  const TaskId to_a =
      builder.add_transfer(transfer(a), 0, {&from_b, 1}, std::array{by_b}, 1, exchange);
  const TaskId to_b =
      builder.add_transfer(transfer(b), 0, {&from_a, 1}, std::array{by_a}, 1, exchange);
  const TaskId after = builder.add(compute(b), {to_a, to_b});
  const Plan plan = std::move(builder).build();
  const Waits waits(plan);
  EXPECT_EQ(waits.on(a, {0, to_a}), step0({by_a}));
  EXPECT_EQ(waits.on(b, {0, to_b}), step0({by_b}));
  EXPECT_EQ(waits.on(b, {0, after}), step0({to_b}));
  EXPECT_EQ(waits.left_out({0, to_a}) + waits.left_out({0, after}), 0u);
}

// c fetches from a and from b, one transfer each: the first stands for both.
TEST(Waits, OfADevicesPartsOfAnExchangeAreThoseOfTheFirst) {
  PlanBuilder builder(DType::fp32, 3);
  const std::uint32_t shape = builder.add_group_shape({{a, b, c}, {}});
  const std::uint32_t exchange = builder.add_exchange(GroupWork::all_gather, shape, {24}, 1);
  const TaskId by_a = builder.add(compute(a), {}), by_b = builder.add(compute(b), {}),
               by_c = builder.add(compute(c), {});
  const Piece from_a{a, {}, {8}}, from_b{b, {}, {8}};
  const auto to_c = [&](const Piece& piece, TaskId made) {
    return builder.add_transfer(transfer(c), 0, {&piece, 1}, std::array{made, by_c}, 1, exchange);
  };
  const TaskId first = to_c(from_a, by_a), second = to_c(from_b, by_b);
  const TaskId after = builder.add(compute(c), {second});
  const Plan plan = std::move(builder).build();
  const Waits waits(plan);
  EXPECT_EQ(waits.first_part(second), first);
  EXPECT_EQ(waits.on(c, {0, first}), step0({by_c}));
  EXPECT_EQ(waits.on(c, {0, after}), step0({first}));
}

}  // namespace
}  // namespace strata
