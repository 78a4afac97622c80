#include "gui/widgets/window/what_if_bar.h"

#include <QHBoxLayout>
#include <QMenu>

#include "gui/widgets/theme.h"

namespace strata::gui {
namespace {

QToolButton* make_button(QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setFocusPolicy(Qt::NoFocus);
  show_small(*button);
  return button;
}

}  // namespace

WhatIfBar::WhatIfBar(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      none_(new QLabel(tr("No what-ifs"), this)),
      more_(make_button(this)),
      reset_(make_button(this)) {
  setObjectName(QStringLiteral("what_if_bar"));
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(4, 0, 4, 0);
  line->setSpacing(4);
  line->addWidget(none_);
  line->addWidget(more_);
  line->addWidget(reset_);
  line->addStretch(1);
  none_->setForegroundRole(QPalette::PlaceholderText);
  show_small(*none_);
  more_->setObjectName(QStringLiteral("more_what_ifs"));
  more_->setPopupMode(QToolButton::InstantPopup);
  more_->setMenu(new QMenu(more_));
  reset_->setObjectName(QStringLiteral("reset_what_ifs"));
  reset_->setText(tr("Reset all"));
  reset_->setAutoRaise(true);
  connect(reset_, &QToolButton::clicked, &workspace_, &Workspace::reset_what_ifs);
  setFixedHeight(reset_->sizeHint().height());
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  setMinimumWidth(1);
  connect(&workspace_, &Workspace::document_changed, this, &WhatIfBar::show_document);
  show_document();
}

void WhatIfBar::show_document() {
  const Document& document = workspace_.document();
  for (QToolButton* chip : std::exchange(chips_, {})) {
    chip->hide();
    chip->deleteLater();
  }
  for (const auto& [key, value] : document.input.sets) {
    add_chip(QString::fromStdString(what_if_text(key, value)), document.with_what_if(key, {}));
  }
  if (!document.base_cluster.empty()) {
    add_chip(tr("cluster was %1").arg(QString::fromStdString(document.base_cluster)),
             document.resized(document.base_cluster));
  }
  if (document.base_batch) {
    add_chip(tr("batch was %1").arg(*document.base_batch),
             document.with_batch(*document.base_batch));
  }
  fit();
}

void WhatIfBar::add_chip(const QString& text, const Document& without) {
  QToolButton* const chip = make_button(this);
  chip->setText(text + QStringLiteral("  ✕"));
  chip->setToolTip(tr("What if: %1. A click takes it back").arg(text));
  connect(chip, &QToolButton::clicked, this,
          [this, text, without] { workspace_.edit(tr("reset of %1").arg(text), without); });
  static_cast<QHBoxLayout*>(layout())->insertWidget(static_cast<int>(chips_.size()), chip);
  chips_.push_back(chip);
}

// Those that have no room are in a menu.
void WhatIfBar::fit() {
  int left = width() - reset_->sizeHint().width() - 8;
  more_->menu()->clear();
  for (QToolButton* chip : chips_) {
    left -= chip->sizeHint().width() + 4;
    const bool has_room = left >= more_->sizeHint().width() || width() == 0;
    chip->setVisible(has_room);
    if (!has_room)
      connect(more_->menu()->addAction(chip->text()), &QAction::triggered, chip,
              &QToolButton::click);
  }
  more_->setText(tr("%1 more").arg(more_->menu()->actions().size()));
  more_->setVisible(!more_->menu()->isEmpty());
  reset_->setVisible(!chips_.empty());
  none_->setVisible(chips_.empty());
}

void WhatIfBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

}  // namespace strata::gui
