#pragma once

// Memory on every device over time, and the tensors that are in it at a moment: at the peak, until
// another one is picked.

#include <QToolButton>

#include "gui/models/memory/memory_stack.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/fitted_table.h"
#include "gui/widgets/memory/memory_canvas.h"
#include "gui/widgets/view.h"

namespace strata::gui {

class MemoryView : public View {
  Q_OBJECT

 public:
  explicit MemoryView(Workspace& workspace, QWidget* parent = nullptr);

  QString command() const override;
  std::vector<KeyHelp> keys() const override;
  /// The tensors of the moment.
  QString csv() const override;

  MemoryCanvas& canvas() const { return *canvas_; }
  FittedTable& table() const { return *table_; }
  const QLabel& heading() const { return *heading_; }
  QToolButton& scale_button() const { return *scale_; }

 private:
  QWidget* make_bar();
  QWidget* make_tensors();
  void follow();
  void refresh();
  void show_picture(const std::shared_ptr<const MemoryPicture>& picture);
  void show_moment();
  void show_scale();

  MemoryCanvas* canvas_;
  QToolButton* scale_;
  ElidedLabel* heading_;
  TensorTable* model_;
  FittedTable* table_;
  std::shared_ptr<const MemoryPicture> picture_;
};

}  // namespace strata::gui
