#pragma once
// A window on files of its own, and what a user does in it.

#include <QAbstractButton>
#include <QAction>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "gui/widgets/window/command_palette.h"
#include "gui/widgets/window/main_window.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {

class WindowTest : public ::testing::Test {
 protected:
  WindowTest() { make_window(); }

  void make_window() {
    window_.reset();
    workspace_ = std::make_unique<Workspace>(runner_);
    window_ = std::make_unique<MainWindow>(*workspace_,
                                           WindowOptions{path("sessions"), path("settings.ini")});
    window_->show();
  }
  void close_window() {
    window_->close();
    window_.reset();
    workspace_.reset();
  }

  QString path(const QString& name) const { return folder_.filePath(name); }
  QString file(const QString& name, const QByteArray& text) const {
    QFile file(path(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
    return path(name);
  }
  void settle() {
    ASSERT_TRUE(testing::wait_until([&] { return workspace_->jobs().idle(); }));
  }
  /// Until what is returned is let go, nothing more is predicted.
  std::shared_ptr<void> hold_predictions() {
    auto end = std::make_shared<std::atomic<bool>>(false);
    workspace_->jobs().start(
        window_.get(), QStringLiteral("scene"), QStringLiteral("held"),
        [end](Progress&) -> Jobs::Show {
          end->wait(false);
          return [] {};
        },
        {}, WhenStale::show);
    return {nullptr, [end](std::nullptr_t) {
              *end = true;
              end->notify_all();
            }};
  }
  void open_files(const QStringList& files) {
    window_->open_files(files);
    settle();
  }
  void open_file(const QString& file) { open_files({file}); }
  void click(const QString& name) {
    auto* button = window_->findChild<QAbstractButton*>(name);
    ASSERT_NE(button, nullptr) << name.toStdString();
    QTest::mouseClick(button, Qt::LeftButton);
  }
  QAction* action(const QString& name) {
    for (QAction* action : window_->findChildren<QAction*>()) {
      if (plain_name(*action).startsWith(name)) return action;
    }
    ADD_FAILURE() << "no action '" << name.toStdString() << "'";
    return nullptr;
  }
  Document lenet() const {
    Document document;
    document.input.model = "lenet5";
    document.input.cluster = "p100-1x2";
    return document;
  }

  QTemporaryDir folder_;
  testing::NoDevices runner_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace strata::gui
