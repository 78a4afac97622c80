#include "cli/commands/validate_published.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "sim/base/error.h"
#include "sim/published/expected_error.h"
#include "sim/published/published.h"
#include "sim/text/file.h"

namespace strata {
namespace {

nlohmann::ordered_json errors_json(const ErrorSummary& errors) {
  return {{"rows", errors.rows}, {"mean_absolute_error", errors.mean}, {"median", errors.median},
          {"p95", errors.p95},   {"max_absolute_error", errors.worst}, {"bias", errors.bias}};
}

// Null for a half without rows.
nlohmann::ordered_json summary_json(const PublishedResult& result, std::optional<bool> fitted) {
  if (errors_of(result, fitted).rows == 0) return nullptr;
  nlohmann::ordered_json json = errors_json(errors_of(result, fitted));
  const RankSummary ranks = ranks_of(result, fitted);
  const auto where_any = [](std::size_t count, double value) {
    return count > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  json["networks"] = ranks.networks;
  json["rank_correlation"] = where_any(ranks.networks, ranks.correlation);
  json["least_rank_correlation"] = where_any(ranks.networks, ranks.least);
  json["choices"] = ranks.choices;
  json["regret"] = where_any(ranks.choices, ranks.regret);
  json["largest_regret"] = where_any(ranks.choices, ranks.most_regret);
  return json;
}

nlohmann::ordered_json result_json(const PublishedResult& result) {
  nlohmann::ordered_json json = {
      {"title", result.table.title},          {"file", result.table.file},
      {"device", result.table.device},        {"source", result.table.source},
      {"licence", result.table.licence},      {"all", summary_json(result, std::nullopt)},
      {"fitted", summary_json(result, true)}, {"held_back", summary_json(result, false)}};
  json["rows"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    const PublishedStep& step = result.table.steps[i];
    const PublishedAnswer& answer = result.answers[i];
    nlohmann::ordered_json row = {{"line", step.line},
                                  {"model", step.request.model},
                                  {"cluster", step.request.cluster},
                                  {"strategy", step.strategy},
                                  {"fitted", step.fitted},
                                  {"measured_seconds", step.measured.value}};
    row["predicted_seconds"] = answer.predicted.value;
    row["relative_error"] = result.error(i);
    json["rows"].push_back(std::move(row));
  }
  return json;
}

std::vector<PublishedResult> predict_all(const PublishedFlags& flags) {
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
  std::vector<PublishedResult> results;
  ProgressLine line;
  for (PublishedTable& table : tables) {
    const std::string title = table.title;
    const std::size_t rows = table.steps.size();
    results.push_back(predict_published(std::move(table), flags.sets, [&](std::size_t done) {
      line.show(title, fmt::format("{}: {} of {} rows", title, done, rows));
      return true;
    }));
  }
  return results;
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
  if (file.ends_with(".csv")) return write_file_whole(file, print_errors(error_records(results)));
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
  const std::vector<PublishedResult> results = predict_all(flags);
  ReportDocument document = published_report(results);
  document.provenance = {flags.typed};
  if (!flags.output.empty()) write_report(flags.output, document, results);
  if (flags.json) {
    nlohmann::ordered_json json;
    json["figures"] = nlohmann::ordered_json::array();
    for (const PublishedResult& result : results) json["figures"].push_back(result_json(result));
    return print_json(json);
  }
  ReportDocument brief = document;
  std::erase_if(brief.sections,
                [](const Section& section) { return std::holds_alternative<Chart>(section.body); });
  print("{}", print_markdown(brief));
}

}  // namespace strata
