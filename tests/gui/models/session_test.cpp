// A session's file, whenever the window is closed: the newest document is in it.

#include "gui/models/session.h"

#include <QFile>
#include <QTemporaryDir>
#include <future>
#include <optional>

#include <gtest/gtest.h>

#include "sim/text/file.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using testing::wait_until;

Document lenet(const std::string& strategy) {
  Document document;
  document.input.model = "lenet5";
  document.input.cluster = "p100-1x2";
  document.strategy.source = strategy;
  return document;
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    testing::application();
    session_.emplace(workspace_, file_);
  }
  /// The lane of saves, until it is let go.
  void block() {
    workspace_.jobs().start(
        QStringLiteral("session"), QStringLiteral("a slow disk"),
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
  const QString file_ = folder_.filePath(QStringLiteral("session.json"));
  testing::NoDevices runner_;
  Workspace workspace_{runner_};
  std::optional<Session> session_;
  std::promise<void> open_;
};

TEST_F(SessionTest, SavesAnEditByItself) {
  workspace_.open(lenet("data"));
  ASSERT_TRUE(wait_until([&] { return QFile::exists(file_); }));
  EXPECT_EQ(saved(), lenet("data"));
  settle();
}

// The save that waits outlives the session, and what it wrote would be the same.
TEST_F(SessionTest, NothingIsLostWhenItEndsWhileASaveWaits) {
  block();
  workspace_.open(lenet("data"));
  session_->save();
  session_.reset();
  EXPECT_EQ(saved(), lenet("data"));
  open_.set_value();
  settle();
  EXPECT_EQ(saved(), lenet("data"));
}

TEST_F(SessionTest, ASaveThatComesLateDoesNotUndoANewerOne) {
  block();
  workspace_.open(lenet("data"));
  session_->save();
  workspace_.set_strategy({"model", {}});
  session_.reset();
  open_.set_value();
  settle();
  EXPECT_EQ(saved(), lenet("model"));
}

// What an earlier session left stays until something is edited.
TEST_F(SessionTest, WritesNothingWhereNothingWasEdited) {
  session_.reset();
  EXPECT_FALSE(QFile::exists(file_));
}

}  // namespace
}  // namespace strata::gui
