#pragma once

// The commands of `strata`, and the application that has them all. Each command registers its
// options, its help, and what to do when it is chosen. Results go to standard output, messages to
// standard error. The program parses with the application; the manual and the completions are read
// from it (cli/manual).

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/base/error.h"
#include "sim/measure/runner.h"

namespace strata {

void add_models_command(CLI::App& app);
void add_clusters_command(CLI::App& app);
void add_frameworks_command(CLI::App& app);
void add_show_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_replay_command(CLI::App& app);
void add_solve_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_map_command(CLI::App& app);
void add_diff_command(CLI::App& app);
void add_export_command(CLI::App& app);
// The runner must outlive the application. `typed` is the command line, for a result's provenance.
void add_import_command(CLI::App& app, const Runner& runner);
void add_run_command(CLI::App& app, Runner& runner, const std::string& typed);
void add_profile_command(CLI::App& app, Runner& runner, const std::string& typed);
void add_validate_command(CLI::App& app, Runner& runner, const std::string& typed);
void add_sweep_command(CLI::App& app, Runner& runner, const std::string& typed);
void add_merge_command(CLI::App& app);
void add_query_command(CLI::App& app);
void add_report_command(CLI::App& app);

/// The job could not be done, or not to its end; what there is stands on standard output.
class JobFailed : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 1; }
};

/// It was done, and what stands there does not say what was asked. Exit code 3.
class JobUnjudged : public JobFailed {
 public:
  using JobFailed::JobFailed;
  int exit_code() const override { return 3; }
};

/// The application with all commands; runner and `typed` as above. `version` answers --version.
std::unique_ptr<CLI::App> program(Runner& runner, const std::string& typed,
                                  std::function<std::string()> version);

}  // namespace strata
