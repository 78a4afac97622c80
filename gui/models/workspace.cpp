#include "gui/models/workspace.h"

#include <QUndoCommand>
#include <algorithm>
#include <array>
#include <utility>

namespace strata::gui {
namespace {

constexpr QLatin1String kSceneLane("scene"), kBaselineLane("baseline");
constexpr int kBlink = 100;  // milliseconds
constexpr std::size_t kSearchedScenes = 8;
constexpr std::array kOfTheUser{"scene", "baseline",  "why",   "what_if_curve", "runner",
                                "sweep", "phase_map", "trace", "report",        "open case"};

}  // namespace

/// One step of undo: the documents before and after.
class EditCommand : public QUndoCommand {
 public:
  EditCommand(Workspace& workspace, const QString& what, Document next, int drag,
              bool is_case = false)
      : QUndoCommand(what),
        workspace_(workspace),
        before_(workspace.document()),
        after_(std::move(next)),
        baseline_(workspace.baseline_),
        drag_(drag),
        is_case_(is_case) {}

  // What does not follow the case back, as one that was pinned, or the what-ifs of a case that was
  // made elsewhere.
  void undo() override {
    workspace_.become(before_);
    if (workspace_.baseline_.document() == baseline_.document()) return;
    workspace_.take_baseline(baseline_);
  }
  void redo() override {
    workspace_.become(after_);
    if (is_case_ && workspace_.baseline_.follows) workspace_.predict_baseline_of(after_);
  }
  int id() const override { return drag_; }
  bool mergeWith(const QUndoCommand* later) override {
    after_ = static_cast<const EditCommand*>(later)->after_;
    setObsolete(before_ == after_);
    return true;
  }

 private:
  Workspace& workspace_;
  Document before_, after_;
  Workspace::Baseline baseline_;  // before
  int drag_;
  bool is_case_;  // with what-ifs that it came with
};

/// One step of undo: what the scene is compared with, before and after.
class BaselineCommand : public QUndoCommand {
 public:
  BaselineCommand(Workspace& workspace, const QString& what, Workspace::Baseline next)
      : QUndoCommand(what),
        workspace_(workspace),
        before_(workspace.baseline_),
        after_(std::move(next)) {}

  void undo() override { workspace_.take_baseline(before_); }
  void redo() override { workspace_.take_baseline(after_); }

 private:
  Workspace& workspace_;
  Workspace::Baseline before_, after_;
};

std::optional<Document> Workspace::Baseline::document() const {
  if (pending) return pending;
  return scene ? std::optional(scene->document) : std::nullopt;
}

std::optional<Document> Workspace::chosen_baseline() const {
  if (baseline_.follows) return std::nullopt;
  return baseline_.document().value_or(Document());
}

Workspace::Workspace(Runner& runner, QObject* parent) : QObject(parent), runner_(runner) {
  patience_.setSingleShot(true);
  patience_.setInterval(kBlink);
  connect(&patience_, &QTimer::timeout, this, [this] { set_outdated(scene_ && !is_current()); });
}

void Workspace::set_outdated(bool outdated) {
  if (outdated == outdated_) return;
  outdated_ = outdated;
  emit outdated_changed();
}

void Workspace::note_saved(const StrategyChoice& choice, const std::string& file) {
  saved_ = choice.configs;
  saved_file_ = file;
}

bool Workspace::is_saved(const Document& document) const {
  return document.strategy.edited() && document.strategy.configs == saved_;
}

std::string Workspace::strategy_file(const Document& document) const {
  return is_saved(document) ? saved_file_ : "strategy.json";
}

// One that is edited before the one before it was predicted comes after that.
int Workspace::number_of(const Document& next) const {
  const StrategyChoice &now = document_.strategy, &then = next.strategy;
  if (!then.edited()) return 1;
  const int number = scoreboard_.number_of(next.input, then);
  const bool of_kind = next.input == document_.input && now.edited() && now.kind() == then.kind();
  if (!of_kind || number < now.number) return number;
  return now.configs == then.configs ? now.number : std::max(number, now.number + 1);
}

void Workspace::edit(const QString& what, Document next, bool continues) {
  if (!continues) ++drag_;
  next = edited(std::move(next), document_);
  next.strategy.number = number_of(next);
  if (next == document_) return;
  undo_.push(new EditCommand(*this, what, std::move(next), drag_));
}

void Workspace::edit_to_case(const QString& what, Document next) {
  ++drag_;
  next.strategy.number = number_of(next);
  if (next == document_) return;
  undo_.push(new EditCommand(*this, what, std::move(next), drag_, true));
}

void Workspace::open(const SavedDesk& desk) {
  undo_.clear();
  selection_.clear();
  scene_.reset();
  searched_scenes_.clear();
  measured_.reset();
  baseline_ = {};
  become(desk.document);
  emit measured_changed();
  emit baseline_changed();
  baseline_.follows = !desk.baseline;
  if (baseline_.follows) return predict_baseline_of(desk.document);
  if (!desk.baseline->empty()) predict_baseline(*desk.baseline);
}

void Workspace::set_strategy(const StrategyChoice& strategy) {
  if (document_.empty()) return;
  Document next = document_;
  next.strategy = strategy;
  edit(tr("strategy %1").arg(QString::fromStdString(strategy.label())), std::move(next));
}

void Workspace::set_config(const std::vector<LayerId>& layers, const Config& config) {
  set_config(layers, std::vector<Config>(layers.size(), config));
}

void Workspace::set_config(const std::vector<LayerId>& layers, const std::vector<Config>& cuts) {
  if (!scene_ || layers.empty()) return;
  if (!knows_cuts()) {
    emit failed(tr("The cut is left as it was: what was changed before is not predicted yet."));
    return;
  }
  const auto is_of_another = [&](LayerId layer) { return layer() >= scene_->input.graph.size(); };
  if (std::ranges::any_of(layers, is_of_another)) return;
  Document next = document_;
  std::vector<Config>& configs = next.strategy.configs;
  next.strategy.touched = !next.strategy.found.empty();
  if (configs.empty()) {
    const auto now = scene_->prediction.strategy.configs();
    configs.assign(now.begin(), now.end());
  }
  for (std::size_t i = 0; i < layers.size(); ++i) configs.at(layers[i]()) = cuts.at(i);
  edit(tr("cut of %n layer(s)", nullptr, static_cast<int>(layers.size())), std::move(next));
}

// The scene's, where the document has none of its own; of the same network in any case.
bool Workspace::knows_cuts() const {
  const bool own = document_.strategy.configs.size() == scene_->input.graph.size() &&
                   document_.input.model == scene_->document.input.model;
  return own || is_current();
}

void Workspace::set_what_if(const std::string& key, const std::string& value, bool continues) {
  edit(tr("what if %1").arg(QString::fromStdString(key)), document_.with_what_if(key, value),
       continues);
}

void Workspace::reset_what_ifs() {
  edit(tr("reset of all what-ifs"), document_.without_what_ifs());
}

void Workspace::stop() {
  const bool predicting = jobs_.busy(kSceneLane);
  jobs_.stop(kSearchLane);
  for (const char* const lane : kOfTheUser) jobs_.cancel(QLatin1String(lane));
  baseline_.pending.reset();
  if (!predicting) return;
  error_ = tr("Stopped: what is shown is as it was before. The next change predicts again.");
  set_outdated(false);
  emit scene_changed();
}

void Workspace::edit_and_read_anew(const QString& what, const Document& next) {
  loader_ = std::make_shared<CaseLoader>();
  searched_scenes_.clear();
  scoreboard_.forget_files();
  const bool same = next == document_;
  edit(what, next);
  if (same) predict_again();
  if (baseline_.pending) {
    predict_baseline(Document(*baseline_.pending));
  } else if (baseline_.scene) {
    predict_baseline(baseline_.scene->document);
  }
}

void Workspace::pin_baseline() {
  choose_baseline(tr("baseline as it stands"), {scene_});
}

// What is shown stays until the other is predicted.
void Workspace::set_baseline(const Document& other) {
  choose_baseline(tr("baseline %1").arg(QString::fromStdString(other.strategy.label())),
                  {baseline_.scene, other});
}

void Workspace::clear_baseline() {
  choose_baseline(tr("no baseline"), {});
}

void Workspace::choose_baseline(const QString& what, Baseline next) {
  ++drag_;
  undo_.push(new BaselineCommand(*this, what, std::move(next)));
}

void Workspace::take_baseline(const Baseline& next) {
  jobs_.cancel(kBaselineLane);
  baseline_ = next;
  if (next.pending) predict_baseline(*next.pending);
  emit baseline_changed();
}

void Workspace::predict_baseline(const Document& other) {
  baseline_.pending = other;
  jobs_.start(
      this, kBaselineLane, tr("Predicting the baseline"),
      [this, other, loader = loader_](Progress& progress) -> Jobs::Show {
        const ScenePtr scene = make_scene(other, *loader, &progress);
        return [this, scene, tried = tried(*scene)] {
          baseline_.scene = scene;
          baseline_.pending.reset();
          scoreboard_.add(tried);
          emit baseline_changed();
        };
      },
      [this](const QString& message) {
        baseline_.pending.reset();
        emit failed(message);
      });
}

void Workspace::predict_baseline_of(Document document) {
  document.strategy = {};
  predict_baseline(document);
}

void Workspace::set_measured(MeasuredPtr measured) {
  measured_ = std::move(measured);
  emit measured_changed();
}

void Workspace::become(const Document& document) {
  const CaseRequest before = document_.input;
  document_ = document;
  emit document_changed();
  predict_again();
  if (!patience_.isActive()) patience_.start();
  follow_with_baseline(before);
}

// One that nobody chose goes along with the case, but for the what-ifs, which are what it is
// compared by: those that it began with it has until they are taken back. One that was pinned
// stays, unless it is another network's, which says nothing.
void Workspace::follow_with_baseline(const CaseRequest& before) {
  const bool other_network = before.model != document_.input.model;
  if (other_network && baseline_.scene) {
    baseline_ = {};
    baseline_.follows = true;
    emit baseline_changed();
  }
  if (!baseline_.follows) return;
  CaseRequest same = before;
  same.sets = document_.input.sets;
  Document now = document_;
  bool other_sets = false;
  if (const auto known = baseline_.document(); known && !other_network) {
    now.input.sets = known->with_cluster(now.input.cluster).input.sets;
    std::erase_if(now.input.sets,
                  [&](const auto& set) { return document_.what_if(set.first).empty(); });
    other_sets = now.input.sets != known->input.sets;
  }
  if (other_sets || same != document_.input) predict_baseline_of(now);
}

ScenePtr Workspace::searched_before() const {
  const auto known = std::ranges::find(searched_scenes_, document_, &Scene::document);
  return known == searched_scenes_.end() ? nullptr : *known;
}

void Workspace::predict_again() {
  if (const ScenePtr known = searched_before()) {
    jobs_.cancel(kSceneLane);
    return adopt(known);
  }
  jobs_.start(
      this, kSceneLane, tr("Predicting"),
      [this, document = document_, loader = loader_](Progress& progress) -> Jobs::Show {
        const ScenePtr scene = make_scene(document, *loader, &progress);
        return [this, scene, tried = tried(*scene)] {
          adopt(scene);
          scoreboard_.add(tried);
        };
      },
      [this](const QString& message) {
        error_ = message;
        set_outdated(false);  // the error is said
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
  const auto range = selection_.range();
  if (range && range->end > scene->prediction.timeline.makespan()) {
    selection_.select_range(std::nullopt);
  }
  scene_ = std::move(scene);
  if (searched_objective(scene_->document.strategy.source) &&
      searched_scenes_.end() == std::ranges::find(searched_scenes_, scene_)) {
    searched_scenes_.push_back(scene_);
    if (searched_scenes_.size() > kSearchedScenes) searched_scenes_.pop_front();
  }
  if (is_current()) {
    patience_.stop();
    set_outdated(false);
  } else {
    patience_.start();
  }
  emit scene_changed();
}

}  // namespace strata::gui
