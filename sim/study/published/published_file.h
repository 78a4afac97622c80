#pragma once

// Published measurements of training steps: a table (CSV, as somebody published it) and a page
// (TOML) that says what its rows stand for. docs/fidelity.md is made of those that ship. Pure;
// thread-safe.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

/// Of the device that held most.
struct MeasuredMemory {
  Bytes bytes;
  bool with_blocks = false;  ///< what the allocator held, with what it did not use of that
};

/// One row: a case, and what was measured of it.
struct PublishedStep {
  CaseRequest request;
  CaseRequest plain;  ///< the same without what its framework chooses
  std::string strategy;
  Seconds measured;     ///< of a step
  std::string network;  ///< rows of one are ranked against each other
  std::string choice;   ///< rows that differ in nothing but the strategy and how it is run
  bool fitted = false;  ///< something in Strata was fitted to it
  int line = 0;         ///< of the table
  std::optional<MeasuredMemory> memory = {};  ///< where that was measured
};

struct PublishedTable {
  std::string title, source, licence;
  std::string notes;             ///< what to mind, what was fitted on what
  std::string device;            ///< the kind, for a table by device
  bool usual = true;             ///< trainings run so; else no interval rests on it
  std::string file, table_file;  ///< the page and its table
  std::vector<PublishedStep> steps;
};

/// `table` is beside the page. Throws InputError "FILE:LINE: ..." for what a page or a table must
/// not be.
PublishedTable read_published(const std::string& file);
/// Of texts; `table_file`: as errors name it.
PublishedTable parse_published(std::string_view page, const std::string& file,
                               std::string_view table, const std::string& table_file);

/// Those of the program, by name: "megatron-a100".
std::vector<std::string> shipped_published();
PublishedTable load_published(const std::string& name_or_file);

}  // namespace strata
