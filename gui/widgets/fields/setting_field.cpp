#include "gui/widgets/fields/setting_field.h"

#include <QApplication>
#include <QCompleter>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <limits>

#include "gui/document/document_settings.h"
#include "sim/base/error.h"
#include "sim/case/framework.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/schedule.h"

namespace strata::gui {
namespace {

QString words_of(std::string_view text) {
  return QString::fromStdString(in_window_words(text));
}

QString unset_words() {
  return SettingField::tr("usual");
}

QString file_words() {
  return SettingField::tr("File…");
}

// The usual sizes of each family of presets.
QStringList clusters() {
  QStringList names;
  for (const Preset& preset : presets()) names << words_of(preset.example);
  for (const char* name : {"p100-1x2", "p100-1x4", "p100-2x4", "p100-4x4", "p100-8x4", "p100-16x4",
                           "a100-4x8", "h100-4x8", "h200-4x8", "b200-4x8"}) {
    if (!names.contains(QLatin1String(name))) names << QLatin1String(name);
  }
  names.sort();
  return names;
}

// What the setting's choices are, or names that a text may be.
QStringList offered_for(const SettingSpec& spec) {
  QStringList names;
  for (const std::string_view word : spec.choices) names << words_of(word);
  if (spec.key == "model") {
    for (const ZooEntry& entry : zoo()) names << words_of(entry.name);
  } else if (spec.key == "cluster") {
    names = clusters();
  } else if (spec.key == "schedule") {
    names = words_of(schedule_names()).split(QStringLiteral(", "));
  } else if (spec.key == "as") {
    for (const std::string& name : framework_names()) names << words_of(name);
  } else if (spec.key == "train") {
    names =
        QStringList{QStringLiteral("full"), QStringLiteral("lora:r=16"),
                    QStringLiteral("lora:r=16,targets=all"), QStringLiteral("lora:r=16,dtype=nf4")};
  } else if (spec.key == "bucket") {
    names = QStringList{QStringLiteral("0"), QStringLiteral("1 MiB"), QStringLiteral("25 MiB")};
  }
  return names;
}

bool may_be_file(const SettingSpec& spec) {
  return spec.form == ValueForm::text || spec.form == ValueForm::strategy;
}

// As it stands in a field: a file by its name.
QString shown_for(const SettingSpec& spec, const std::string& value) {
  return QString::fromStdString(may_be_file(spec) ? shown_name(value) : value);
}

}  // namespace

SettingField::SettingField(const SettingSpec& spec, QWidget* parent)
    : QWidget(parent), spec_(spec), editor_(make_editor()) {
  editor_->setObjectName(words_of(spec.key));
  editor_->setAccessibleName(title());
  editor_->setToolTip(words_of(spec.help));
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(files_ == nullptr ? editor_ : files_->parentWidget());
  setFocusProxy(editor_);
  editor_->installEventFilter(this);
}

QString SettingField::title() const {
  return QString::fromStdString(setting_title(spec_.key));
}

QWidget* SettingField::make_editor() {
  const QStringList offered = offered_for(spec_);
  switch (spec_.form) {
    case ValueForm::flag:
      return make_check();
    case ValueForm::choice:
      return make_box(offered, false);
    case ValueForm::files:
      return make_files();
    case ValueForm::positive:
    case ValueForm::natural:
      return may_be_unset(spec_.key) ? static_cast<QWidget*>(make_line()) : make_spin();
    default:
      return offered.isEmpty() ? static_cast<QWidget*>(make_line()) : make_box(offered, true);
  }
}

// An editor that goes while it has the focus says that editing is finished.
SettingField::~SettingField() {
  for (const QWidget* part : findChildren<QWidget*>()) part->disconnect(this);
}

// textActivated: chosen from the list, or typed and Enter, if it is in the list.
QComboBox* SettingField::make_box(const QStringList& offered, bool editable) {
  auto* box = new QComboBox(this);
  if (may_be_unset(spec_.key)) box->addItem(unset_words());
  box->addItems(offered);
  connect(box, &QComboBox::textActivated, this, &SettingField::take_from_box);
  if (!editable) return box;
  if (may_be_file(spec_)) box->addItem(file_words());
  box->setEditable(true);
  box->setInsertPolicy(QComboBox::NoInsert);
  box->completer()->setCaseSensitivity(Qt::CaseInsensitive);
  box->completer()->setCompletionMode(QCompleter::PopupCompletion);  // a slip is no other name
  connect(box->lineEdit(), &QLineEdit::returnPressed, this, [this, box] {
    take_from_box(box->currentText());
    emit entered();
  });
  return box;
}

QLineEdit* SettingField::make_line() {
  auto* line = new QLineEdit(this);
  line->setPlaceholderText(unset_words());
  connect(line, &QLineEdit::editingFinished, this, [this, line] { take(line->text().trimmed()); });
  connect(line, &QLineEdit::returnPressed, this, &SettingField::entered);
  return line;
}

QSpinBox* SettingField::make_spin() {
  auto* spin = new QSpinBox(this);
  const WholeRange range = whole_range(spec_, Job::predict);
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  spin->setRange(static_cast<int>(range.least), static_cast<int>(std::min(range.most, kMost)));
  spin->setKeyboardTracking(false);
  connect(spin, &QSpinBox::valueChanged, this, [this](int value) { take(QString::number(value)); });
  return spin;
}

QCheckBox* SettingField::make_check() {
  auto* check = new QCheckBox(this);
  connect(check, &QCheckBox::toggled, this,
          [this](bool on) { take(on ? QStringLiteral("true") : QStringLiteral("false")); });
  return check;
}

QWidget* SettingField::make_files() {
  constexpr int kLines = 2;
  auto* frame = new QWidget(this);
  files_ = new QListWidget(frame);
  files_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  files_->setTextElideMode(Qt::ElideLeft);
  files_->setFixedHeight(kLines * files_->fontMetrics().height() + 2 * files_->frameWidth() + 6);
  auto* add = new QToolButton(frame);
  add->setText(tr("Add…"));
  auto* remove = new QToolButton(frame);
  remove->setText(tr("Remove"));
  remove->setEnabled(false);
  connect(files_, &QListWidget::itemSelectionChanged, remove,
          [this, remove] { remove->setEnabled(!files_->selectedItems().isEmpty()); });
  connect(add, &QToolButton::clicked, this, [this] {
    const QString file = ask_for_file();
    if (file.isEmpty()) return;
    files_->addItem(file);
    take_files();
  });
  connect(remove, &QToolButton::clicked, this, [this] {
    qDeleteAll(files_->selectedItems());
    take_files();
  });
  auto* buttons = new QVBoxLayout;
  buttons->setSpacing(2);
  for (QToolButton* button : {add, remove}) {
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    buttons->addWidget(button);
  }
  auto* line = new QHBoxLayout(frame);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(files_, 1);
  line->addLayout(buttons);
  return files_;
}

// A dialog stands behind a panel that pops up: such a panel closes.
QString SettingField::ask_for_file() {
  if (QWidget* const panel = QApplication::activePopupWidget()) panel->close();
  return QFileDialog::getOpenFileName(window(), title());
}

void SettingField::take_files() {
  QStringList files;
  for (int i = 0; i < files_->count(); ++i) files << files_->item(i)->text();
  take(files.join(QLatin1Char(',')));
}

void SettingField::take_from_box(const QString& text) {
  if (text != file_words()) {
    const bool unset = may_be_unset(spec_.key) && text == unset_words();
    return take(unset ? QString() : text.trimmed());
  }
  const QString file = ask_for_file();
  file.isEmpty() ? show_value(value_, stand_in_) : take(file);
}

// The name that is shown stands for the file that it is the name of.
void SettingField::take(const QString& value) {
  const bool is_shown = !value.isEmpty() && value == shown_;
  const bool is_value = stand_in_.isEmpty() && value.toStdString() == value_;
  if (!is_shown && !is_value) emit committed(value);
}

void SettingField::show_value(const std::string& value, const QString& stand_in) {
  const QSignalBlocker blocker(editor_);
  value_ = value;
  stand_in_ = stand_in;
  shown_ = stand_in.isEmpty() ? shown_for(spec_, value) : stand_in;
  const QString whole = QString::fromStdString(value);
  if (auto* check = qobject_cast<QCheckBox*>(editor_)) {
    check->setChecked(value == "true");
  } else if (QSpinBox* const spin = this->spin()) {
    spin->setValue(whole.toInt());
  } else if (auto* line = qobject_cast<QLineEdit*>(editor_)) {
    line->setText(whole);
  } else if (files_ != nullptr) {
    files_->clear();
    if (!value.empty()) files_->addItems(whole.split(QLatin1Char(',')));
  } else if (QComboBox* const box = this->box()) {
    const QString text = value.empty() && may_be_unset(spec_.key) ? unset_words() : shown_;
    box->setCurrentIndex(box->findText(text));  // none of the list, where it is not in it
    if (!box->isEditable()) return;
    box->setEditText(text);
    box->lineEdit()->setCursorPosition(0);  // its beginning, where it is too long
    const bool in_full = !may_be_file(spec_) || shown_ == whole || !stand_in.isEmpty();
    box->setToolTip(in_full ? words_of(spec_.help) : whole);
  }
}

bool SettingField::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride) return QWidget::eventFilter(watched, event);
  auto* line = qobject_cast<QLineEdit*>(watched);
  if (line == nullptr) line = watched->findChild<QLineEdit*>();
  if (line == nullptr || line->isModified()) return QWidget::eventFilter(watched, event);
  const auto* const key = static_cast<QKeyEvent*>(event);
  const bool undoes = key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo);
  if (undoes) event->ignore();
  return undoes;
}

namespace {

void show_setting(SettingField& field, const Document& document) {
  const std::string_view key = field.spec().key;
  const bool strategy = field.spec().form == ValueForm::strategy && document.strategy.edited();
  field.show_value(setting_text(document, key),
                   strategy ? QString::fromStdString(document.strategy.label()) : QString());
}

void commit(SettingField& field, Workspace& workspace, const QString& text) {
  if (workspace.document().empty()) return;
  const std::string_view key = field.spec().key;
  const std::string value = text.toStdString();
  const QString what = field.title().toLower() + QLatin1Char(' ') +
                       (text.isEmpty() ? unset_words() : shown_for(field.spec(), value));
  const auto fail = [&field, &workspace](const QString& message) {
    show_setting(field, workspace.document());
    emit workspace.failed(message);
  };
  const auto edit = [&field, &workspace, key, value, what] {
    workspace.edit(what, with_setting(workspace.document(), key, value));
    show_setting(field, workspace.document());  // it may be what it was
  };
  try {
    Document next = with_setting(workspace.document(), key, value);
    if (!needs_check(key, value)) return edit();
    workspace.jobs().start(
        &field, QStringLiteral("case ") + words_of(key), SettingField::tr("Loading %1").arg(what),
        [key, edit, next = std::move(next), loader = workspace.loader()](Progress&) -> Jobs::Show {
          check_setting(next, key, *loader);
          return edit;
        },
        fail);
  } catch (const InputError& error) {
    fail(QString::fromStdString(in_window_words(error.message())));
  }
}

}  // namespace

void tie(SettingField& field, Workspace& workspace) {
  const auto show = [&field, &workspace] { show_setting(field, workspace.document()); };
  QObject::connect(&workspace, &Workspace::document_changed, &field, show);
  QObject::connect(&field, &SettingField::committed, &field,
                   [&field, &workspace](const QString& text) { commit(field, workspace, text); });
  show();
}

}  // namespace strata::gui
