#pragma once

// What a new user sees first: the ways in.

#include <QWidget>
#include <optional>

#include "gui/models/document.h"

namespace strata::gui {

class Welcome : public QWidget {
  Q_OBJECT

 public:
  /// `last`: what an earlier session left.
  explicit Welcome(const std::optional<Document>& last, const QStringList& recent,
                   QWidget* parent = nullptr);

 signals:
  void go_on_wanted();  ///< with what the last session left
  void document_wanted(const strata::gui::Document& document);
  void file_wanted(const QString& file);  ///< empty: ask for one

 private:
  QWidget* ways(const std::optional<Document>& last, const QStringList& recent);
};

/// The example of the paper: VGG-16 on four hosts with four P100s each, under data parallelism.
Document paper_example();

}  // namespace strata::gui
