#include "sim/strategy/schedule.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace strata {
namespace {

Pipeline chain(std::size_t stages, std::size_t chunks_per_stage, bool v = false) {
  Pipeline pipeline{stages, {}, {}};
  for (std::uint32_t k = 0; k < stages * chunks_per_stage; ++k) {
    const auto p = static_cast<std::uint32_t>(stages);
    pipeline.stage_of.push_back(!v || k < p ? k % p : 2 * p - 1 - k);
    pipeline.feeds_on.push_back(k == 0 ? std::vector<std::uint32_t>{}
                                       : std::vector<std::uint32_t>{k - 1});
  }
  return pipeline;
}

/// Of one chunk and round; a whole backward pass takes both of its parts.
struct Times {
  std::int64_t forward = 1, inputs = 1, weights = 1;
  std::int64_t of(Pass pass) const {
    return pass == Pass::forward           ? forward
           : pass == Pass::backward        ? inputs + weights
           : pass == Pass::backward_inputs ? inputs
                                           : weights;
  }
};

struct Outcome {
  std::int64_t step = 0;                ///< from the first start to the last end, over all stages
  std::vector<std::int64_t> idle;       ///< by stage, between its first start and its last end
  std::vector<std::int64_t> most_kept;  ///< by stage: forward passes whose backward is to come
};

// Every stage does one thing after another; what it needs of others is there at once.
Outcome run(const Schedule& schedule, const Pipeline& pipeline, const Times& times) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::int64_t> ends;  // true: forward
  std::vector<std::int64_t> free(schedule.size()), first(schedule.size(), -1),
      busy(schedule.size());
  std::vector<std::int64_t> kept(schedule.size());
  Outcome result{0, {}, std::vector<std::int64_t>(schedule.size())};
  for (const Instance& i : in_one_order(schedule, pipeline)) {
    const std::uint32_t stage = pipeline.stage_of[i.chunk];
    std::int64_t ready = free[stage];
    const auto wait = [&](std::uint32_t chunk, bool forward) {
      ready = std::max(ready, ends.at({chunk, i.round, forward}));
    };
    if (i.pass == Pass::forward) {
      for (std::uint32_t before : pipeline.feeds_on[i.chunk]) wait(before, true);
    } else if (i.pass != Pass::backward_weights) {
      wait(i.chunk, true);
      for (std::uint32_t k = 0; k < pipeline.chunks(); ++k) {
        const auto& feeds = pipeline.feeds_on[k];
        if (std::find(feeds.begin(), feeds.end(), i.chunk) != feeds.end()) wait(k, false);
      }
    }
    if (first[stage] < 0) first[stage] = ready;
    free[stage] = ready + times.of(i.pass);
    busy[stage] += times.of(i.pass);
    if (i.pass != Pass::backward_weights) {
      ends[{i.chunk, i.round, i.pass == Pass::forward}] = ready + times.of(i.pass);
    }
    kept[stage] += i.pass == Pass::forward ? 1 : i.pass == Pass::backward ? -1 : 0;
    kept[stage] -= i.pass == Pass::backward_weights ? 1 : 0;
    result.most_kept[stage] = std::max(result.most_kept[stage], kept[stage]);
  }
  for (std::size_t s = 0; s < schedule.size(); ++s) {
    result.idle.push_back(free[s] - first[s] - busy[s]);
    result.step = std::max(result.step, free[s]);
  }
  return result;
}

constexpr Times kUneven{3, 4, 2};
/// Multiples of each number of stages up to 16, fewer than twice as many, and others.
constexpr std::int64_t kRounds[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 18, 20, 22, 24, 26, 28, 30, 31, 32, 39, 45, 48, 52, 64};

TEST(Schedule, IdleTimesAreThoseOfTheFormulas) {
  for (std::int64_t p = 2; p <= 16; ++p) {
    for (const std::int64_t m : kRounds) {
      const Pipeline one = chain(static_cast<std::size_t>(p), 1);
      const auto rounds = static_cast<std::uint32_t>(m);
      const std::int64_t all = kUneven.forward + kUneven.inputs + kUneven.weights;
      for (const ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b}) {
        const Outcome found = run(schedule(kind, one, rounds), one, kUneven);
        EXPECT_EQ(found.step, (m + p - 1) * all) << name(kind) << " " << p << " " << m;
      }
      const Outcome found = run(schedule(ScheduleKind::one_f_one_b, one, rounds), one, kUneven);
      for (std::int64_t i = 0; i < p; ++i) {
        EXPECT_EQ(found.most_kept[static_cast<std::size_t>(i)], std::min(m, p - i));
      }
      for (const std::int64_t v : {2, 3, 4}) {
        if (m % p != 0) continue;
        const Pipeline several = chain(static_cast<std::size_t>(p), static_cast<std::size_t>(v));
        const Outcome chunks =
            run(schedule(ScheduleKind::interleaved, several, rounds), several, kUneven);
        EXPECT_EQ(chunks.step, (m * v + p - 1) * all)
            << "interleaved " << p << " " << m << " " << v;
      }
    }
  }
}

TEST(Schedule, ZeroBubbleFillsTheWait) {
  for (std::int64_t p = 2; p <= 16; ++p) {
    for (const std::int64_t m : kRounds) {
      const auto rounds = static_cast<std::uint32_t>(m);
      const Pipeline one = chain(static_cast<std::size_t>(p), 1);
      for (const Times times : {Times{1, 1, 1}, Times{3, 3, 2}}) {
        const Outcome found = run(schedule(ScheduleKind::zb_h1, one, rounds), one, times);
        const std::int64_t all = times.forward + times.inputs + times.weights;
        const std::int64_t bubble = (p - 1) * (times.forward + times.inputs - times.weights);
        if (m < p) continue;
        EXPECT_EQ(found.step, m * all + bubble) << "zb-h1 " << p << " " << m;
      }
      const Pipeline v = chain(static_cast<std::size_t>(p), 2, true);
      const Outcome found = run(schedule(ScheduleKind::zb_v, v, rounds), v, {});
      if (m < 2 * p - 1) continue;
      for (const std::int64_t idle : found.idle) EXPECT_EQ(idle, 0) << "zb-v " << p << " " << m;
    }
  }
}

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Schedule, RefusesWhatDoesNotSuitIt) {
  EXPECT_EQ(error_of([] { schedule(ScheduleKind::one_f_one_b, chain(2, 2), 4); }),
            "schedule 1f1b: 4 chunks of layers on 2 stages; allowed: one for each (without vp)");
  EXPECT_EQ(error_of([] { schedule(ScheduleKind::zb_v, chain(2, 2), 4); }),
            "schedule zb-v: 4 chunks of layers on 2 stages; allowed: two for each, the second ones "
            "in reverse (hybrid:pp=P,vp=v)");
  EXPECT_EQ(error_of([] { schedule(ScheduleKind::interleaved, chain(4, 2), 7); }), "none");
  EXPECT_EQ(error_of([] { schedule(ScheduleKind::interleaved, chain(4, 2), 9); }),
            "schedule interleaved: 9 rounds do not divide into groups of about 4; allowed: a "
            "multiple of the 4 stages");
}

TEST(Schedule, NamesWhoWaitsForWhom) {
  const Pipeline two = chain(2, 1);
  const Schedule circle = {{{0, 0, Pass::forward},
                            {0, 0, Pass::backward},
                            {0, 1, Pass::forward},
                            {0, 1, Pass::backward}},
                           {{1, 1, Pass::forward},
                            {1, 1, Pass::backward},
                            {1, 0, Pass::forward},
                            {1, 0, Pass::backward}}};
  check_schedule(circle, two, 2);
  EXPECT_EQ(error_of([&] { in_one_order(circle, two); }),
            "the schedule ends in a deadlock: stage 0 waits in 0B0 for 1B0 of stage 1; stage 1 "
            "waits in 1F1 for 0F1 of stage 0");
}

std::string marked(const std::vector<Instance>& stage) {
  std::string all;
  for (const Instance& instance : stage) {
    all += (all.empty() ? "" : instance.beside ? "+" : " ") + text(instance);
  }
  return all;
}

// Each stage is two forward passes further ahead than the next one: in the pair that the next one
// computes meanwhile, both are those that this one made before.
TEST(Schedule, OverlapsForwardPassesWithBackwardOnes) {
  ScheduleChoice choice;
  choice.overlap = PassOverlap::experts;
  std::vector<std::vector<Instance>> stages(2);
  for (const Instance& instance : instances(choice, chain(2, 1), 4)) {
    stages[instance.chunk].push_back(instance);
  }
  EXPECT_EQ(marked(stages[0]), "0F0 0F1 0F2 0B0+0F3 0B1 0B2 0B3");
  EXPECT_EQ(marked(stages[1]), "1F0 1B0+1F1 1B1+1F2 1B2+1F3 1B3");
}

TEST(Schedule, ReadsWhatOverlaps) {
  const std::string file = testing::TempDir() + "/overlap.csv";
  std::ofstream(file) << "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n";
  EXPECT_EQ(marked(read_schedule(file).front()), "0F0 0F1+0B0 0B1");
  std::ofstream(file) << "0F0,(0F1;0B)OVERLAP_F_B\n";
  EXPECT_EQ(error_of([&] { read_schedule(file); }),
            file + ":1: '0B' is no instance; allowed: a chunk, F, B, I or W, and a round: 0F3");
}

TEST(Schedule, ReadsALineForEachStage) {
  const std::string file = testing::TempDir() + "/schedule.csv";
  std::ofstream(file) << "# two stages\n0F0,0F1,,0I0,0W0, 0B1\n1F0,1B0,1F1,1B1\n";
  const Schedule read = read_schedule(file);
  ASSERT_EQ(read.size(), 2);
  ASSERT_EQ(read[0].size(), 5);
  EXPECT_EQ(text(read[0][2]), "0I0");
  EXPECT_EQ(read[1][3], (Instance{1, 1, Pass::backward}));
  check_schedule(read, chain(2, 1), 2);
  EXPECT_EQ(error_of([&] { check_schedule(read, chain(2, 1), 3); }),
            "stage 0: 0F2 is missing; the step has 3 rounds (`micro_batch`)");
  std::ofstream(file) << "0F0,0G0\n";
  EXPECT_EQ(error_of([&] { read_schedule(file); }),
            file + ":1: '0G0' is no instance; allowed: a chunk, F, B, I or W, and a round: 0F3");
}

}  // namespace
}  // namespace strata
