#pragma once

// One drawn case with its prediction, and the same case changed: what relations are about.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/ask/question.h"
#include "sim/case/case_loader.h"
#include "sim/case/predict.h"
#include "sim/search/solve.h"
#include "tests/metamorphic/drawn_case.h"

namespace strata::testing {

/// A case as Strata understands it, and what it predicts.
struct Answer {
  Question question;
  Case input;
  Strategy strategy;
  Prediction found;

  const CaseRequest& request() const { return question.input(); }
  std::size_t steps() const { return std::get<PredictRequest>(question.request).steps; }
};

/// Of all devices and rounds, with everything that a prediction can say.
PredictOptions whole_answer();
/// The same without what it says beside the step, bytes and peaks.
PredictOptions brief_answer();

/// What a device computes in a step, whenever that is.
struct DeviceWork {
  Seconds compute, recompute, optimizer;
  Seconds total() const { return compute + recompute + optimizer; }
};
/// By device, of the costs of its tasks at its speed.
std::vector<DeviceWork> device_work(const Case& input, const Prediction& found);

/// The answer to these settings. Throws InputError where the case is refused.
Answer ask(CaseLoader& loader, const DrawnCase& drawn,
           const PredictOptions& options = whole_answer());

/// What went wrong, and what did not apply, while one relation was held to one case.
struct Verdict {
  std::vector<std::string> faults;
  std::vector<double> anomalies;  ///< of list scheduling, relative to the step
  bool applied = false;
};

class Trial {
 public:
  /// Throws InputError where the case is refused.
  Trial(CaseLoader& loader, DrawnCase said, std::string its_folder, std::uint64_t seed);

  Random random;
  const DrawnCase drawn;
  const std::string folder;
  const Answer base;  ///< of the case as it was drawn
  Verdict verdict;    ///< of the relation that is held to the case now

  /// Brief answers to the case with other settings, and to another case.
  Answer with(std::vector<Setting> changes) const {
    return ask(loader_, drawn.with(std::move(changes)), brief_answer());
  }
  Answer of(const DrawnCase& other) const { return ask(loader_, other, brief_answer()); }
  /// Brief, of a case whose parts were changed.
  Prediction predicted(const Case& changed) const;
  CaseLoader& loader() const { return loader_; }

  const Case& input() const { return base.input; }
  const Prediction& found() const { return base.found; }
  Seconds step() const { return base.found.step; }
  /// In rounds, as the prediction has them.
  const Case& cut() const;
  bool is(std::string_view key, std::string_view value) const { return drawn.value(key) == value; }
  std::size_t devices() const { return base.input.cluster.device_count(); }

  void applies() { verdict.applied = true; }
  void expect(bool holds, const std::function<std::string()>& what);
  /// To the relative rounding of sums, or to a tolerance.
  void expect_near(double a, double b, std::string_view what, double tolerance = 1e-9);
  template <class Value>
  void expect_equal(const Value& a, const Value& b, std::string_view what) {
    expect(a == b, [&] { return std::string(what) + " differ"; });
  }
  /// `later` is not earlier than `earlier`; where it is by up to `bound` of it, list scheduling
  /// may have done so, and that is counted.
  void expect_not_faster(Seconds later, Seconds earlier, std::string_view what, double bound = 0);

 private:
  CaseLoader& loader_;
  mutable std::optional<Case> cut_;
};

}  // namespace strata::testing
