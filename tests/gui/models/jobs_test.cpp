// Work in the background: one job a lane, the newest counts, errors and cancelling, closing while
// something runs. Jobs wait for one another with promises: nothing here depends on time.

#include "gui/models/jobs.h"

#include <QThread>
#include <future>
#include <memory>

#include <gmock/gmock.h>

#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "tests/gui/models/event_loop.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::wait_until;

/// Jobs that note in `shown` what came of them, and wait for `go` before they end.
struct Bench {
  Bench() { testing::application(); }

  Jobs::Work work(int number) {
    return [this, number](Progress&) -> Jobs::Show {
      gate.wait();
      return [this, number] { shown.push_back(number); };
    };
  }
  void start(int number, WhenStale when_stale) {
    jobs.start(
        &jobs, "lane", "counting", work(number), [this](const QString& e) { errors.push_back(e); },
        when_stale);
  }

  std::promise<void> go;
  std::shared_future<void> gate = go.get_future().share();
  std::vector<int> shown;
  std::vector<QString> errors;
  Jobs jobs;
};

TEST(Jobs, WorkElsewhereAndShowInTheWindowsThread) {
  Bench bench;
  QThread* const here = QThread::currentThread();
  QThread *worked = nullptr, *shown = nullptr;
  bench.jobs.start(&bench.jobs, "lane", "looking",
                   [&](Progress&) -> Jobs::Show {
                     worked = QThread::currentThread();
                     return [&] { shown = QThread::currentThread(); };
                   },
                   {});
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_EQ(shown, here);
  EXPECT_NE(worked, here);
}

// While 1 runs, 2 waits, and then 3 takes its place.
TEST(Jobs, TheNewestOfALaneCounts) {
  Bench bench;
  for (int number = 1; number <= 3; ++number) bench.start(number, WhenStale::cancel);
  bench.go.set_value();
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, ElementsAre(3));
}

TEST(Jobs, AStaleResultMayBeShownUntilTheNewerIsThere) {
  Bench bench;
  for (int number = 1; number <= 3; ++number) bench.start(number, WhenStale::show);
  bench.go.set_value();
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, ElementsAre(1, 3));
}

TEST(Jobs, LanesRunBesideEachOther) {
  Bench bench;
  bench.start(1, WhenStale::cancel);
  bench.jobs.start(&bench.jobs, "other", "opening the gate",
                   [&](Progress&) -> Jobs::Show {
                     bench.go.set_value();
                     return {};
                   },
                   {});
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, ElementsAre(1));
}

// However many jobs are under way.
TEST(Jobs, WhatIsSavedWaitsForNobody) {
  Bench bench;
  for (int i = 0; i < QThread::idealThreadCount() + 8; ++i) {
    bench.jobs.start(&bench.jobs, QString::number(i), "waiting", bench.work(i), {});
  }
  bench.jobs.start(&bench.jobs, kSavingLane, "saving", [](Progress&) -> Jobs::Show { return {}; },
                   {});
  EXPECT_TRUE(wait_until([&] { return !bench.jobs.busy(kSavingLane); }));
  bench.go.set_value();
  EXPECT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
}

TEST(Jobs, SayWhatWentWrong) {
  Bench bench;
  const auto failing = [&](const QString& lane, const std::function<void()>& throws) {
    bench.jobs.start(
        &bench.jobs, lane, "failing",
        [throws](Progress&) -> Jobs::Show {
          throws();
          return {};
        },
        [&](const QString& e) { bench.errors.push_back(e); });
    EXPECT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  };
  failing("a", [] { throw InputError("x.toml:3: is wrong"); });
  failing("b", [] { throw std::bad_alloc(); });
  failing("c", [] { throw Cancelled(); });
  EXPECT_THAT(bench.errors, ElementsAre(QString("x.toml:3: is wrong"), QString("out of memory")));
}

TEST(Jobs, CanBeCalledOff) {
  Bench bench;
  bench.jobs.start(
      &bench.jobs, "lane", "waiting for the flag",
      [](Progress& progress) -> Jobs::Show {
        while (!is_set(progress.cancelled())) QThread::yieldCurrentThread();
        throw Cancelled();
      },
      [&](const QString& e) { bench.errors.push_back(e); });
  bench.start(2, WhenStale::cancel);
  EXPECT_TRUE(bench.jobs.busy("lane"));
  bench.jobs.cancel("lane");
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, IsEmpty());
  EXPECT_THAT(bench.errors, IsEmpty());
}

// What it has by then is shown, unless it is called off after that.
TEST(Jobs, ShowWhatTheyHaveWhenTheyAreStopped) {
  Bench bench;
  const auto start = [&](int number) {
    bench.jobs.start(&bench.jobs, "lane", "until stopped",
                     [&, number](Progress& progress) -> Jobs::Show {
                       while (!is_set(progress.cancelled())) QThread::yieldCurrentThread();
                       bench.gate.wait();
                       return [&bench, number] { bench.shown.push_back(number); };
                     },
                     {});
  };
  start(1);
  bench.start(2, WhenStale::show);
  bench.jobs.stop("lane");
  bench.go.set_value();
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, IsEmpty()) << "2 came after it, and was dropped";
  start(3);
  bench.jobs.stop("lane");
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, ElementsAre(3));
  start(4);
  bench.jobs.stop("lane");
  bench.jobs.cancel("lane");
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_THAT(bench.shown, ElementsAre(3));
}

TEST(Jobs, TellHowFarTheyAre) {
  Bench bench;
  std::promise<void> told;
  bench.jobs.start(&bench.jobs, "lane", "measuring",
                   [&](Progress& progress) -> Jobs::Show {
                     progress.report(0.25, "3 of 12");
                     told.set_value();
                     bench.gate.wait();
                     return {};
                   },
                   {});
  told.get_future().wait();
  const std::vector<JobState> running = bench.jobs.running();
  ASSERT_EQ(running.size(), 1);
  EXPECT_EQ(running[0].what, "measuring");
  EXPECT_EQ(running[0].text, "3 of 12");
  EXPECT_EQ(running[0].fraction, 0.25);
  bench.go.set_value();
  EXPECT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
}

// The work is done to its end, and what comes of it is nobody's.
TEST(Jobs, AnAnswerIsDroppedWithItsReceiver) {
  Bench bench;
  auto view = std::make_unique<QObject>();
  bool worked = false;
  const auto answer = [&](const QString& lane, bool fails) {
    bench.jobs.start(
        view.get(), lane, "for a view",
        [&, fails](Progress&) -> Jobs::Show {
          bench.gate.wait();
          if (fails) throw InputError("is wrong");
          worked = true;
          return [&] { bench.shown.push_back(1); };
        },
        [&](const QString& e) { bench.errors.push_back(e); });
  };
  answer("lane", false);
  answer("another", true);
  view.reset();
  bench.go.set_value();
  ASSERT_TRUE(wait_until([&] { return bench.jobs.idle(); }));
  EXPECT_TRUE(worked);
  EXPECT_THAT(bench.shown, IsEmpty());
  EXPECT_THAT(bench.errors, IsEmpty());
}

// What ended but was not shown yet is dropped with them.
TEST(Jobs, EndWithTheirOwner) {
  testing::application();
  bool shown = false, seen = false;
  {
    Jobs jobs;
    jobs.start(&jobs, "lane", "until called off",
               [&](Progress& progress) -> Jobs::Show {
                 while (!is_set(progress.cancelled())) QThread::yieldCurrentThread();
                 seen = true;
                 return [&] { shown = true; };
               },
               {});
  }
  QCoreApplication::processEvents();
  EXPECT_TRUE(seen);
  EXPECT_FALSE(shown);
}

}  // namespace
}  // namespace strata::gui
