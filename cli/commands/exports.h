#pragma once

// What `strata export` writes, each by its own function: the case is loaded and simulated, the
// files are written whole or not at all, and a line or JSON says what they are. Throw InputError
// for what is not allowed and EnvironmentError where a file cannot be written, before the work
// begins if they can.

#include <string>

#include "cli/options/case_options.h"
#include "sim/ask/request.h"

namespace strata {

struct ExportFlags {
  PredictRequest request;
  std::string output;
  bool per_rank = false, json = false;
};

void export_trace(const ExportFlags& flags);
void export_chakra(const ExportFlags& flags);
/// Of the network alone where neither a cluster nor a strategy is given.
void export_graph(const ExportFlags& flags);
void export_dtensor(const ExportFlags& flags);

}  // namespace strata
