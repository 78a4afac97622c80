#include "gui/widgets/window/case_bar.h"

#include <QCompleter>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSignalBlocker>
#include <algorithm>
#include <initializer_list>

#include "sim/base/error.h"
#include "sim/cluster/presets.h"
#include "sim/graph/zoo.h"
#include "sim/scenario/settings.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata::gui {
namespace {

constexpr int kLeastLetters = 7;  // of a field in a narrow window
constexpr int kLettersOfStrategy = 13;

QStringList models() {
  QStringList names;
  for (const ZooEntry& entry : zoo())
    names << QString::fromUtf8(entry.name.data(), entry.name.size());
  return names;
}

// The usual sizes of each family of presets.
QStringList clusters() {
  QStringList names;
  for (const Preset& preset : presets())
    names << QString::fromStdString(std::string(preset.example));
  for (const char* name : {"p100-1x2", "p100-1x4", "p100-2x4", "p100-4x4", "p100-8x4", "p100-16x4",
                           "a100-4x8", "h100-4x8", "h200-4x8", "b200-4x8"}) {
    if (!names.contains(QLatin1String(name))) names << QLatin1String(name);
  }
  names.sort();
  return names;
}

// What a setting may be.
QStringList words(std::string_view key) {
  QStringList words;
  for (const std::string_view word : setting(key).choices)
    words << QString::fromUtf8(word.data(), static_cast<int>(word.size()));
  return words;
}

// A file by its name; the tooltip says where it is. Fields are called as their settings.
void show_text(QComboBox& box, const std::string& name_or_file) {
  const QSignalBlocker blocker(box);
  const QString text = QString::fromStdString(shown_name(name_or_file));
  const QString whole = QString::fromStdString(name_or_file);
  const std::string_view help = setting(box.objectName().toStdString()).help;
  const QString usual = QString::fromUtf8(help.data(), static_cast<qsizetype>(help.size()));
  box.setToolTip(whole == text ? usual : whole);
  const int at = box.findText(text);
  box.setCurrentIndex(at);  // none of the list, where it is not in it
  if (!box.isEditable()) return;
  box.setEditText(text);
  box.lineEdit()->setCursorPosition(0);  // its beginning, where it is too long
}

// What was typed: the name that is shown stands for the file that it is the name of.
std::string typed(const QString& text, const std::string& now) {
  return text.toStdString() == shown_name(now) ? now : text.toStdString();
}

}  // namespace

CaseBar::CaseBar(Workspace& workspace, QWidget* parent)
    : QToolBar(tr("Case"), parent), workspace_(workspace), batch_(new QSpinBox) {
  setObjectName(QStringLiteral("case_bar"));
  setMovable(false);
  row_ = new QWidget(this);
  line_ = new QHBoxLayout(row_);
  line_->setContentsMargins(0, 0, 4, 0);
  row_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  row_->setMinimumWidth(1);
  model_ = field(tr("Network"), QStringLiteral("model"), models());
  cluster_ = field(tr("on"), QStringLiteral("cluster"), clusters());
  add_label(tr("batch a device"), batch_);
  batch_->setObjectName(QStringLiteral("batch"));
  const WholeRange samples = whole_range(setting("batch_per_device"), Job::predict);
  batch_->setRange(static_cast<int>(samples.least), static_cast<int>(samples.most));
  batch_->setKeyboardTracking(false);
  line_->addWidget(batch_);
  sync_ = field(tr("sync"), QStringLiteral("sync"), words("sync"));
  bucket_ = field({}, QStringLiteral("bucket"),
                  {QStringLiteral("0"), QStringLiteral("1 MiB"), QStringLiteral("25 MiB")});
  bucket_->setAccessibleName(tr("buckets"));
  dtype_ = field(tr("in"), QStringLiteral("dtype"), words("dtype"));
  bucket_->setMinimumContentsLength(kLeastLetters - 1);
  for (QComboBox* box : {sync_, dtype_}) box->setMinimumContentsLength(kLeastLetters - 3);
  strategy_ = field(tr("Strategy"), QStringLiteral("strategy"), words("strategy"));
  usual_strategies_ = strategy_->count();
  strategy_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  strategy_->setMinimumContentsLength(kLettersOfStrategy);
  strategy_->setMinimumWidth(strategy_->sizeHint().width() * kLeastLetters / kLettersOfStrategy);
  for (QComboBox* box : {model_, cluster_, bucket_, strategy_}) {
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->completer()->setCaseSensitivity(Qt::CaseInsensitive);
    box->completer()->setCompletionMode(QCompleter::PopupCompletion);  // a slip is no other name
  }
  more_ = new MoreFields(workspace_);
  line_->addWidget(more_);
  connect(more_, &MoreFields::resized, this, &CaseBar::fit);
  line_->addStretch(1);
  fields_ = addWidget(row_);
  make_nothing();

  // textActivated: chosen from the list, or typed and Enter, if it is in the list.
  for (QComboBox* box : {model_, cluster_, bucket_, strategy_}) {
    connect(box->lineEdit(), &QLineEdit::returnPressed, box, [this, box] {
      emit box->textActivated(box->currentText());
      emit entered();
    });
  }
  for (QWidget* field :
       std::initializer_list<QWidget*>{model_, cluster_, bucket_, strategy_, batch_}) {
    field->installEventFilter(this);
  }
  connect(model_, &QComboBox::textActivated, this, [this](const QString& text) {
    if (text.toStdString() == shown_name(workspace_.document().input.model)) return;
    commit_name(*model_, tr("network %1").arg(text),
                [text](Document& d) { d = d.with_model(text.toStdString()); });
  });
  connect(cluster_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit_name(*cluster_, tr("cluster %1").arg(text),
                [text](Document& d) { d = d.with_cluster(typed(text, d.input.cluster)); });
  });
  connect(batch_, &QSpinBox::valueChanged, this, [this](int value) {
    commit(tr("batch %1 a device").arg(value), [&](Document& d) {
      d.input.training.batch.reset();
      d.input.training.batch_per_device = value;
      d.base_batch.reset();
    });
  });
  connect(sync_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit(tr("sync %1").arg(text), [&](Document& d) {
      read_setting("sync", text.toStdString(), d.input.training.sync.algorithm);
    });
  });
  connect(bucket_, &QComboBox::textActivated, this, &CaseBar::commit_bucket);
  connect(dtype_, &QComboBox::textActivated, this, [this](const QString& text) {
    commit(text,
           [&](Document& d) { read_setting("dtype", text.toStdString(), d.input.training.dtype); });
  });
  connect(strategy_, &QComboBox::textActivated, this,
          [this](const QString& text) { commit_strategy(text); });
  connect(&workspace_, &Workspace::document_changed, this, &CaseBar::show_document);
  show_document();
}

void CaseBar::focus_model() {
  model_->setFocus(Qt::ShortcutFocusReason);
  model_->lineEdit()->selectAll();
}

bool CaseBar::eventFilter(QObject* watched, QEvent* event) {
  const bool asks = event->type() == QEvent::ShortcutOverride;
  if (!asks || watched->findChild<QLineEdit*>()->isModified()) {
    return QToolBar::eventFilter(watched, event);
  }
  const auto* const key = static_cast<QKeyEvent*>(event);
  const bool undoes = key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo);
  if (undoes) event->ignore();
  return undoes;
}

void CaseBar::make_nothing() {
  auto* text = new QLabel(
      tr(" Nothing is on the desk: <a href='file'>open a file</a> or <a href='example'>the paper's "
         "example</a>."));
  text->setObjectName(QStringLiteral("nothing"));
  connect(text, &QLabel::linkActivated, this, [this](const QString& link) {
    link == QLatin1String("file") ? emit file_wanted() : emit example_wanted();
  });
  nothing_ = addWidget(text);
}

QComboBox* CaseBar::field(const QString& label, const QString& name, const QStringList& choices) {
  auto* box = new QComboBox;
  box->setObjectName(name);
  box->setAccessibleName(label);
  box->addItems(choices);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  box->setMinimumContentsLength(kLeastLetters);
  if (!label.isEmpty()) add_label(label, box);
  line_->addWidget(box);
  return box;
}

void CaseBar::add_label(const QString& text, QWidget* field) {
  auto* label = new QLabel(text);
  label->setBuddy(field);
  line_->addWidget(label);
  labels_.push_back(label);
}

// In a narrow window fields stand without their labels, first those whose values speak for
// themselves: no field is ever hidden.
void CaseBar::fit() {
  int left =
      row_->width() - least_width() - strategy_->sizeHint().width() + strategy_->minimumWidth();
  for (const QWidget* const field :
       std::initializer_list<const QWidget*>{batch_, strategy_, sync_, model_, cluster_, dtype_}) {
    const auto label = std::ranges::find(labels_, field, &QLabel::buddy);
    if (label == labels_.end()) continue;
    left -= (*label)->sizeHint().width() + line_->spacing();
    (*label)->setVisible(left >= 0);
  }
}

int CaseBar::least_width() const {
  int least = line_->contentsMargins().left() + line_->contentsMargins().right();
  for (const QWidget* field : std::initializer_list<const QWidget*>{
           model_, cluster_, batch_, sync_, bucket_, dtype_, strategy_, more_}) {
    const int set = field->minimumWidth();
    least += (set > 0 ? set : field->minimumSizeHint().width()) + line_->spacing();
  }
  return least;
}

// A tool bar would hide what it has no room for.
QSize CaseBar::minimumSizeHint() const {
  constexpr int kEdges = 16;
  return {least_width() + kEdges, QToolBar::minimumSizeHint().height()};
}

void CaseBar::resizeEvent(QResizeEvent* event) {
  QToolBar::resizeEvent(event);
  fit();
}

void CaseBar::commit(const QString& what, const std::function<void(Document&)>& change) {
  if (workspace_.document().empty()) return;
  Document next = workspace_.document();
  change(next);
  workspace_.edit(what, std::move(next));
}

// Of what there is none nothing is changed: a slip of the keyboard would reset what goes with a
// network or a cluster.
void CaseBar::commit_name(const QComboBox& field, const QString& what,
                          const std::function<void(Document&)>& change) {
  if (workspace_.document().empty()) return;
  Document next = workspace_.document();
  change(next);
  workspace_.jobs().start(
      this, QStringLiteral("case ") + field.objectName(), tr("Loading %1").arg(what),
      [this, what, change, request = next.input,
       loader = workspace_.loader()](Progress&) -> Jobs::Show {
        loader->load(request);
        return [this, what, change] { commit(what, change); };
      },
      [this](const QString& message) {
        show_document();
        emit workspace_.failed(message);
      });
}

// By name, as hybrid:tp=4,sp=1, or a file: what there is none of changes nothing.
void CaseBar::commit_strategy(const QString& text) {
  const std::string name = text.toStdString();
  if (name == workspace_.document().strategy.label()) return;  // which need not be a name
  const int at = strategy_->findText(text);
  const bool usual = at >= 0 && at < usual_strategies_;
  if (usual || searched_objective(name)) return workspace_.set_strategy({name, {}});
  workspace_.jobs().start(
      this, QStringLiteral("case strategy"), tr("Loading %1").arg(text),
      [this, name, request = workspace_.document().input,
       loader = workspace_.loader()](Progress&) -> Jobs::Show {
        load_strategy(name, loader->load(request));
        return [this, name] { workspace_.set_strategy({name, {}}); };
      },
      [this](const QString& message) {
        show_document();
        emit workspace_.failed(message);
      });
}

void CaseBar::commit_bucket(const QString& text) try {
  const auto bucket = read_setting<Bytes>("bucket", text.toStdString());
  commit(tr("buckets of %1").arg(text),
         [&](Document& d) { d.input.training.sync.bucket = bucket; });
} catch (const InputError& error) {
  show_document();
  emit workspace_.failed(QString::fromStdString(error.message()).remove(QLatin1Char('`')));
}

void CaseBar::show_document() {
  const Document& document = workspace_.document();
  nothing_->setVisible(document.empty());
  fields_->setVisible(!document.empty());
  if (document.empty()) return;
  show_text(*model_, document.input.model);
  show_text(*cluster_, document.input.cluster);
  show_text(*sync_, std::string(name(document.input.training.sync.algorithm)));
  show_text(*bucket_, print_setting("bucket", document.input.training.sync.bucket));
  bucket_->setEnabled(document.input.training.sync.algorithm != SyncAlgorithm::ps);
  show_text(*dtype_, std::string(name(document.input.training.dtype)));
  const QSignalBlocker blocker(batch_);
  batch_->setValue(static_cast<int>(document.input.training.batch_per_device));
  batch_->setSuffix(document.input.training.batch
                        ? tr(" (set: %1 in all)").arg(*document.input.training.batch)
                        : QString());
  const int arrows = batch_->fontMetrics().height() * 2;
  const QString least = batch_->text() + QString(2, QLatin1Char('0'));
  batch_->setMinimumWidth(batch_->fontMetrics().horizontalAdvance(least) + arrows);
  fit();
  const QString strategy = QString::fromStdString(document.strategy.label());
  const QSignalBlocker quiet(strategy_);
  while (strategy_->count() > usual_strategies_) strategy_->removeItem(usual_strategies_);
  if (strategy_->findText(strategy) < 0) strategy_->addItem(strategy);
  strategy_->setCurrentText(strategy);
  strategy_->lineEdit()->setCursorPosition(0);
  const QString source = QString::fromStdString(document.strategy.source);
  strategy_->setToolTip(strategy == source || searched_objective(document.strategy.source)
                            ? tr("optimal and eq1: found anew after every change. Or type a "
                                 "hybrid's sizes, as hybrid:tp=4,sp=1, or a file")
                            : source);
}

}  // namespace strata::gui
