#include "gui/models/network/solve_rest.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "gui/models/search_text.h"
#include "gui/models/text.h"
#include "sim/ask/ask.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/case/eq1_tables.h"
#include "sim/search/within_memory.h"

namespace strata::gui {
namespace {

void lock(Document& document, const std::string& name) {
  const auto at = std::lower_bound(document.locked.begin(), document.locked.end(), name);
  if (at == document.locked.end() || *at != name) document.locked.insert(at, name);
}

// Locks of another network say nothing of this one.
std::vector<std::string> locked_names(const Document& document, const Graph& graph) {
  std::vector<std::string> names = document.locked;
  std::erase_if(names, [&](const std::string& name) { return !graph.find(name).valid(); });
  return names;
}

std::vector<Config> forced_configs(const Strategy& strategy, const Forced& forced) {
  std::vector<Config> configs(strategy.configs().begin(), strategy.configs().end());
  for (std::size_t i = 0; i < forced.layers.size(); ++i) {
    configs.at(forced.layers[i]()) = forced.configs.at(i);
  }
  return configs;
}

// Element-wise layers choose for themselves where locked ones do not go along with what they
// follow.
bool needs_freedom(const Case& input, const SolveRequest& request) {
  const SearchSpace space(input.graph, input.cluster);
  for (const std::string& name : request.keep) {
    const LayerId layer = input.graph.find(name);
    const LayerId leader = space[*space.variable_of(layer)].leader;
    const bool both =
        std::ranges::find(request.keep, input.graph[leader].name) != request.keep.end();
    if (both && request.configs[layer()] != request.configs[leader()]) return true;
  }
  return false;
}

// Of the document, whose locks may be more than the scene's.
SolveRequest request_of(const Document& document, const Scene& scene, const Search& search) {
  const Case& input = scene.input;
  SolveRequest request = solve_request(document);
  request.keep = locked_names(document, input.graph);
  request.strategy = request.keep.empty() ? "" : scene.prediction.strategy.name();
  request.configs = forced_configs(scene.prediction.strategy, search.forced);
  SearchSettings& settings = request.search;
  settings.objective = search.objective.value_or(objective_of(settings));
  settings.space.free_elementwise =
      settings.space.free_elementwise || needs_freedom(input, request);
  const SearchSpace space(input.graph, input.cluster, settings.space);
  if (!settings.space.degrees && !eq1_tables_fit(input, space)) {
    settings.space.degrees = DegreeSet::pow2;
  }
  // The scene's prediction simulates what was found.
  if (search.objective == Objective::eq1) settings.no_simulation = true;
  return request;
}

// By name where a search of that name finds it again.
StrategyChoice best_choice(const Solved& solved, bool named) {
  const bool simulated = solved.objective == Objective::simulated;
  StrategyChoice choice{simulated ? "optimal" : "eq1"};
  if (!simulated && named && !solved.stopped) return choice;
  const Strategy& best = solved.best.front().strategy;
  choice.configs.assign(best.configs().begin(), best.configs().end());
  if (simulated || solved.stopped) choice.found = best.name();
  return choice;
}

// The answer to a search of `base` as an edit of what is on the desk by now, where that is the same
// but for locks on layers that the answer cuts as they are cut.
std::optional<Document> answered(const Scene& base, Document answer, const Document& now) {
  Document same = now;
  same.locked = base.document.locked;
  if (same != base.document) return std::nullopt;
  const std::vector<Config>& cuts = answer.strategy.configs;
  for (const std::string& name : now.locked) {
    if (std::ranges::binary_search(base.document.locked, name)) continue;
    const LayerId layer = base.input.graph.find(name);
    const bool known = layer.valid() && layer() < cuts.size();
    if (!known || cuts[layer()] != base.prediction.strategy[layer]) return std::nullopt;
    lock(answer, name);
  }
  for (const std::string& name : base.document.locked) {
    if (!std::ranges::binary_search(now.locked, name)) std::erase(answer.locked, name);
  }
  return answer;
}

// For a question that ends before the scene does.
std::shared_ptr<const Case> unowned(const Case& input) {
  return {std::shared_ptr<const Case>(), &input};
}

QString solver_words(const char* text) {
  return QCoreApplication::translate("SolveRest", text);
}

}  // namespace

SolvedRest solved_rest(const Scene& scene, const Search& search, Progress& progress) {
  const Case& input = scene.input;
  SolvedRest result{scene.document};
  for (const LayerId layer : search.forced.layers) lock(result.document, input.graph[layer].name);
  const SolveRequest request = request_of(result.document, scene, search);
  result.objective = objective_of(request.search);
  AskOptions options;
  options.input = unowned(input);
  options.cancelled = progress.cancelled();
  options.searching = [&](const SolveProgress& at) {
    progress.report(at.done, found_so_far(at).toStdString());
  };
  const Answer answer = ask(request, options);
  const Solved& solved = std::get<Solved>(answer.found);
  const bool found = !solved.best.empty() && std::isfinite(solved.least().value);
  if (!found) throw_if_cancelled(progress.cancelled());
  if (solved.best.empty()) {
    throw InputError(none_found(input, solved, request.search.memory_limit));
  }
  result.seconds = solved.least();
  result.lower_bound = solved.outside ? Seconds{} : solved.lower_bound;
  result.optimal = solved.optimal;
  result.stopped = solved.stopped;
  const bool keeps = !request.keep.empty();
  const SearchSettings& settings = scene.document.search;
  result.document.strategy = best_choice(solved, !keeps && settings == SearchSettings());
  result.tried = tried(result.document.input, input, solved, result.document.strategy,
                       !keeps && covers_usual_space(settings));
  return result;
}

QString said_of(const SolvedRest& found) {
  const bool simulated = found.objective == Objective::simulated;
  const QString seconds = human_seconds(found.seconds);
  QString text = simulated ? solver_words("%1 a step").arg(seconds)
                           : solver_words("%1 under Eq. 1").arg(seconds);
  if (!found.document.locked.empty()) text += solver_words(" with the locked layers as they are");
  if (const QString gap = gap_text(found.lower_bound, found.seconds); !gap.isEmpty()) {
    text += QStringLiteral(", ") + gap;
    if (!found.document.locked.empty()) text += solver_words(" with these locks");
  }
  return (found.stopped ? solver_words("Stopped: the best so far takes %1.")
                        : solver_words("Found: %1."))
      .arg(text);
}

QString said_elsewhere(const SolvedRest& found, bool same_case) {
  return said_of(found) + QLatin1Char(' ') +
         (same_case
              ? solver_words("The strategy was edited in the meantime: the answer is on the "
                             "scoreboard.")
              : solver_words("The case was edited in the meantime: undo that (Ctrl+Z), and the "
                             "scoreboard has the answer."));
}

void solve_rest(Workspace& workspace, QObject* receiver, const Search& search,
                std::function<void(const SolvedRest&)> done,
                const std::function<void(QString)>& failed) {
  if (workspace.document().empty()) return;
  const Document asked = workspace.document();
  workspace.begin_search(asked.input);
  workspace.jobs().start(
      receiver, kSearchLane, solver_words("Solving"),
      [&workspace, asked, search, done = std::move(done), failed, scene = workspace.scene(),
       loader = workspace.loader()](Progress& progress) -> Jobs::Show {
        const ScenePtr base =
            scene && scene->document == asked ? scene : make_scene(asked, *loader, &progress);
        const SolvedRest found = solved_rest(*base, search, progress);
        return [&workspace, asked, base, found, done, failed] {
          workspace.scoreboard().add(found.tried);
          const std::optional<Document> next =
              answered(*base, found.document, workspace.document());
          if (!next) {
            return failed(said_elsewhere(found, workspace.document().input == asked.input));
          }
          workspace.edit(solver_words("solve the rest"), *next);
          done(found);
        };
      },
      failed);
}

Document with_locks_turned(const Document& document, const Graph& graph,
                           const std::vector<LayerId>& layers) {
  Document next = document;
  const auto locked = [&](LayerId layer) {
    return std::binary_search(next.locked.begin(), next.locked.end(), graph[layer].name);
  };
  std::vector<LayerId> lockable;
  for (const LayerId layer : layers) {
    if (!is_input(graph[layer].op)) lockable.push_back(layer);
  }
  if (std::all_of(lockable.begin(), lockable.end(), locked)) {
    for (const LayerId layer : lockable) std::erase(next.locked, graph[layer].name);
  } else {
    for (const LayerId layer : lockable) lock(next, graph[layer].name);
  }
  return next;
}

}  // namespace strata::gui
