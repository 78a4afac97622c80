#include "cli/commands/validate_published.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "cli/output/json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "sim/base/error.h"
#include "sim/json/published_json.h"
#include "sim/study/published/published.h"
#include "sim/text/file.h"
#include "sim/trust/expected_error.h"

namespace strata {
namespace {

std::vector<PublishedResult> predict_each(std::vector<PublishedTable> tables, const WhatIfs& sets) {
  std::vector<PublishedResult> results;
  ProgressLine line;
  for (PublishedTable& table : tables) {
    const std::string title = table.title;
    const std::size_t rows = table.steps.size();
    results.push_back(predict_published(std::move(table), sets, [&](std::size_t done) {
      line.show(title, fmt::format("{}: {} of {} rows", title, done, rows));
    }));
  }
  return results;
}

std::vector<PublishedTable> tables_of(const PublishedFlags& flags) {
  std::vector<std::string> names = flags.figures;
  if (names.empty()) names = shipped_published();
  std::vector<PublishedTable> tables;
  tables.reserve(names.size());
  for (const std::string& name : names) {
    tables.push_back(load_published(name));
    const auto same = [&](const PublishedTable& table) {
      return table.title == tables.back().title;
    };
    if (std::count_if(tables.begin(), tables.end(), same) > 1) {
      throw InputError(
          fmt::format("{}: a second table with the title '{}'", name, tables.back().title));
    }
  }
  return tables;
}

// Of every sort, those as no framework runs them included.
std::string error_table(std::span<const PublishedResult> results) {
  std::vector<PublishedTable> plain;
  for (const PublishedResult& result : results) {
    PublishedTable table = without_framework(result.table);
    if (!table.steps.empty()) plain.push_back(std::move(table));
  }
  std::vector<ErrorRecord> records = error_records(results);
  for (ErrorRecord& record : error_records(predict_each(std::move(plain), {}))) {
    records.push_back(std::move(record));
  }
  return print_errors(records);
}

// Pictures of a Markdown file lie beside it: fidelity.md, fidelity-1.svg.
void write_markdown(const std::string& file, const ReportDocument& document) {
  std::string text = print_markdown(document);
  const std::filesystem::path path(file);
  int number = 0;
  for (const Section& section : document.sections) {
    const auto* const chart = std::get_if<Chart>(&section.body);
    if (chart == nullptr) continue;
    const std::string name = fmt::format("{}-{}.svg", path.stem().string(), ++number);
    write_file_whole((path.parent_path() / name).string(), print_svg_alone(*chart, false));
    const std::size_t heading = text.find(fmt::format("## {}\n", section.title));
    if (heading == std::string::npos) continue;
    text.insert(text.find('\n', heading) + 1, fmt::format("\n![{}]({})\n", section.title, name));
  }
  write_file_whole(file, text);
}

void write_report(const std::string& file, const ReportDocument& document,
                  std::span<const PublishedResult> results) {
  if (file.ends_with(".csv")) return write_file_whole(file, error_table(results));
  if (file.ends_with(".md")) return write_markdown(file, document);
  write_file_whole(file, print_html(document));
}

void check_output(const PublishedFlags& flags) {
  const std::string& file = flags.output;
  if (file.ends_with(".csv") && (!flags.figures.empty() || !flags.sets.empty())) {
    throw InputError(
        fmt::format("--output {}: the errors are of all figures as they are; allowed: neither "
                    "names nor --set",
                    file));
  }
  const auto ends_with = [&](std::string_view end) { return file.ends_with(end); };
  if (file.empty() || ends_with(".md") || ends_with(".html") || ends_with(".csv")) return;
  throw InputError(
      fmt::format("--output {}: with --published a report; allowed: a file ending in .md or .html, "
                  "or in .csv for the errors of each sort of prediction",
                  file));
}

}  // namespace

void validate_published(const PublishedFlags& flags) {
  check_output(flags);
  if (!flags.output.empty()) check_can_write(flags.output);
  const std::vector<PublishedResult> results = predict_each(tables_of(flags), flags.sets);
  ReportDocument document = published_report(results);
  document.provenance = {flags.typed};
  if (!flags.output.empty()) write_report(flags.output, document, results);
  if (flags.json) return print_json(published_json(results));
  ReportDocument brief = document;
  std::erase_if(brief.sections,
                [](const Section& section) { return std::holds_alternative<Chart>(section.body); });
  print("{}", print_markdown(brief));
}

}  // namespace strata
