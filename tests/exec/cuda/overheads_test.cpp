// On the host that stands for a GPU, whose clock counts pieces of work, a microsecond each.

#include "tests/exec/cuda/overheads.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "tests/exec/cuda/host_device.h"

namespace strata::cuda {
namespace {

constexpr double kPiece = 1e-6, kTiny = 1e-12;

// Of two marks, the second is one piece after the first.
TEST(Overheads, AnEmptyPairIsOneMark) {
  Stream stream(0);
  const Seen pair = empty_pair(stream);
  EXPECT_NEAR(pair.median.value, kPiece, kTiny);
  EXPECT_NEAR(pair.least.value, kPiece, kTiny);
  EXPECT_NEAR(pair.most.value, kPiece, kTiny);
}

// A round that was not held tells of the host.
TEST(Overheads, AnEmptyPairIsMeasuredAgainWhereTheStreamDidNotWait) {
  Stream stream(0);
  const auto events = [&] {
    const std::size_t before = host::events(EventKind::time);
    empty_pair(stream);
    return host::events(EventKind::time) - before;
  };
  const std::size_t once = events();
  host::run_ahead(once / 2);
  EXPECT_EQ(events(), 2 * once);
}

TEST(Overheads, AreNotMeasuredWhereTheStreamNeverWaits) {
  Stream stream(0);
  host::run_ahead(1'000'000);
  EXPECT_THROW(empty_pair(stream), EnvironmentError);
  EXPECT_THROW(launched_chain(stream), EnvironmentError);
  host::run_ahead(0);
}

// What comes once is the mark at the end; asking is no work of the stream's.
TEST(Overheads, AChainTakesAPieceForEachTask) {
  Stream stream(0);
  const Chain chain = launched_chain(stream);
  EXPECT_NEAR(chain.each.value, kPiece, kTiny);
  EXPECT_NEAR(chain.begin.value, kPiece, kTiny);
  EXPECT_EQ(chain.asked.value, 0);
}

// Beside the mark at the end, playing marks its own beginning and end, and each is waited for.
TEST(Overheads, ARecordedChainHasItsPiecesAndWhatPlayingTakes) {
  Stream stream(0);
  const Chain chain = recorded_chain(stream);
  EXPECT_NEAR(chain.each.value, kPiece, kTiny);
  EXPECT_NEAR(chain.begin.value, 5 * kPiece, kTiny);
}

TEST(Overheads, CopiesAreTimedBothWaysFromBothKindsOfMemory) {
  Stream stream(0);
  const std::vector<CopyTime> times = copy_times(stream, {4096, 65536});
  ASSERT_EQ(times.size(), 8U);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].bytes, i < 4 ? 4096 : 65536);
    EXPECT_EQ(times[i].host, i % 4 < 2 ? HostMemoryKind::pinned : HostMemoryKind::pageable);
    EXPECT_EQ(times[i].to_gpu, i % 2 == 0);
    EXPECT_NEAR(times[i].seconds.value, kPiece, kTiny);
  }
}

TEST(Overheads, AreWrittenInSeconds) {
  Stream stream(0);
  const nlohmann::ordered_json json = stream_overheads(stream, {4096});
  EXPECT_NEAR(json["empty_event_pair"]["median_seconds"].get<double>(), kPiece, kTiny);
  EXPECT_NEAR(json["launched_chain"]["seconds_per_task"].get<double>(), kPiece, kTiny);
  EXPECT_NEAR(json["recorded_chain"]["begin_seconds"].get<double>(), 5 * kPiece, kTiny);
  EXPECT_EQ(json["copies"].size(), 4U);
  EXPECT_EQ(json["copies"][3]["host"], "pageable");
  EXPECT_EQ(json["copies"][3]["to_gpu"], false);
}

}  // namespace
}  // namespace strata::cuda
