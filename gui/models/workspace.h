#pragma once

// The one thing behind the window: the Document, what is predicted of it, what it is compared with,
// and what the user looks at. Views show it, ask it for edits and follow its signals; none knows
// another. Lives in the window's thread; predictions are made in others.

#include <QObject>
#include <QString>
#include <QTimer>
#include <QUndoStack>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gui/models/jobs.h"
#include "gui/models/scene.h"
#include "gui/models/scoreboard.h"
#include "gui/models/selection.h"
#include "sim/measure/runner.h"

namespace strata::gui {

class Workspace : public QObject {
  Q_OBJECT

 public:
  /// `runner`: for real runs; must outlive this.
  explicit Workspace(Runner& runner, QObject* parent = nullptr);

  const Document& document() const { return document_; }
  /// The newest that is known of the document, or of one a few edits ago; null at first.
  const ScenePtr& scene() const { return scene_; }
  /// What the scene is compared with; null where nothing is.
  const ScenePtr& baseline() const { return baseline_.scene; }
  /// That the user chose: empty where it is none, nothing where it follows the case.
  std::optional<Document> chosen_baseline() const;
  const MeasuredPtr& measured() const { return measured_; }
  /// Whether the scene is the document's.
  bool is_current() const { return scene_ && error_.isEmpty() && scene_->document == document_; }
  /// Whether what is shown is another case's for longer than a blink: views are dimmed.
  bool is_outdated() const { return outdated_; }
  /// Why the document has no scene; empty where it has one.
  const QString& error() const { return error_; }

  Jobs& jobs() { return jobs_; }
  Selection& selection() { return selection_; }
  /// What was predicted or found, of this case and of others.
  Scoreboard& scoreboard() { return scoreboard_; }
  QUndoStack& undo_stack() { return undo_; }
  Runner& runner() { return runner_; }

  /// The case that a search was begun of, while one runs; else null.
  const CaseRequest* searched_case() const {
    return jobs_.busy(kSearchLane) ? &searched_ : nullptr;
  }
  void begin_search(const CaseRequest& input) { searched_ = input; }
  /// The document's cuts were written into this file: commands name it.
  void note_saved(const StrategyChoice& choice, const std::string& file);
  /// Where the edited cuts of the document stand, or are to be saved: "strategy.json".
  std::string strategy_file(const Document& document) const;
  bool is_saved(const Document& document) const;

  /// Shared with jobs: another takes its place when files are to be read anew.
  const std::shared_ptr<CaseLoader>& loader() const { return loader_; }

  /// Another document, as one step of undo; or as part of the step before it, which it continues.
  void edit(const QString& what, Document next, bool continues = false);
  /// As edit(), to a case that was made elsewhere: a baseline that nobody pinned is data
  /// parallelism on it, with the what-ifs that it came with.
  void edit_to_case(const QString& what, Document next);
  /// Nothing before it can be undone. Beside it stands the baseline that was chosen, or data
  /// parallelism on the same devices.
  void open(const SavedDesk& desk);
  void open(const Document& document) { open(SavedDesk{document}); }
  void set_strategy(const StrategyChoice& strategy);
  /// As edit(), for a document that names a file which may be other than it was: all files are read
  /// anew, also where the document stays the same.
  void edit_and_read_anew(const QString& what, const Document& next);
  /// The same cut for all these layers. Refused, which failed() says, while the cuts that it would
  /// stand among are not known.
  void set_config(const std::vector<LayerId>& layers, const Config& config);
  /// Each of these layers its own cut, in their order.
  void set_config(const std::vector<LayerId>& layers, const std::vector<Config>& cuts);
  /// An empty value takes it out. A slider that is dragged makes one step of undo: all but its
  /// first value `continue` it.
  void set_what_if(const std::string& key, const std::string& value, bool continues = false);

  /// All of them at once.
  void reset_what_ifs();

  /// Calls off what the user waits for; a search ends with the best that it has. Edits are saved
  /// and pictures drawn nevertheless.
  void stop();

  // Each is a step of undo.
  void pin_baseline();                       ///< the scene as it stands
  void set_baseline(const Document& other);  ///< predicted in the background
  void clear_baseline();
  void set_measured(MeasuredPtr measured);

 signals:
  void document_changed();
  void scene_changed();  ///< scene() or error()
  void outdated_changed();
  void baseline_changed();
  void measured_changed();
  /// To be shown in place, where nothing better shows it.
  void failed(const QString& message);

 private:
  friend class EditCommand;
  friend class BaselineCommand;
  struct Baseline {
    ScenePtr scene = nullptr;
    std::optional<Document> pending = {};  ///< that is being predicted, to take its place
    bool follows = false;                  ///< data parallelism of whatever case is on the desk
    std::optional<Document> document() const;
  };

  int number_of(const Document& next) const;
  void become(const Document& document);
  bool knows_cuts() const;
  void predict_again();
  void follow_with_baseline(const CaseRequest& before);
  void choose_baseline(const QString& what, Baseline next);
  void take_baseline(const Baseline& next);
  void predict_baseline(const Document& other);
  void predict_baseline_of(Document document);  ///< data parallelism on the same case
  void adopt(ScenePtr scene);
  /// Of the document, where it was searched for a few edits ago.
  ScenePtr searched_before() const;
  void set_outdated(bool outdated);

  Runner& runner_;
  std::shared_ptr<CaseLoader> loader_ = std::make_shared<CaseLoader>();
  Document document_;
  ScenePtr scene_;
  std::deque<ScenePtr> searched_scenes_;  ///< that took a search, the latest last
  Baseline baseline_;
  MeasuredPtr measured_;
  QString error_;
  bool outdated_ = false;
  QTimer patience_;  ///< until what is shown is outdated
  CaseRequest searched_;
  std::vector<Config> saved_;  ///< cuts that stand in a file
  std::string saved_file_;
  Selection selection_;
  Scoreboard scoreboard_;
  QUndoStack undo_;
  int drag_ = 0;  ///< edits of the same number are one step
  Jobs jobs_;     // last: nothing that its jobs show is gone before it
};

}  // namespace strata::gui
