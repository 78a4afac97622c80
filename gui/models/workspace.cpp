#include "gui/models/workspace.h"

#include <QUndoCommand>
#include <utility>

namespace strata::gui {

/// One step of undo: the documents before and after.
class EditCommand : public QUndoCommand {
 public:
  EditCommand(Workspace& workspace, const QString& what, Document next, int drag)
      : QUndoCommand(what),
        workspace_(workspace),
        before_(workspace.document()),
        after_(std::move(next)),
        drag_(drag) {}

  void undo() override { workspace_.become(before_); }
  void redo() override { workspace_.become(after_); }
  int id() const override { return drag_; }
  bool mergeWith(const QUndoCommand* later) override {
    after_ = static_cast<const EditCommand*>(later)->after_;
    setObsolete(before_ == after_);
    return true;
  }

 private:
  Workspace& workspace_;
  Document before_, after_;
  int drag_;
};

Workspace::Workspace(Runner& runner, QObject* parent) : QObject(parent), runner_(runner) {}

void Workspace::edit(const QString& what, Document next, bool continues) {
  if (!continues) ++drag_;
  if (next == document_) return;
  undo_.push(new EditCommand(*this, what, std::move(next), drag_));
}

void Workspace::open(const Document& document) {
  undo_.clear();
  selection_.clear();
  Document beside = document;
  beside.strategy = {};
  scene_.reset();
  measured_.reset();
  become(document);
  emit measured_changed();
  set_baseline(beside);
}

void Workspace::set_strategy(const StrategyChoice& strategy) {
  Document next = document_;
  next.strategy = strategy;
  edit(tr("strategy %1").arg(QString::fromStdString(strategy.label())), std::move(next));
}

void Workspace::set_config(const std::vector<LayerId>& layers, const Config& config) {
  if (!scene_ || layers.empty()) return;
  Document next = document_;
  std::vector<Config>& configs = next.strategy.configs;
  next.strategy.found.clear();
  if (configs.empty()) {
    const auto now = scene_->prediction.strategy.configs();
    configs.assign(now.begin(), now.end());
  }
  for (const LayerId layer : layers) configs.at(layer()) = config;
  edit(tr("cut of %n layer(s)", nullptr, static_cast<int>(layers.size())), std::move(next));
}

void Workspace::set_what_if(const std::string& key, const std::string& value, bool continues) {
  edit(tr("what if %1").arg(QString::fromStdString(key)), document_.with_what_if(key, value),
       continues);
}

void Workspace::pin_baseline() {
  baseline_ = scene_;
  emit baseline_changed();
}

void Workspace::set_baseline(const Document& other) {
  jobs_.start(
      QStringLiteral("baseline"), tr("Predicting the baseline"),
      [this, other, loader = loader_](Progress&) -> Jobs::Show {
        return [this, scene = make_scene(other, *loader)] {
          baseline_ = scene;
          emit baseline_changed();
        };
      },
      [this](const QString& message) { emit failed(message); });
}

void Workspace::clear_baseline() {
  jobs_.cancel(QStringLiteral("baseline"));
  baseline_.reset();
  emit baseline_changed();
}

void Workspace::set_measured(MeasuredPtr measured) {
  measured_ = std::move(measured);
  emit measured_changed();
}

void Workspace::become(const Document& document) {
  document_ = document;
  emit document_changed();
  predict_again();
}

void Workspace::predict_again() {
  jobs_.start(
      QStringLiteral("scene"), tr("Predicting"),
      [this, document = document_, loader = loader_](Progress&) -> Jobs::Show {
        return [this, scene = make_scene(document, *loader)] { adopt(scene); };
      },
      [this](const QString& message) {
        error_ = message;
        emit scene_changed();
      },
      WhenStale::show);
}

// The selection speaks of layers, devices and tasks by number: of another network's it says
// nothing.
void Workspace::adopt(ScenePtr scene) {
  error_.clear();
  selection_.select_task(std::nullopt);
  if (scene_ && (scene_->document.input.model != scene->document.input.model ||
                 scene_->document.input.cluster != scene->document.input.cluster)) {
    selection_.clear();
  }
  scene_ = std::move(scene);
  emit scene_changed();
}

}  // namespace strata::gui
