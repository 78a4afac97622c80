#include "sim/cost/measured_moves.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/sim/cost/toy_profile.h"

namespace strata {
namespace {

MeasuredMove row(MoveKind kind, std::int64_t bytes, double seconds) {
  return {kind, {bytes}, {seconds}, {0}, 10, "here"};
}

Cost ask(const Profile& profile, MoveKind kind, std::int64_t bytes) {
  return make_cost_model(profile)->move(kind, {bytes});
}

void expect_move(const Cost& cost, CostSource source, double seconds) {
  EXPECT_EQ(cost.source, source);
  EXPECT_NEAR(cost.seconds.value, seconds, 1e-12 * seconds);
}

// A hundred times the bytes take ten times as long, so ten times take its root.
TEST(MeasuredMoves, BetweenTwoRowsTheLogarithmsAreLinear) {
  Profile p = toy_profile();
  p.moves = {row(MoveKind::copy, 1'000, 1.0), row(MoveKind::copy, 100'000, 10.0),
             row(MoveKind::copy, 10'000'000, 1000.0)};
  expect_move(ask(p, MoveKind::copy, 1'000), CostSource::measured, 1);
  expect_move(ask(p, MoveKind::copy, 10'000), CostSource::interpolated, std::sqrt(10.0));
  expect_move(ask(p, MoveKind::copy, 100'000), CostSource::measured, 10);
  expect_move(ask(p, MoveKind::copy, 1'000'000), CostSource::interpolated, 100);
  expect_move(ask(p, MoveKind::copy, 10'000'000), CostSource::measured, 1000);
}

TEST(MeasuredMoves, BelowAllRowsTheLatencyStaysAndAboveThemTheBandwidth) {
  Profile p = toy_profile();
  p.moves = {row(MoveKind::copy, 1'000, 1.0), row(MoveKind::copy, 100'000, 10.0)};
  expect_move(ask(p, MoveKind::copy, 1), CostSource::interpolated, 1);
  expect_move(ask(p, MoveKind::copy, 999), CostSource::interpolated, 1);
  expect_move(ask(p, MoveKind::copy, 300'000), CostSource::interpolated, 30);
}

// Each kind has rows of its own. The toy: 10 us a call, 50 GB/s; 500,000 bytes once over are 10 us.
TEST(MeasuredMoves, AKindWithoutRowsCostsItsPasses) {
  Profile p = toy_profile();
  expect_move(ask(p, MoveKind::copy, 500'000), CostSource::analytic, 10e-6 + 2 * 10e-6);
  expect_move(ask(p, MoveKind::local, 500'000), CostSource::analytic, 10e-6 + 2 * 10e-6);
  expect_move(ask(p, MoveKind::reduce, 500'000), CostSource::analytic, 10e-6 + 3 * 10e-6);
  p.moves = {row(MoveKind::reduce, 500'000, 7.0)};
  expect_move(ask(p, MoveKind::copy, 500'000), CostSource::analytic, 30e-6);
  expect_move(ask(p, MoveKind::reduce, 500'000), CostSource::measured, 7);
  expect_move(ask(p, MoveKind::reduce, 1'000'000), CostSource::interpolated, 14);
}

TEST(MeasuredMoves, NothingMovedCostsNothing) {
  Profile p = toy_profile();
  p.moves = {row(MoveKind::copy, 1'000, 1.0)};
  EXPECT_EQ(ask(p, MoveKind::copy, 0).seconds, Seconds{});
  EXPECT_EQ(ask(p, MoveKind::local, 0).seconds, Seconds{});
}

// A flaw of the measurement (more bytes, less time) is passed on, not smoothed.
TEST(MeasuredMoves, RowsAreTakenAsTheyAre) {
  Profile p = toy_profile();
  p.moves = {row(MoveKind::copy, 1'000, 100.0), row(MoveKind::copy, 100'000, 1.0)};
  expect_move(ask(p, MoveKind::copy, 10'000), CostSource::interpolated, 10);
}

}  // namespace
}  // namespace strata
