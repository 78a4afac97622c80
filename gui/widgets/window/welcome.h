#pragma once

// What a new user sees first: the ways in.

#include <QStringList>
#include <QWidget>
#include <vector>

#include "gui/models/session.h"

namespace strata::gui {

class Welcome : public QWidget {
  Q_OBJECT

 public:
  /// `left`: by earlier sessions, the newest first.
  Welcome(const std::vector<LeftSession>& left, const QStringList& recent,
          QWidget* parent = nullptr);

 signals:
  void go_on_wanted(const strata::gui::LeftSession& left);
  void document_wanted(const strata::gui::Document& document);
  void file_wanted(const QString& file);  ///< empty: ask for one

 private:
  QWidget* ways(const std::vector<LeftSession>& left, const QStringList& recent);
};

/// The folders of those files that others are called like; else nothing. By the files' places.
QStringList folders_that_tell(const QStringList& files);

}  // namespace strata::gui
