#pragma once

// What is on the desk, in one line of fields: network, cluster, batch, synchronisation, its
// buckets, number type, strategy, and what is asked for less often (more_fields.h). Each field is
// an edit that can be undone. What comes of it: answer_bar.h.

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>
#include <QToolBar>
#include <vector>

#include "gui/models/workspace.h"
#include "gui/widgets/window/more_fields.h"

namespace strata::gui {

class CaseBar : public QToolBar {
  Q_OBJECT

 public:
  explicit CaseBar(Workspace& workspace, QWidget* parent = nullptr);

  QSize minimumSizeHint() const override;
  /// Into a field, by the keyboard.
  /// With its text selected: what is typed takes its place.
  void focus_model();

  /// Ctrl+Z in a field whose text nobody changed is the window's.
  bool eventFilter(QObject* watched, QEvent* event) override;

 signals:
  /// Enter in a field: it is done with.
  void entered();
  /// Where nothing is on the desk.
  void file_wanted();
  void example_wanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void make_nothing();
  void add_label(const QString& text, QWidget* field);
  void fit();
  int least_width() const;
  void show_document();
  void commit_strategy(const QString& text);
  void commit_bucket(const QString& text);
  void commit(const QString& what, const std::function<void(Document&)>& change);
  void commit_name(const QComboBox& field, const QString& what,
                   const std::function<void(Document&)>& change);
  QComboBox* field(const QString& label, const QString& name, const QStringList& choices);

  Workspace& workspace_;
  QComboBox *model_, *cluster_, *sync_, *bucket_, *dtype_, *strategy_;
  int usual_strategies_ = 0;  // how many the field always has
  QSpinBox* batch_;
  MoreFields* more_;
  QWidget* row_;
  QHBoxLayout* line_;
  std::vector<QLabel*> labels_;
  QAction *fields_ = nullptr, *nothing_ = nullptr;
};

}  // namespace strata::gui
