#pragma once

// What says which step it is about (MODEL, --dim, --cluster, --batch, --sync, --dtype, --profile,
// --set, --allow-unsupported): shared by the commands that predict, search and compare.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/case/predict.h"

namespace strata {

/// MODEL and --cluster, both required, and --dim.
void add_model_and_cluster(CLI::App& command, CaseRequest& request);
/// All the others.
void add_case_options(CLI::App& command, CaseRequest& request);

/// Warns of what makes its costs doubtful. Throws InputError for a value that is not allowed.
Case load(const CaseRequest& request);

/// The files that profiles are read from: their tables of costs, too.
std::vector<std::string> files_of_profiles(const std::vector<std::string>& profiles);

/// The files that a case is read from, and `more`: no output may name one of them.
std::vector<std::string> files_read(const CaseRequest& request,
                                    const std::vector<std::string>& more);

}  // namespace strata
