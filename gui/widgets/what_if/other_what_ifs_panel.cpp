#include "gui/widgets/what_if/other_what_ifs_panel.h"

#include <QCompleter>
#include <QGridLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>

#include "sim/base/error.h"

namespace strata::gui {
namespace {

QString in_qt(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QStringList in_qt(const std::vector<std::string>& texts) {
  QStringList list;
  for (const std::string& text : texts) list << in_qt(text);
  return list;
}

QComboBox* make_box(const char* name, const QString& title, QWidget* parent) {
  auto* box = new QComboBox(parent);
  box->setObjectName(QLatin1String(name));
  box->setAccessibleName(title);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(8);
  return box;
}

void make_typed(QComboBox& box) {
  box.setEditable(true);
  box.setInsertPolicy(QComboBox::NoInsert);
  box.completer()->setCaseSensitivity(Qt::CaseSensitive);
  box.completer()->setFilterMode(Qt::MatchContains);
  box.completer()->setCompletionMode(QCompleter::PopupCompletion);
}

// What stands in the field stays.
void offer(QComboBox& box, const QStringList& texts) {
  const QSignalBlocker quiet(box);
  const QString now = box.currentText();
  box.clear();
  box.addItems(texts);
  box.setEditText(now);
}

}  // namespace

OtherWhatIfsPanel::OtherWhatIfsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      key_(make_box("what_if_key", tr("What-if"), this)),
      selector_(make_box("what_if_selector", tr("What it changes"), this)),
      value_(make_box("what_if_value", tr("Value"), this)),
      set_(new QPushButton(tr("Set"), this)) {
  for (const WhatIfSpec& spec : what_ifs()) {
    key_->addItem(in_qt(spec.key));
    key_->setItemData(key_->count() - 1, in_qt(values_text(spec)), Qt::ToolTipRole);
  }
  for (QComboBox* typed : {selector_, value_}) make_typed(*typed);
  set_->setObjectName(QStringLiteral("set_what_if"));
  set_->setToolTip(tr("An empty value takes the what-if back"));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->addWidget(key_, 0, 0);
  grid->addWidget(selector_, 0, 1, 1, 2);
  grid->addWidget(value_, 1, 0);
  grid->addWidget(set_, 1, 2);
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  connect(key_, &QComboBox::currentIndexChanged, this, &OtherWhatIfsPanel::pick);
  connect(selector_, &QComboBox::currentTextChanged, this, &OtherWhatIfsPanel::show_value);
  connect(value_->lineEdit(), &QLineEdit::returnPressed, this, &OtherWhatIfsPanel::set);
  connect(set_, &QPushButton::clicked, this, &OtherWhatIfsPanel::set);
  pick();
}

const WhatIfSpec& OtherWhatIfsPanel::what_if() const {
  return what_ifs()[static_cast<std::size_t>(std::max(0, key_->currentIndex()))];
}

std::string OtherWhatIfsPanel::key() const {
  return key_with(what_if(), selector_->currentText().trimmed().toStdString());
}

void OtherWhatIfsPanel::pick() {
  const bool selects = has_selector(what_if());
  selector_->setEnabled(selects);
  {
    const QSignalBlocker quiet(selector_);
    selector_->setEditText(selects ? QStringLiteral("*") : QString());
  }
  const QString values = in_qt(values_text(what_if()));
  key_->setToolTip(in_qt(what_if().key) + QStringLiteral(": ") + values);
  value_->setToolTip(values);
  value_->lineEdit()->setPlaceholderText(values);
  offer(*value_, in_qt(values_of(what_if())));
  show_case();
  show_value();
}

void OtherWhatIfsPanel::show_case() {
  if (const ScenePtr& scene = workspace_.scene()) {
    offer(*selector_, in_qt(selectors_of(what_if(), scene->input)));
  }
}

void OtherWhatIfsPanel::show_value() {
  value_->setEditText(in_qt(workspace_.document().what_if(key())));
}

void OtherWhatIfsPanel::set() {
  const std::string key = this->key(), value = value_->currentText().trimmed().toStdString();
  const Document next = workspace_.document().with_what_if(key, value);
  if (next == workspace_.document()) return;
  if (value.empty()) return workspace_.set_what_if(key, value);
  workspace_.jobs().start(
      this, QStringLiteral("other what-if"), tr("Looking at %1").arg(in_qt(key)),
      [this, key, value, request = next.input,
       loader = workspace_.loader()](Progress&) -> Jobs::Show {
        loader->load(request);
        return [this, key, value] { workspace_.set_what_if(key, value); };
      },
      [this](const QString& message) { emit failed(message); });
}

}  // namespace strata::gui
