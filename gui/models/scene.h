#pragma once

// A Document with all that is predicted of it: what every view draws. Immutable once made, and
// shared by whoever still shows it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/document/document.h"
#include "gui/models/stage_names.h"
#include "gui/models/trust.h"
#include "sim/case/case_loader.h"
#include "sim/case/cost_basis.h"
#include "sim/case/plausibility.h"
#include "sim/timeline/compare.h"
#include "sim/timeline/critical_path.h"

namespace strata::gui {

struct Scene {
  Document document;
  Case input;
  Prediction prediction;  ///< with the rates of the links
  StageNames stages;
  std::vector<PathStep> path;             ///< critical
  Utilisation use;                        ///< of devices and links in the steady window
  std::optional<FlopsUtilisation> flops;  ///< where the devices' peak is known
  std::optional<Plausibility> plausible;  ///< of the utilisation
  Uncosted uncosted;                      ///< of the network
  Trust trust;
  std::optional<JitteredSteps> jittered;  ///< where the document has a seed
};
using ScenePtr = std::shared_ptr<const Scene>;

class Progress;

/// Of more devices than this, the plan has one of each class that do the same (device_classes.h).
inline constexpr std::size_t kMostInPlan = 256;

/// Throws InputError where the document's names, files or what-ifs are wrong, Cancelled where
/// `progress` (which may be null) says so. Thread-safe.
ScenePtr make_scene(const Document& document, CaseLoader& loader, Progress* progress = nullptr);
/// "does not fit: 21.49 GB of 17.18 GB", of the device that lacks the most memory; empty where none
/// does.
std::string shortage_text(const Scene& scene);
/// Its step time alone, sooner.
Seconds predicted_step(const Document& document, CaseLoader& loader,
                       const std::atomic<bool>* cancelled = nullptr);

/// One strategy that ran for real, beside its prediction.
struct Measured {
  std::string devices;  ///< "cpu:2"
  std::string strategy;
  Graph graph;
  Cluster cluster;
  Plan plan;
  Timeline predicted, measured;
  Comparison comparison;  ///< of what is typical: real_run.h
};
using MeasuredPtr = std::shared_ptr<const Measured>;

}  // namespace strata::gui
