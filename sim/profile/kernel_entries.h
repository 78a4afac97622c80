#pragma once

// The [[kernel]] tables of a profile's file: what a kernel table is but its rows, which are beside
// the profile (kernel_table.h). Pure functions; thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "sim/profile/kernel_table.h"
#include "sim/text/diagnostics.h"
#include "sim/text/value.h"

namespace strata {

/// Without rows. What is wrong goes to `errors`, and so does a second table of one kernel and data
/// type.
std::vector<KernelTable> read_kernel_entries(std::vector<Table> entries, Diagnostics& errors);

/// Empty for no tables.
std::string print_kernel_entries(const std::vector<KernelTable>& tables);

/// The text of a profile's file with these tables instead of its own, which are taken to stand
/// last.
std::string with_kernel_entries(std::string_view profile, const std::vector<KernelTable>& tables);

}  // namespace strata
