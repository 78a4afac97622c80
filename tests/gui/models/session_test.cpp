// A session's file, whenever the window is closed: the newest document is in it. Each of several
// programs has its own, and what one left another takes up.

#include "gui/models/session.h"

#include <QFile>
#include <QTemporaryDir>
#include <future>
#include <optional>

#include <gtest/gtest.h>

#include "sim/text/file.h"
#include "tests/gui/models/cases.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using testing::wait_until;

Document lenet_on_two(const std::string& strategy) {
  return document_of("lenet5", "p100-1x2", strategy);
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    testing::application();
    session_.emplace(workspace_, folder_.path());
  }
  /// The lane of saves, until it is let go.
  void block() {
    workspace_.jobs().start(
        &workspace_, kSavingLane, QStringLiteral("a slow disk"),
        [gate = open_.get_future().share()](Progress&) -> Jobs::Show {
          gate.wait();
          return {};
        },
        {}, WhenStale::show);
  }
  void settle() {
    ASSERT_TRUE(wait_until([&] { return workspace_.jobs().idle(); }));
  }
  Document saved() const { return parse_document(read_file(file_.toStdString()), "session.json"); }

  const QTemporaryDir folder_;
  const QString file_ = folder_.filePath(QStringLiteral("1.json"));
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  std::optional<Session> session_;
  std::promise<void> open_;
};

TEST_F(SessionTest, SavesAnEditByItself) {
  workspace_.open(lenet_on_two("data"));
  ASSERT_TRUE(wait_until([&] { return QFile::exists(file_); }));
  EXPECT_EQ(saved(), lenet_on_two("data"));
  settle();
}

// The save that waits outlives the session, and what it wrote would be the same.
TEST_F(SessionTest, NothingIsLostWhenItEndsWhileASaveWaits) {
  block();
  workspace_.open(lenet_on_two("data"));
  session_->save();
  session_.reset();
  EXPECT_EQ(saved(), lenet_on_two("data"));
  open_.set_value();
  settle();
  EXPECT_EQ(saved(), lenet_on_two("data"));
}

TEST_F(SessionTest, ASaveThatComesLateDoesNotUndoANewerOne) {
  block();
  workspace_.open(lenet_on_two("data"));
  session_->save();
  workspace_.set_strategy({"model", {}});
  session_.reset();
  open_.set_value();
  settle();
  EXPECT_EQ(saved(), lenet_on_two("model"));
}

// What an earlier session left stays until something is edited.
TEST_F(SessionTest, WritesNothingWhereNothingWasEdited) {
  session_.reset();
  EXPECT_FALSE(QFile::exists(file_));
}

/// Another running program.
struct Other {
  explicit Other(const QString& folder) : session(workspace, folder) {}

  testing::NoDevices runner;
  Workspace workspace{runner};
  Session session;
};

TEST_F(SessionTest, EachOfTwoProgramsKeepsItsOwn) {
  workspace_.open(lenet_on_two("data"));
  {
    Other other(folder_.path());
    EXPECT_EQ(other.session.last(), std::nullopt) << "whose program still runs";
    other.workspace.open(lenet_on_two("model"));
  }
  workspace_.set_strategy({"owt", {}});
  session_.reset();
  EXPECT_EQ(saved(), lenet_on_two("owt"));
  EXPECT_EQ(SessionSlot::left_in(folder_.path()).size(), 2);
}

TEST_F(SessionTest, OneProgramTakesUpWhatAnotherLeft) {
  workspace_.open(lenet_on_two("data"));
  session_.reset();
  Other first(folder_.path()), second(folder_.path());
  ASSERT_EQ(first.session.last(), lenet_on_two("data"));
  ASSERT_EQ(second.session.last(), lenet_on_two("data"));
  EXPECT_EQ(first.session.go_on(), lenet_on_two("data"));
  EXPECT_EQ(first.session.file(), file_);
  EXPECT_EQ(second.session.go_on(), lenet_on_two("data")) << "in a file of its own";
  second.workspace.open(lenet_on_two("model"));
  EXPECT_NE(second.session.file(), file_);
  EXPECT_EQ(saved(), lenet_on_two("data"));
}

// A file on the command line: what was left stays for the next start.
TEST_F(SessionTest, AnotherDocumentLeavesTheOlderSessionAlone) {
  workspace_.open(lenet_on_two("data"));
  session_.reset();
  {
    Other other(folder_.path());
    other.workspace.open(lenet_on_two("model"));
  }
  EXPECT_EQ(saved(), lenet_on_two("data"));
}

// A process that is killed unlocks nothing: its lock stays, with a number that no process has.
TEST_F(SessionTest, AKilledProgramsSessionIsTakenUp) {
  workspace_.open(lenet_on_two("data"));
  session_->save();
  settle();
  QFile lock(folder_.filePath(QStringLiteral("1.lock")));
  ASSERT_TRUE(lock.open(QIODevice::ReadOnly));
  const QByteArray held = lock.readAll();
  lock.close();
  ASSERT_TRUE(lock.remove());
  ASSERT_TRUE(lock.open(QIODevice::WriteOnly));
  lock.write("2147483646" + held.mid(held.indexOf('\n')));
  lock.close();
  Other next(folder_.path());
  EXPECT_EQ(next.session.last(), lenet_on_two("data"));
}

TEST_F(SessionTest, OldOnesAreRemoved) {
  for (int i = 0; i < 12; ++i) {
    Other other(folder_.path());
    other.workspace.open(lenet_on_two("data"));
  }
  EXPECT_LE(SessionSlot::left_in(folder_.path()).size(), 9) << "eight, and the last one";
}

}  // namespace
}  // namespace strata::gui
