#include "gui/widgets/banner.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QToolButton>
#include <algorithm>
#include <utility>

namespace strata::gui {

Banner::Banner(QWidget* over) : QFrame(over), text_(new QLabel(this)) {
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  setForegroundRole(QPalette::ToolTipText);
  setFrameShape(QFrame::StyledPanel);
  text_->setWordWrap(true);
  text_->setForegroundRole(QPalette::ToolTipText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* dismiss = new QToolButton(this);
  dismiss->setText(QStringLiteral("✕"));
  dismiss->setToolTip(tr("Dismiss"));
  dismiss->setAccessibleName(tr("Dismiss"));
  dismiss->setAutoRaise(true);
  dismiss->setFocusPolicy(Qt::NoFocus);
  connect(dismiss, &QToolButton::clicked, this, [this] { show_text({}); });
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(8, 4, 4, 4);
  row->addWidget(text_, 1);
  row->addWidget(dismiss, 0, Qt::AlignTop);
  over->installEventFilter(this);
  hide();
}

void Banner::show_text(const QString& text) {
  text_->setText(text);
  setVisible(!text.isEmpty());
  place();
}

void Banner::stand_on(std::function<int()> foot) {
  foot_ = std::move(foot);
  place();
}

void Banner::place() {
  if (isHidden()) return;
  const int width = parentWidget()->width();
  const int foot = parentWidget()->height() - (foot_ ? foot_() : 0);
  const int height = std::min(heightForWidth(width), foot);
  setGeometry(0, foot - height, width, height);
  raise();
}

bool Banner::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parent() && event->type() == QEvent::Resize) place();
  return QFrame::eventFilter(watched, event);
}

}  // namespace strata::gui
