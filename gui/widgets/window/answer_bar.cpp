#include "gui/widgets/window/answer_bar.h"

namespace strata::gui {

AnswerBar::AnswerBar(Workspace& workspace, QWidget* parent)
    : QToolBar(tr("Answer"), parent),
      search_(new SearchButton(workspace.jobs())),
      result_(new StepResult(workspace)) {
  setObjectName(QStringLiteral("answer_bar"));
  setMovable(false);
  addWidget(search_);
  addWidget(result_);
  connect(search_, &SearchButton::fastest_wanted, this, &AnswerBar::fastest_wanted);
  const auto follow = [this, &workspace] { setVisible(!workspace.document().empty()); };
  connect(&workspace, &Workspace::document_changed, this, follow);
  follow();
}

// A tool bar would hide what it has no room for.
QSize AnswerBar::minimumSizeHint() const {
  constexpr int kEdges = 32;  // around them, and between
  return {search_->minimumWidth() + result_->minimumSizeHint().width() + kEdges,
          QToolBar::minimumSizeHint().height()};
}

}  // namespace strata::gui
