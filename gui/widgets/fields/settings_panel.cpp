#include "gui/widgets/fields/settings_panel.h"

#include <QFormLayout>
#include <QLabel>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/document/document_settings.h"
#include "gui/widgets/fields/setting_field.h"

namespace strata::gui {
namespace {

constexpr int kLettersOfField = 16, kAbove = 8;  // pixels above a heading

}  // namespace

SettingsButton::SettingsButton(Workspace& workspace, const QString& name, const QString& text,
                               const QString& tip, const std::vector<Group>& groups,
                               QWidget* parent)
    : QToolButton(parent),
      workspace_(workspace),
      panel_(new QFrame(this, Qt::Popup)),
      text_(text),
      tip_(tip) {
  setObjectName(name);
  setFocusPolicy(Qt::TabFocus);
  setAutoRaise(true);
  panel_->setObjectName(name + QStringLiteral("_fields"));
  panel_->setFrameShape(QFrame::StyledPanel);
  auto* form = new QFormLayout(panel_);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->setVerticalSpacing(3);
  for (const Group& group : groups) add_group(group);
  connect(this, &QToolButton::clicked, this, &SettingsButton::open);
  connect(&workspace_, &Workspace::document_changed, this, &SettingsButton::show_document);
  show_document();
}

void SettingsButton::add_group(const Group& group) {
  auto* const form = static_cast<QFormLayout*>(panel_->layout());
  if (!group.title.isEmpty()) {
    auto* heading = new QLabel(group.title, panel_);
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    if (!keys_.empty()) heading->setContentsMargins(0, kAbove, 0, 0);
    form->addRow(heading);
  }
  for (const std::string_view key : group.keys) {
    auto* field = new SettingField(setting(key), panel_);
    field->editor()->setMinimumWidth(fontMetrics().averageCharWidth() * kLettersOfField);
    auto* label = new QLabel(field->title(), panel_);
    label->setToolTip(field->editor()->toolTip());
    label->setBuddy(field->editor());
    form->addRow(label, field);
    tie(*field, workspace_);
    keys_.push_back(key);
    if (first_ == nullptr) first_ = field->editor();
  }
}

// It stays on the screen, whatever the place of the button.
void SettingsButton::open() {
  panel_->adjustSize();
  QPoint at = mapToGlobal(QPoint(width() - panel_->width(), height()));
  const QRect room = screen()->availableGeometry();
  at.setX(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() - panel_->width())));
  at.setY(std::clamp(at.y(), room.top(), std::max(room.top(), room.bottom() - panel_->height())));
  panel_->move(at);
  panel_->show();
  if (first_ != nullptr) first_->setFocus();
}

void SettingsButton::show_document() {
  const QString options = QString::fromStdString(setting_options(workspace_.document(), keys_));
  const auto changed = options.count(QStringLiteral(" --"));
  setText(changed == 0 ? text_ : tr("%1: %2").arg(text_).arg(changed));
  setToolTip(changed == 0 ? tip_ : tip_ + QLatin1Char(':') + options);
  emit resized();
}

}  // namespace strata::gui
