// `strata report DB`: an HTML file that needs nothing else, the same as Markdown, and its tables as
// CSV.

#include <cctype>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "sim/base/error.h"
#include "sim/study/report.h"
#include "sim/text/file.h"
#include "sim/text/split.h"

namespace strata {
namespace {

struct ReportFlags {
  ReportRequest request;
  std::string scenario, beside, strategies, folder = "report";
};

ReportRequest request_of(const ReportFlags& flags) {
  ReportRequest request = flags.request;
  if (!flags.scenario.empty()) request.scenario = flags.scenario;
  if (!flags.beside.empty()) request.beside = flags.beside;
  if (flags.strategies.empty()) return request;
  const std::vector<std::string> names = split_at_commas(flags.strategies);
  if (names.size() != 2) {
    throw InputError(
        fmt::format("--strategies {}: allowed: two names, as data,optimal", flags.strategies));
  }
  request.strategies = {names[0], names[1]};
  return request;
}

// "Time against memory" -> "time-against-memory".
std::string file_name(const std::string& title) {
  std::string name;
  for (char c : title) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      name += static_cast<char>(std::tolower(letter));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "section" : name;
}

const ReportTable* table_in(const Section& section) {
  if (const auto* table = std::get_if<ReportTable>(&section.body)) return table;
  return section.data.columns.empty() ? nullptr : &section.data;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder, error.message()));
}

void write_report(const ReportDocument& document, const std::filesystem::path& folder) {
  make_folder(folder.string());
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    const ReportTable* table = table_in(document.sections[i]);
    if (table == nullptr) continue;
    const std::string name =
        fmt::format("{:02}-{}.csv", i + 1, file_name(document.sections[i].title));
    write_file_whole((folder / name).string(), print_csv(*table));
  }
  write_file_whole((folder / "report.md").string(), print_markdown(document));
  write_file_whole((folder / "report.html").string(), print_html(document));
}

std::size_t count(const ReportDocument& document, Verdict verdict) {
  std::size_t found = 0;
  for (const Section& section : document.sections) {
    const auto* claims = std::get_if<std::vector<ReportClaim>>(&section.body);
    if (claims == nullptr) continue;
    for (const ReportClaim& claim : *claims) found += claim.verdict == verdict;
  }
  return found;
}

void print_claims(const ReportDocument& document) {
  const std::size_t reproduced = count(document, Verdict::reproduced);
  const std::size_t differ = count(document, Verdict::differs);
  const std::size_t open = count(document, Verdict::unanswered);
  if (reproduced + differ + open == 0) return;
  print("Claims: {} reproduced, {} differ, {} without an answer\n", reproduced, differ, open);
}

void run_report(const ReportFlags& flags) {
  const ReportDocument document = make_report(request_of(flags));
  write_report(document, flags.folder);
  print("{}: {} sections in {}/report.html, report.md and CSV files\n", document.title,
        document.sections.size(), flags.folder);
  print_claims(document);
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "draw what a database holds: HTML, Markdown and CSV");
  auto flags = std::make_shared<ReportFlags>();
  command->add_option("DB", flags->request.store, "a database of strata sweep")->required();
  command->add_option("BESIDE", flags->beside,
                      "another database of the same scenario, to compare with");
  command->add_option("-o", flags->folder, "the folder to write (default report)")
      ->check(named_file());
  command->add_option("--scenario", flags->scenario, "which one (default: the newest)");
  command->add_option("--strategies", flags->strategies,
                      "two of them, as data,optimal, to set side by side");
  command->callback([flags] { run_report(*flags); });
}

}  // namespace strata
