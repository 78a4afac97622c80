// `strata_manual FOLDER VERSION DATE`: writes the manual pages and the shells' completions into a
// folder, for the build. It is not installed.

#include <cstdio>
#include <filesystem>
#include <string>

#include "cli/commands/commands.h"
#include "cli/manual/manual.h"
#include "cli/manual/no_runner.h"
#include "sim/text/file.h"

namespace {

using namespace strata;

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  write_file_whole(file, text);
}

// Pages of commands that are no more would be installed, too.
void write_manual(const std::filesystem::path& folder, const Release& release) {
  NoRunner runner;
  const auto app = program(runner, "", [] { return std::string(); });
  const std::vector<CommandFacts> commands = commands_of(*app);
  std::filesystem::remove_all(folder / "man1");
  for (const ManPage& page : man_pages(commands, release)) {
    write(folder / "man1" / (page.name + ".1"), page.text);
  }
  write(folder / "bash" / "strata", bash_completion(commands));
  write(folder / "zsh" / "_strata", zsh_completion(commands));
  write(folder / "fish" / "strata.fish", fish_completion(commands));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: strata_manual FOLDER VERSION DATE\n");
    return 2;
  }
  try {
    write_manual(argv[1], {argv[2], argv[3]});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strata_manual: error: %s\n", error.what());
    return 3;
  }
}
