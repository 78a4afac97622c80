#include "cli/commands/commands.h"

#include <utility>

#include "cli/options/usage.h"

namespace strata {
namespace {

void add_commands(CLI::App& app, Runner& runner, const std::string& typed) {
  add_predict_command(app);
  add_solve_command(app);
  add_explain_command(app);
  add_map_command(app);
  add_diff_command(app);
  add_show_command(app);
  add_models_command(app);
  add_clusters_command(app);
  add_frameworks_command(app);
  add_run_command(app, runner, typed);
  add_profile_command(app, runner, typed);
  add_validate_command(app, runner, typed);
  add_sweep_command(app, runner, typed);
  add_merge_command(app);
  add_query_command(app);
  add_report_command(app);
  add_replay_command(app);
  add_import_command(app, runner);
  add_export_command(app);
}

}  // namespace

std::unique_ptr<CLI::App> program(Runner& runner, const std::string& typed,
                                  std::function<std::string()> version) {
  auto app = std::make_unique<CLI::App>(
      "Strata predicts the time of one training step of a neural network that is cut over many\n"
      "devices by sample, channel, depth, height and width.",
      "strata");
  app->set_version_flag("--version", std::move(version));
  app->require_subcommand(0, 1);
  app->get_formatter()->column_width(34);
  add_commands(*app, runner, typed);
  refuse_empty_values(*app);
  // After the commands, which would inherit it.
  app->footer(
      "strata COMMAND --help lists what a command takes.\n"
      "Exit codes: 0 done; 1 the job failed or found a mismatch; 2 bad usage or input; 3 a\n"
      "device or the file system is missing or not able.");
  return app;
}

}  // namespace strata
