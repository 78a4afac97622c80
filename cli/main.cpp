// `strata`: parses the command line, runs one command, maps errors to exit codes.

#include <cstdio>
#include <new>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "cli/commands.h"
#include "sim/base/error.h"

namespace {

using namespace strata;

constexpr int kFailed = 1, kBadUsage = 2, kNotAble = 3;

void complain(const std::string& message) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    fmt::print(stderr, "strata: error: {}\n", line);
  }
}

std::string version_text() {
  return fmt::format("strata {}\nparts: simulator\n", STRATA_VERSION);
}

// CLI11 would say only that a subcommand is required.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string allowed;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return;
    allowed += (allowed.empty() ? "" : ", ") + command->get_name();
  }
  throw InputError(fmt::format("unknown command '{}'; allowed: {}", argv[1], allowed));
}

int run(int argc, char** argv) {
  CLI::App app(
      "Strata predicts how fast one training step of a neural network will be, cut over many\n"
      "devices by sample, channel, depth, height and width.",
      "strata");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add_predict_command(app);
  add_show_command(app);
  add_models_command(app);
  add_clusters_command(app);
  add_replay_command(app);
  check_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
    complain(error.what());
    fmt::print(stderr, "strata --help lists the commands, strata COMMAND --help its options\n");
    return kBadUsage;
  }
  if (std::fflush(stdout) != 0) throw EnvironmentError("standard output cannot be written");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    complain(error.message());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    return kNotAble;
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
    return kFailed;
  }
}
