#include "gui/widgets/window/answer_bar.h"

#include <QHBoxLayout>

#include "gui/document/document_settings.h"

namespace strata::gui {
namespace {

SettingsButton* make_search_settings(Workspace& workspace) {
  return new SettingsButton(
      workspace, QStringLiteral("search"), AnswerBar::tr("Search"),
      AnswerBar::tr("What a search is for, what it considers, and when it ends"),
      {{AnswerBar::tr("Search for the fastest strategy"), keys_of(SettingGroup::search)}});
}

}  // namespace

AnswerBar::AnswerBar(Workspace& workspace, QWidget* parent)
    : QToolBar(tr("Answer"), parent),
      what_ifs_(new WhatIfBar(workspace)),
      result_(new StepResult(workspace)),
      search_settings_(make_search_settings(workspace)),
      search_(new SearchButton(workspace.jobs())) {
  setObjectName(QStringLiteral("answer_bar"));
  setMovable(false);
  auto* row = new QWidget(this);
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 4, 0);
  line->addWidget(what_ifs_, 1);
  line->addWidget(result_);
  line->addWidget(search_settings_);
  line->addWidget(search_);
  row->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  row->setFixedHeight(2 * fontMetrics().height() + 6);  // of two lines, also where one says all
  addWidget(row);
  connect(search_, &SearchButton::fastest_wanted, this, &AnswerBar::fastest_wanted);
  const auto follow = [this, &workspace] { setVisible(!workspace.document().empty()); };
  connect(&workspace, &Workspace::document_changed, this, follow);
  follow();
}

// A tool bar would hide what it has no room for.
QSize AnswerBar::minimumSizeHint() const {
  constexpr int kEdges = 32;  // around them, and between
  return {search_->minimumWidth() + search_settings_->sizeHint().width() +
              result_->minimumSizeHint().width() + kEdges,
          QToolBar::minimumSizeHint().height()};
}

}  // namespace strata::gui
