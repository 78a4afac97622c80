#include "gui/widgets/window/command_palette.h"

#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>

namespace strata::gui {

QString plain_name(const QAction& action) {
  QString name = action.text();
  name.remove(QLatin1Char('&'));
  name.remove(QChar(0x2026));
  return name;
}

int match(const QString& name, const QString& typed) {
  int score = 0;
  qsizetype at = 0;
  for (const QChar letter : typed) {
    if (letter.isSpace()) continue;
    const qsizetype found = name.indexOf(letter, at, Qt::CaseInsensitive);
    if (found < 0) return -1;
    const bool word = found == 0 || !name[found - 1].isLetterOrNumber();
    score += word ? 8 : (found == at ? 4 : 1);
    at = found + 1;
  }
  return score;
}

CommandPalette::CommandPalette(const std::vector<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      typed_(new QLineEdit(this)),
      list_(new QListWidget(this)) {
  setObjectName(QStringLiteral("palette"));
  std::copy_if(actions.begin(), actions.end(), std::back_inserter(actions_),
               [](const QAction* action) { return !action->text().isEmpty(); });
  typed_->setPlaceholderText(tr("What do you want to do?"));
  typed_->installEventFilter(this);
  auto* column = new QVBoxLayout(this);
  column->addWidget(typed_);
  column->addWidget(list_);
  connect(typed_, &QLineEdit::textChanged, this, &CommandPalette::show_matches);
  connect(typed_, &QLineEdit::returnPressed, this, &CommandPalette::trigger_current);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::trigger_current);
  resize(520, 380);
  show_matches({});
  typed_->setFocus();
}

std::vector<QAction*> CommandPalette::matches() const {
  return matches_;
}

// The arrows move through the list while the letters go to the line.
bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != typed_ || event->type() != QEvent::KeyPress) {
    return QDialog::eventFilter(watched, event);
  }
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_Up && key != Qt::Key_Down) return false;
  const int next = list_->currentRow() + (key == Qt::Key_Down ? 1 : -1);
  list_->setCurrentRow(std::clamp(next, 0, list_->count() - 1));
  return true;
}

void CommandPalette::show_matches(const QString& typed) {
  matches_ = actions_;
  std::erase_if(matches_, [&](const QAction* a) { return match(plain_name(*a), typed) < 0; });
  std::stable_sort(matches_.begin(), matches_.end(), [&](const QAction* a, const QAction* b) {
    return match(plain_name(*a), typed) > match(plain_name(*b), typed);
  });
  list_->clear();
  for (const QAction* action : matches_) {
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(
        keys.isEmpty() ? plain_name(*action) : plain_name(*action) + QStringLiteral("    ") + keys,
        list_);
    if (!action->isEnabled()) item->setFlags(Qt::NoItemFlags);
  }
  list_->setCurrentRow(0);
}

void CommandPalette::trigger_current() {
  const int row = list_->currentRow();
  if (row < 0 || row >= static_cast<int>(matches_.size())) return;
  QAction* const action = matches_[static_cast<std::size_t>(row)];
  if (!action->isEnabled()) return;
  close();
  action->trigger();
}

}  // namespace strata::gui
