#pragma once

// What-ifs that make a machine faster and a step longer, or a machine slower and a step shorter:
// devices keep busy with what is ready (docs/model.md, "Anomalies"). Pure; thread-safe.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

/// What a what-if does to bandwidths, latencies, speeds and launches.
enum class MachineChange : std::uint8_t { none, faster, slower, both };

/// Of each of the request's what-ifs, after those before it.
std::vector<MachineChange> machine_changes(const CaseRequest& request);

/// A step that goes the other way than its machine.
struct Anomaly {
  WhatIfs what_ifs;     ///< that make the machine faster, or slower, and do nothing else
  bool faster_machine;  ///< with them
  Seconds without;      ///< the step of the machine that does without them
};
/// At most one of either direction. Machines of which nothing is known say nothing. `changes`: of
/// the request. `step`: with all what-ifs, predicted by the same options.
std::vector<Anomaly> anomalies(const CaseRequest& request, std::span<const MachineChange> changes,
                               const Strategy& strategy, Seconds step,
                               const PredictOptions& options = {});
/// "the step is 2.1 % longer without link.*.bandwidth=2x; ...". `step`: as in anomalies().
std::string anomaly_text(const Anomaly& anomaly, Seconds step);

}  // namespace strata
