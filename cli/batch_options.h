#pragma once

// --batch and --batch-per-device, as every command that takes a network has them.

#include <cstdint>

#include <CLI/CLI.hpp>

namespace strata {

/// One excludes the other. Returns --batch: whether it was given tells which of the two counts.
CLI::Option* add_batch_options(CLI::App& command, std::int64_t& batch,
                               std::int64_t& batch_per_device);

}  // namespace strata
