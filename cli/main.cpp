// `strata`: parses the command line, runs one command, maps errors to exit codes.

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/usage.h"
#include "cli/output/output.h"
#include "cli/output/provenance.h"
#include "exec/machine/local_machine.h"
#include "exec/machine/processes.h"
#include "sim/base/error.h"
#include "sim/importers/onnx/read_onnx.h"
#include "sim/importers/topology/this_machine.h"

namespace {

using namespace strata;

constexpr int kFailed = 1, kBadUsage = 2, kNotAble = 3;

void complain(const std::string& message) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    say("strata: error: " + line);
  }
}

// Its first GPU, or why there is none.
std::string gpu_text(const Runner& runner) {
  try {
    return runner.description("cuda:0");
  } catch (const EnvironmentError& error) {
    return error.message();
  }
}

std::string version_text(const Runner& runner) {
  std::string parts = fmt::format("simulator, cpu ({})", runner.description("cpu:1"));
  if (has_cuda()) parts += fmt::format(", cuda ({})", gpu_text(runner));
  if (has_mpi()) parts += ", mpi";
  if (reads_onnx()) parts += ", onnx";
  if (has_hwloc()) parts += ", hwloc";
  return fmt::format("strata {}\nparts: {}", STRATA_VERSION, parts);
}

// A folder that may not be looked into, links in a circle, a working folder that is gone.
std::string file_system_text(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().empty() ? "the working folder" : error.path1().string();
  return fmt::format("{}: cannot be looked at: {}", path, error.code().message());
}

int refuse(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  complain(usage_error(app, error, {argv + 1, argv + argc}));
  say(usage_hint(app));
  return kBadUsage;
}

int run(const Processes& processes, int argc, char** argv) {
  const std::unique_ptr<Runner> runner = local_machine(processes);
  const std::string typed = command_line(argc, argv);
  const std::unique_ptr<CLI::App> app =
      program(*runner, typed, [&runner] { return version_text(*runner); });
  try {
    app->parse(argc, argv);
    if (app->get_subcommands().empty()) throw CLI::RequiredError("COMMAND");
  } catch (const CLI::Success& asked_for_help) {
    app->exit(asked_for_help);
  } catch (const CLI::ParseError& error) {
    return runner->leads() ? refuse(*app, error, argc, argv) : kBadUsage;
  }
  flush_output();
  return 0;
}

// Of several processes, one writes to standard output.
void be_quiet() {
  if (std::freopen("/dev/null", "w", stdout) != nullptr) return;
  throw EnvironmentError("/dev/null cannot be opened");
}

int run_as_one(const Processes& processes, int argc, char** argv) {
  const auto fail = [&](int exit_code, const std::string& message) {
    return processes.fail(exit_code, [&message] { complain(message); });
  };
  try {
    if (!processes.leads()) be_quiet();
    return processes.end(run(processes, argc, argv));
  } catch (const JobFailed& error) {  // which all know, or has its report behind it
    complain(error.message());
    return processes.end(error.exit_code());
  } catch (const PeerFailed& error) {
    return processes.end(error.exit_code());
  } catch (const Error& error) {
    return fail(error.exit_code(), error.message());
  } catch (const std::bad_alloc&) {
    return fail(kNotAble, "out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(kNotAble, file_system_text(error));
  } catch (const std::exception& error) {
    return fail(kFailed, fmt::format("internal error: {}", error.what()));
  }
}

// Plans of megabytes are made and dropped, one after another: what one frees, the next one asks
// for.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error of what writes it
  try {
    const Processes processes;
    return run_as_one(processes, argc, argv);
  } catch (const Error& error) {
    complain(error.message());
    return error.exit_code();
  }
}
