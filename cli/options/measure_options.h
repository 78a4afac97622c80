#pragma once

// What `strata profile` and `strata validate` have in common: which networks and strategies to
// measure on which devices, and how far measuring is.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/output/progress.h"
#include "cli/output/provenance.h"
#include "sim/measure/calibrate.h"

namespace strata {

struct MeasureFlags {
  std::vector<std::string> models;
  OpenDims dims;
  std::string devices, strategies = "data,model,owt,optimal", output;
  Training training;
  std::size_t rounds = 0;
  bool recorded = false, json = false;
};

/// MODEL…, --dim, --devices, --batch, --batch-per-device, --strategies, --dtype, --graph, --rounds,
/// -o and --json.
void add_measure_options(CLI::App& command, MeasureFlags& flags, std::size_t rounds);

/// The strategies' names. Throws InputError where -o names a file that is read or that could not
/// hold a profile.
std::vector<std::string> checked_strategies(const MeasureFlags& flags);

/// What both requests, of a profile and of a validation, take from the flags and the words
/// that were typed. Throws as
/// checked_strategies() does.
template <class Request>
Request measure_request(const MeasureFlags& flags, const std::string& typed) {
  Request request;
  request.models = flags.models;
  request.dims = flags.dims;
  request.devices = flags.devices;
  request.training = flags.training;
  const std::vector<std::string> strategies = checked_strategies(flags);
  request.strategies.assign(strategies.begin(), strategies.end());
  request.recorded = flags.recorded;
  request.rounds = flags.rounds;
  request.date = today();
  request.command = typed;
  return request;
}

/// "--batch 8" or "--batch-per-device 32".
std::string batch_text(const MeasureFlags& flags);

/// "lenet5 on cpu:2: round 3 of 9, about 12 s left for it".
class MeasureProgressLine {
 public:
  void show(const MeasureProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  ProgressLine line_;
  std::string what_;
  Clock::time_point began_;
};

}  // namespace strata
