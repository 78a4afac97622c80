// `strata report DB`: an HTML file that needs nothing else, the same as Markdown, and its tables as
// CSV.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/report_folder.h"
#include "sim/base/error.h"
#include "sim/strategy/hybrid.h"
#include "sim/study/report/query_cells.h"
#include "sim/study/report/report.h"

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
  const std::vector<std::string> names = split_strategies(flags.strategies);
  if (names.size() != 2 || names[0] == names[1]) {
    throw InputError(
        fmt::format("--strategies {}: allowed: two names, as data,optimal", flags.strategies));
  }
  request.strategies = {names[0], names[1]};
  return request;
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

// All sections that could be drawn are written by then.
void fail_for_errors(const ReportDocument& document) {
  std::string lines;
  for (const Section& section : document.sections) {
    for (const std::string& error : section.errors) lines += error + '\n';
  }
  if (!lines.empty()) throw JobFailed(lines);
}

void run_report(const ReportFlags& flags) {
  const ReportDocument document = make_report(request_of(flags));
  write_report(document, flags.folder);
  print("{}: {} in {}/report.html, report.md and CSV files\n", document.title,
        counted(static_cast<std::int64_t>(document.sections.size()), "section"), flags.folder);
  print_claims(document);
  for (const std::string& note : document.notes) say("strata: warning: " + note);
  fail_for_errors(document);
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "make a report of a database: HTML, Markdown and CSV");
  auto flags = std::make_shared<ReportFlags>();
  command->add_option("DB", flags->request.store, "a database of strata sweep")->required();
  command->add_option("BESIDE", flags->beside,
                      "another database of the same scenario, to compare with");
  command->add_option("-o", flags->folder,
                      "the folder to write; replaces an earlier report there (default report)");
  command->add_option("--scenario", flags->scenario,
                      "which scenario of the database (default: the newest)");
  command->add_option("--strategies", flags->strategies,
                      "two strategies of the cases to compare, as data,optimal");
  command->callback([flags] { run_report(*flags); });
}

}  // namespace strata
