// Threads that wait for each other, spinning and asleep.

#include "exec/calibrate/meeting.h"

#include <atomic>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "exec/runtime/spin.h"

namespace strata {
namespace {

TEST(Meeting, NobodyIsARoundAhead) {
  constexpr std::size_t kThreads = 3, kTimes = 50;
  for (bool keeps_core : {false, true}) {
    Meeting meeting(kThreads, keeps_core);
    std::atomic<std::size_t> arrived = 0, early = 0, last = 0;
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
          for (std::size_t time = 1; time <= kTimes; ++time) {
            ++arrived;
            const auto wait = meeting.arrive_and_wait();
            last += !wait;
            early += arrived < time * kThreads || (wait && wait->late < Seconds{0});
          }
        });
      }
    }
    EXPECT_EQ(early, 0u);
    EXPECT_EQ(last, kTimes);  // one of them each time
  }
}

TEST(Meeting, WhoLeavesIsNotWaitedFor) {
  Meeting meeting(2, true);
  std::jthread other([&] { meeting.arrive_and_wait(); });
  meeting.leave();
  other.join();
  EXPECT_FALSE(meeting.arrive_and_wait());
}

double cpu_seconds_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// As a run's threads do: who is waited for takes twenty times as long as anybody spins.
TEST(Meeting, WhoWaitsLongSleeps) {
  Meeting meeting(2, true);
  double cpu = 0;
  std::optional<Wait> wait;
  std::jthread other([&] {
    const double before = cpu_seconds_of_thread();
    wait = meeting.arrive_and_wait();
    cpu = cpu_seconds_of_thread() - before;
  });
  std::this_thread::sleep_for(20 * kSoon);
  const bool last = !meeting.arrive_and_wait();
  other.join();
  if (!last) return;  // the other thread began when this one had slept
  ASSERT_TRUE(wait);
  EXPECT_LT(cpu, 10 * std::chrono::duration<double>(kSoon).count());
}

TEST(Spin, EndsWithTheNumberOrTheTime) {
  const auto now = std::chrono::steady_clock::now();
  std::atomic<std::uint32_t> number = 7;
  EXPECT_FALSE(spin_while(number, 7, now));
  EXPECT_TRUE(spin_while(number, 6, now));
  std::jthread other([&] { number = 8; });
  EXPECT_TRUE(spin_while(number, 7, now + std::chrono::hours(1)));
}

}  // namespace
}  // namespace strata
