// A session's file, whenever the window is closed: the newest document is in it. Each of several
// programs has its own, and what one left another takes up.

#include "gui/models/session.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <array>
#include <csignal>
#include <future>
#include <optional>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/text/file.h"
#include "tests/gui/models/cases.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
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
  /// The file of a program that has ended.
  void leave(int number, const Document& document) const {
    write_file_whole(folder_.filePath(QStringLiteral("%1.json").arg(number)).toStdString(),
                     print_desk({document}));
  }
  static void set_age(const QString& name, int seconds) {
    QFile file(name);
    ASSERT_TRUE(file.open(QIODevice::ReadWrite));
    ASSERT_TRUE(file.setFileTime(QDateTime::currentDateTime().addSecs(-seconds),
                                 QFileDevice::FileModificationTime));
  }
  static std::vector<Document> offered(const Session& session) {
    std::vector<Document> documents;
    for (const LeftSession& left : session.left()) documents.push_back(left.desk.document);
    return documents;
  }
  Document saved() const {
    return parse_desk(read_file(file_.toStdString()), "session.json").document;
  }

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

// A save that still waits keeps nobody from taking the file up.
TEST_F(SessionTest, LetsItsFileGoWhenItEnds) {
  block();
  workspace_.open(lenet_on_two("data"));
  session_->save();
  session_.reset();
  EXPECT_NE(SessionSlot::taken_up(file_), nullptr);
  open_.set_value();
  settle();
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
  settle();
  {
    Other other(folder_.path());
    EXPECT_THAT(offered(other.session), IsEmpty()) << "its program still runs";
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
  const auto left = first.session.left();
  ASSERT_THAT(offered(second.session), ElementsAre(lenet_on_two("data")));
  EXPECT_EQ(first.session.go_on(left[0]).document, lenet_on_two("data"));
  EXPECT_EQ(first.session.file(), file_);
  EXPECT_EQ(second.session.go_on(left[0]).document, lenet_on_two("data")) << "in a file of its own";
  second.workspace.open(lenet_on_two("model"));
  ASSERT_TRUE(wait_until([&] { return second.workspace.jobs().idle(); }));
  EXPECT_EQ(second.session.file(), folder_.filePath("2.json"));
  EXPECT_EQ(saved(), lenet_on_two("data"));
}

// Whoever only looks, even right now, takes nothing.
TEST_F(SessionTest, ProgramsThatLookHideNothingFromEachOther) {
  workspace_.open(lenet_on_two("data"));
  session_.reset();
  Other first(folder_.path()), second(folder_.path());
  ASSERT_THAT(offered(first.session), SizeIs(1));
  EXPECT_THAT(offered(second.session), SizeIs(1));
  EXPECT_EQ(QDir(folder_.path()).entryList(QDir::Files), (QStringList{"1.json", "1.lock"}));
  EXPECT_NE(SessionSlot::taken_up(file_), nullptr);
}

// A file on the command line: what was left stays for the next start, behind what came of the file.
TEST_F(SessionTest, AnotherDocumentLeavesTheOlderSessionAlone) {
  workspace_.open(lenet_on_two("data"));
  session_.reset();
  {
    Other other(folder_.path());
    other.workspace.open(lenet_on_two("model"));
  }
  set_age(file_, 2);
  set_age(folder_.filePath("2.json"), 1);
  Other next(folder_.path());
  EXPECT_THAT(offered(next.session), ElementsAre(lenet_on_two("model"), lenet_on_two("data")));
  EXPECT_EQ(next.session.go_on(next.session.left()[1]).document, lenet_on_two("data"));
  EXPECT_EQ(next.session.file(), file_);
}

TEST_F(SessionTest, TheThreeNewestAreOffered) {
  for (int number = 1; number <= 5; ++number) {
    leave(number, lenet_on_two(number == 2 ? "owt" : "data"));
    set_age(folder_.filePath(QString::number(number) + ".json"), number);
  }
  write_file_whole(folder_.filePath("1.json").toStdString(), "cut off");
  Other next(folder_.path());
  EXPECT_THAT(offered(next.session),
              ElementsAre(lenet_on_two("owt"), lenet_on_two("data"), lenet_on_two("data")));
}

// Killed in the midst of it: nothing in the process tidies up.
TEST_F(SessionTest, AKilledProgramsSessionIsTakenUp) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t program = ::fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    const auto slot = SessionSlot::fresh(folder_.path());
    const bool told = ::write(ready[1], slot ? "y" : "n", 1) == 1;
    while (told) ::pause();
    ::_exit(1);
  }
  char held = 0;
  EXPECT_EQ(::read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  leave(1, lenet_on_two("data"));
  EXPECT_EQ(SessionSlot::taken_up(file_), nullptr);
  EXPECT_THAT(SessionSlot::left_in(folder_.path()), IsEmpty());
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  Other next(folder_.path());
  EXPECT_THAT(offered(next.session), ElementsAre(lenet_on_two("data")));
  EXPECT_NE(SessionSlot::taken_up(file_), nullptr);
  for (const int end : ready) ::close(end);
}

// In a container the next program often has the number of the one that was killed.
TEST_F(SessionTest, WhatStandsInALockTellsNothing) {
  leave(1, lenet_on_two("data"));
  for (const QString& text : {QString(), QStringLiteral("%1\ntest\nhost\n").arg(::getpid())}) {
    write_file_whole(folder_.filePath("1.lock").toStdString(), text.toStdString());
    EXPECT_THAT(SessionSlot::left_in(folder_.path()), SizeIs(1)) << text.toStdString();
    EXPECT_NE(SessionSlot::taken_up(file_), nullptr);
  }
}

// As in a folder that can only be read: a folder in its place cannot be locked, not even by root.
TEST_F(SessionTest, WhatCannotBeLockedIsOfferedButNeitherTakenNorRemoved) {
  for (int number = 1; number <= 10; ++number) {
    leave(number, lenet_on_two("data"));
    ASSERT_TRUE(QDir(folder_.path()).mkdir(QString::number(number) + ".lock"));
  }
  EXPECT_THAT(SessionSlot::left_in(folder_.path()), SizeIs(10));
  EXPECT_EQ(SessionSlot::taken_up(file_), nullptr);
  SessionSlot::remove_old(folder_.path());
  EXPECT_THAT(SessionSlot::left_in(folder_.path()), SizeIs(10));
}

// A file stands where the folder should: nothing can be made there until it is gone.
TEST_F(SessionTest, SavesOnceItCanAgain) {
  const QString place = folder_.filePath("sessions");
  write_file_whole(place.toStdString(), "in the way");
  Other other(place);
  QSignalSpy failed(&other.workspace, &Workspace::failed);
  other.workspace.open(lenet_on_two("data"));
  ASSERT_TRUE(wait_until([&] { return failed.count() > 0; }));
  ASSERT_TRUE(QFile::remove(place));
  other.workspace.set_strategy({"model", {}});
  ASSERT_TRUE(wait_until([&] { return QFile::exists(place + "/1.json"); }));
  EXPECT_THAT(SessionSlot::left_in(place), IsEmpty()) << "it is locked now";
}

TEST_F(SessionTest, GoesOnElsewhereWhereItsFolderIsRemoved) {
  const QString place = folder_.filePath("sessions");
  Other other(place);
  other.workspace.open(lenet_on_two("data"));
  ASSERT_TRUE(wait_until([&] { return QFile::exists(place + "/1.json"); }));
  ASSERT_TRUE(QDir(place).removeRecursively());
  other.workspace.set_strategy({"model", {}});
  ASSERT_TRUE(wait_until([&] { return QFile::exists(place + "/1.json"); }));
  EXPECT_THAT(SessionSlot::left_in(place), IsEmpty()) << "it is locked, too";
}

// Twelve programs, one after another: the last one's file and the eight before it stay.
TEST_F(SessionTest, OldOnesAreRemoved) {
  for (int i = 1; i <= 12; ++i) {
    QString file;
    {
      Other other(folder_.path());
      Document document = lenet_on_two("data");
      document.input.training.batch_per_device = i;
      other.workspace.open(document);
      ASSERT_TRUE(wait_until([&] { return other.workspace.jobs().idle(); }));
      file = other.session.file();
    }
    set_age(file, 100 - i);
  }
  std::vector<std::int64_t> stayed;
  for (const QString& file : SessionSlot::left_in(folder_.path())) {
    stayed.push_back(
        parse_desk(read_file(file.toStdString()), "").document.input.training.batch_per_device);
  }
  EXPECT_THAT(stayed, ElementsAre(12, 11, 10, 9, 8, 7, 6, 5, 4));
  EXPECT_EQ(QDir(folder_.path()).entryList({"*.lock"}).size(), 9);
}

// Of a program that was killed while it wrote; what is younger may be another's that writes now.
TEST_F(SessionTest, HalfWrittenOnesAreRemovedAfterADay) {
  const QString old = folder_.filePath("3.json.aB3dEf"), young = folder_.filePath("4.json.aB3dEf");
  for (const QString& file : {old, young}) write_file_whole(file.toStdString(), "{\"ver");
  set_age(old, 25 * 3600);
  SessionSlot::remove_old(folder_.path());
  EXPECT_FALSE(QFile::exists(old));
  EXPECT_TRUE(QFile::exists(young));
}

TEST_F(SessionTest, TheOneOfEarlierVersionsIsTakenInOnce) {
  const QString place = folder_.filePath("sessions"), older = folder_.filePath("session.json");
  write_file_whole(older.toStdString(), print_desk({lenet_on_two("owt")}));
  Session::take_in_older(place);
  Session::take_in_older(place);
  Other next(place);
  EXPECT_THAT(offered(next.session), ElementsAre(lenet_on_two("owt")));
  EXPECT_FALSE(QFile::exists(older));
}

}  // namespace
}  // namespace strata::gui
