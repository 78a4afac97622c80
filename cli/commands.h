#pragma once

// The commands of `strata`. Each registers itself on the application: its options, its help, and
// what to do when it is chosen. Results go to standard output, messages to standard error.

#include <iosfwd>

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

namespace strata {

void add_models_command(CLI::App& app);
void add_clusters_command(CLI::App& app);
void add_show_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_replay_command(CLI::App& app);

/// One JSON document, indented, with a final newline.
void print_json(const nlohmann::ordered_json& document);

}  // namespace strata
