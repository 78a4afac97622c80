#pragma once

// "Solve the rest": the best cuts for all layers but the locked ones, which stay as they are; by
// the simulated step, or under Eq. 1. As a function, and as a job of the lane "solve" whose answer
// is one step of undo.

#include <QString>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/workspace.h"
#include "sim/search/solve.h"

namespace strata::gui {

/// Layers that are to have these configs, whatever that costs; they are locked with them.
struct Forced {
  std::vector<LayerId> layers = {};
  std::vector<Config> configs = {};  ///< of each
};
struct Search {
  Forced forced = {};
  /// Else what the document's settings say.
  std::optional<Objective> objective = {};
};

struct SolvedRest {
  Document document;  ///< with the answer
  Objective objective = Objective::simulated;
  Seconds seconds = {}, lower_bound = {};  ///< of the objective: the answer's, and what is proved
  bool optimal = false;
  bool stopped = false;  ///< before it was done: the best so far
  TriedCase tried = {};  ///< all that it simulated by name
};

/// "Found: 245 ms a step, at most 3.9 % from the fastest.", or what was proved.
QString said_of(const SolvedRest& found);

/// The same of a case or a strategy that was edited while the search ran, and where the answer is.
QString said_elsewhere(const SolvedRest& found, bool same_case);

/// The best so far where it is called off. Throws InputError where locked layers cannot be kept,
/// Cancelled where nothing was found yet.
SolvedRest solved_rest(const Scene& scene, const Search& search, Progress& progress);

/// `done` is called in the window's thread after the edit; what was tried is on the scoreboard
/// then. An answer to a document that was edited in the meantime is only there, and `failed` says
/// so; with the `receiver` it is dropped in silence.
void solve_rest(Workspace& workspace, QObject* receiver, const Search& search,
                std::function<void(const SolvedRest&)> done,
                const std::function<void(QString)>& failed);

/// The locks of these layers turned on, or off where all of them are on.
Document with_locks_turned(const Document& document, const Graph& graph,
                           const std::vector<LayerId>& layers);

}  // namespace strata::gui
