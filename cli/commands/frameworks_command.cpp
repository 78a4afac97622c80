// `strata frameworks`: how frameworks run a step, and where that is from.

#include <memory>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "sim/case/framework.h"
#include "sim/json/catalogue_json.h"

namespace strata {
namespace {

void add_rows(std::string_view option, const std::vector<FrameworkEntry>& entries,
              TextTable& table) {
  for (const FrameworkEntry& entry : entries) {
    const std::string key = option.empty() ? option_name(entry.key) : std::string(option);
    std::string value = option.empty() ? entry.value : fmt::format("{}={}", entry.key, entry.value);
    if (!entry.fp32.empty()) value += fmt::format(" (in fp32 {})", entry.fp32);
    if (entry.of_experts) value += " (of networks with experts)";
    table.add({{"option", fmt::format("{} {}", key, value), TextTable::left},
               {"from", entry.source, TextTable::left}});
  }
}

void print_as_text(const std::vector<Framework>& frameworks) {
  for (const Framework& framework : frameworks) {
    TextTable table;
    add_rows("", framework.settings, table);
    add_rows("--set", framework.what_ifs, table);
    print("--as {}: {}\n\n{}\n", framework.name, framework.description, table.print());
  }
  print(
      "What is said besides counts in place of these. A file in .toml describes a framework of "
      "your own.\n");
}

void print_names(const std::vector<Framework>& frameworks) {
  TextTable table;
  for (const Framework& framework : frameworks) {
    table.add({{"--as", framework.name, TextTable::left},
               {"what it stands for", framework.description, TextTable::left}});
  }
  print("{}\n`strata frameworks NAME` has each figure of one with its source.\n", table.print());
}

}  // namespace

void add_frameworks_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("frameworks", "show how frameworks run a step: what --as NAME stands for");
  auto names = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  command->add_option("FRAMEWORK", *names,
                      "names or .toml files, whose figures are shown (default names alone)");
  command->add_flag("--json", *json, "print JSON")->disable_flag_override();
  command->callback([names, json] {
    std::vector<Framework> frameworks;
    for (const std::string& name : *names) frameworks.push_back(load_framework(name));
    if (names->empty()) frameworks = shipped_frameworks();
    if (*json) return print_json(frameworks_json(frameworks));
    names->empty() ? print_names(frameworks) : print_as_text(frameworks);
  });
}

}  // namespace strata
