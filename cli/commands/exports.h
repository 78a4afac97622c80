#pragma once

// What `strata export` writes, each by its own function: the case is loaded and simulated, the
// files are written whole or not at all, and a line or JSON says what they are. Throw InputError
// for what is not allowed and EnvironmentError where a file cannot be written, before the work
// begins if they can.

#include <string>

#include "cli/options/case_options.h"

namespace strata {

struct ExportFlags {
  CaseRequest input;
  std::string strategy, output;
  std::size_t steps = 4;
  bool per_rank = false, json = false;
};

void export_trace(ExportFlags& flags);
void export_chakra(ExportFlags& flags);
/// Of the network alone where neither a cluster nor a strategy is given.
void export_graph(ExportFlags& flags);
void export_dtensor(ExportFlags& flags);

}  // namespace strata
