#include "gui/models/network/solve_rest.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

#include "gui/models/text.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "sim/study/search/within_memory.h"

namespace strata::gui {
namespace {

void lock(Document& document, const std::string& name) {
  const auto at = std::lower_bound(document.locked.begin(), document.locked.end(), name);
  if (at == document.locked.end() || *at != name) document.locked.insert(at, name);
}

std::vector<LayerId> locked_layers(const Document& document, const Graph& graph) {
  std::vector<LayerId> layers;
  for (const std::string& name : document.locked) {
    const LayerId layer = graph.find(name);
    if (layer.valid()) layers.push_back(layer);
  }
  return layers;
}

Strategy forced_strategy(const Strategy& strategy, const Forced& forced) {
  std::vector<Config> configs(strategy.configs().begin(), strategy.configs().end());
  for (const LayerId layer : forced.layers) configs.at(layer()) = forced.config;
  return {strategy.name(), std::move(configs)};
}

// Element-wise layers choose for themselves where locked ones do not go along with what they
// follow.
bool needs_freedom(const Case& input, const KeptLayers& kept) {
  const SearchSpace space(input.graph, input.cluster);
  for (const LayerId layer : kept.layers) {
    const LayerId leader = space[*space.variable_of(layer)].leader;
    const bool both =
        std::find(kept.layers.begin(), kept.layers.end(), leader) != kept.layers.end();
    if (both && kept.strategy[layer] != kept.strategy[leader]) return true;
  }
  return false;
}

QString solver_words(const char* text) {
  return QCoreApplication::translate("SolveRest", text);
}

}  // namespace

SolvedRest solved_rest(const Scene& scene, const Search& search, Progress& progress) {
  const Case& input = scene.input;
  const Forced& forced = search.forced;
  const bool simulated = search.objective == Objective::simulated;
  SolvedRest result{scene.document, search.objective};
  for (const LayerId layer : forced.layers) lock(result.document, input.graph[layer].name);
  SolveOptions options;
  options.kept = {forced_strategy(scene.prediction.strategy, forced),
                  locked_layers(result.document, input.graph)};
  options.space.free_elementwise = needs_freedom(input, options.kept);
  options.objective = search.objective;
  options.simulate = simulated;  // else the scene's prediction does it
  options.limits.cancelled = progress.cancelled();
  options.limits.progress = [&](const SolveProgress& at) {
    progress.report(at.done, std::string(at.stage));
  };
  const Solved solved = solve(input, options);
  throw_if_cancelled(progress.cancelled());
  if (solved.best.empty()) throw InputError(none_found(input, solved, options.memory_limit));
  const Scored& best = solved.best.front();
  result.seconds = solved.least();
  result.lower_bound = solved.outside ? Seconds{} : solved.lower_bound;
  result.optimal = solved.optimal;
  result.document.strategy = {simulated ? "optimal" : "eq1", {}};
  if (simulated || !options.kept.layers.empty()) {
    const auto configs = best.strategy.configs();
    result.document.strategy.configs.assign(configs.begin(), configs.end());
    if (simulated) result.document.strategy.found = best.strategy.name();
  }
  return result;
}

QString said_of(const SolvedRest& found) {
  const bool simulated = found.objective == Objective::simulated;
  const QString seconds = human_seconds(found.seconds);
  const QString what = simulated ? solver_words("%1 a step").arg(seconds)
                                 : solver_words("%1 under Eq. 1").arg(seconds);
  const QString locked = found.document.locked.empty()
                             ? QString()
                             : solver_words(" with the locked layers as they are");
  if (found.optimal) return solver_words("Found: %1, proved to be the least%2.").arg(what, locked);
  if (found.lower_bound.value == 0) return solver_words("Found: %1%2.").arg(what, locked);
  const double gap = 100 * (found.seconds / found.lower_bound - 1);
  return solver_words("Found: %1%2; no strategy is more than %3 % faster.")
      .arg(what, locked)
      .arg(gap, 0, 'g', 2);
}

void solve_rest(Workspace& workspace, QObject* receiver, const Search& search,
                std::function<void(const SolvedRest&)> done,
                const std::function<void(QString)>& failed) {
  if (workspace.document().empty()) return;
  const Document asked = workspace.document();
  workspace.jobs().start(
      receiver, QStringLiteral("solve"), solver_words("Solving"),
      [&workspace, asked, search, done = std::move(done), failed, scene = workspace.scene(),
       loader = workspace.loader()](Progress& progress) -> Jobs::Show {
        const ScenePtr base =
            scene && scene->document == asked ? scene : make_scene(asked, *loader, &progress);
        const SolvedRest found = solved_rest(*base, search, progress);
        return [&workspace, asked, found, done, failed] {
          if (!(workspace.document() == asked)) {
            return failed(
                solver_words("The search's answer is dropped: what it was asked about was "
                             "edited while it ran."));
          }
          workspace.edit(solver_words("solve the rest"), found.document);
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
