#pragma once

// The front door: a request to its answer. It loads, resolves strategies, searches, predicts,
// explains and runs; what an answer rests on comes with it. What commands, sweeps, the window and
// other programs call. Thread-safe but for runs, which a Runner does one after another.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/ask/request.h"
#include "sim/case/case_loader.h"
#include "sim/case/predict.h"
#include "sim/explain/choices.h"
#include "sim/explain/diff.h"
#include "sim/explain/story.h"
#include "sim/measure/runner.h"
#include "sim/search/solve.h"
#include "sim/train/run.h"
#include "sim/trust/expected_error.h"
#include "sim/trust/step_interval.h"

namespace strata {

struct Predicted {
  Prediction prediction;
  std::optional<JitteredSteps> jitter;
  bool fits = true;  ///< in the memory of the devices, or within the limit that was set, if known
};

/// The configs that a layer could have.
struct ExplainedLayer {
  Strategy strategy;
  LayerId layer;
  Explanation explanation;
  std::vector<BreakEven> turns = {};  ///< against the best other choice
  bool all_tried = true;              ///< (BreakEvens)
};

struct RunAnswer {
  RunReport report;
  std::string machine;  ///< the Runner's description
};

struct Answer {
  Request request;
  std::shared_ptr<const Case> input;  ///< null of a run
  std::variant<std::vector<Predicted>, Solved, Story, ExplainedLayer, StrategyDiff, RunAnswer>
      found;
  std::optional<ExpectedError> expected_error = {};  ///< of predictions
  std::optional<StepInterval> interval = {};         ///< of predictions
  std::vector<std::string> warnings = {};            ///< what makes it doubtful, a sentence each
};

/// Which warnings are looked for. Of a step alone (Detail::step) there are those of its costs only.
enum class Warnings : std::uint8_t {
  none,
  of_prediction,  ///< of the case's costs, and of what a prediction shows
  of_what_ifs,    ///< those too that take predictions of their own
};

struct AskOptions {
  const std::atomic<bool>* cancelled = nullptr;
  std::function<void(const SolveProgress&)> searching = {};  ///< progress of a search
  std::function<void(const RunProgress&)> training = {};     ///< progress of a run
  /// Told the case as soon as it is loaded. What it throws ends the work.
  std::function<void(const Case&)> loaded = {};
  std::function<void(const std::string&)> warn = {};  ///< told each warning as soon as it is known
  std::shared_ptr<const Case> input = nullptr;  ///< the request's case, if it is loaded already
  CaseMemo* memo = nullptr;                     ///< of `input`, for all questions about it
  CaseLoader* loader = nullptr;  ///< that remembers what was read; without it, all is read anew
  Runner* runner = nullptr;      ///< of runs
  unsigned threads = 0;          ///< of searches; 0: all cores
  Warnings warnings = Warnings::of_what_ifs;
};

/// Of a search that found nothing, Solved::best is empty. Throws InputError for what is not there
/// or does not fit, EnvironmentError where devices or memory lack, Cancelled once it is called off,
/// but for a search or a training that has something to tell by then; and what a Runner throws.
Answer ask(const Request& request, const AskOptions& options = {});

/// The options of predict() for what the request tells of a strategy.
PredictOptions predict_options(const PredictRequest& request, const Case& input,
                               const Strategy& strategy);

/// A strategy's prediction as ask() makes it, of the request's case. Throws Cancelled.
Predicted predicted(const PredictRequest& request, const Case& input, const Strategy& strategy,
                    const std::atomic<bool>* cancelled = nullptr, CaseMemo* memo = nullptr);

}  // namespace strata
