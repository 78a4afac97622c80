#include "gui/models/sweep/stored_case.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/ask/question.h"
#include "sim/base/error.h"
#include "sim/store/store.h"
#include "sim/strategy/strategy.h"

namespace strata::gui {
namespace {

const std::string& text_field(const Field& field) {
  return std::get<std::string>(field);
}

std::vector<Setting> settings_in(const std::string& text) {
  std::vector<Setting> settings;
  const auto json = nlohmann::json::parse(text);
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) continue;
    settings.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return settings;
}

// A scenario names files as seen from its own folder. Where that is no longer there, they may stand
// beside the database.
std::string folder_of_row(Store& store, const std::string& database, std::int64_t id) {
  const QueryResult found = store.query(fmt::format(
      "SELECT n.file FROM scenario AS n JOIN scenario_case AS c ON c.scenario = n.id "
      "JOIN result AS r ON r.key = c.key WHERE r.id = {} ORDER BY n.recorded DESC LIMIT 1",
      id));
  const std::filesystem::path beside = std::filesystem::path(database).parent_path();
  if (found.rows.empty()) return beside.string();
  const std::filesystem::path scenario = text_field(found.rows[0].at(0));
  if (std::filesystem::exists(scenario)) return scenario.parent_path().string();
  return (beside / scenario).parent_path().string();
}

std::vector<Config> configs_of_row(Store& store, std::int64_t id) {
  const QueryResult layers = store.query(fmt::format(
      "SELECT n, c, d, h, w, r, scatter FROM layer WHERE result = {} ORDER BY ordinal", id));
  std::vector<Config> configs;
  for (const auto& row : layers.rows) {
    Degrees degrees = kWhole;
    for (std::size_t i = 0; const Dim dim : kDims) {
      degrees[dim] = static_cast<std::int32_t>(std::get<std::int64_t>(row.at(i++)));
    }
    degrees.r = static_cast<std::int32_t>(std::get<std::int64_t>(row.at(5)));
    degrees.scatter = find_dim(text_field(row.at(6))).value();
    configs.push_back(config_on_first_devices(degrees));
  }
  return configs;
}

Job job_named(const std::string& text) {
  return text == "solve" ? Job::solve : text == "run" ? Job::run : Job::predict;
}

}  // namespace

Document document_of_row(const std::string& database, std::int64_t id) {
  Store store(database, OpenMode::read);
  const QueryResult found =
      store.query(fmt::format("SELECT job, settings, strategy FROM results WHERE id = {}", id));
  if (found.rows.empty()) throw InputError(fmt::format("{}: has no row {}", database, id));
  const Question question =
      understand(job_named(text_field(found.rows[0].at(0))),
                 settings_in(text_field(found.rows[0].at(1))), folder_of_row(store, database, id));
  if (question.job == Job::run) {
    throw InputError(fmt::format(
        "this case ran on {}, which is no cluster that a prediction could be made for; allowed: "
        "rows of predictions and solves",
        question.where()));
  }
  Document document;
  document.input = question.input();
  document.strategy.source = question.strategy();
  if (const auto* const predict = std::get_if<PredictRequest>(&question.request)) {
    document.simulation = {predict->steps, predict->jitter};
    document.search = predict->search;
  }
  if (const auto* const solve = std::get_if<SolveRequest>(&question.request)) {
    document.simulation = {solve->steps, solve->jitter};
    document.search = solve->search;
    document.strategy.source = searched_name(objective_of(solve->search));
  }
  if (searched_objective(document.strategy.source)) {
    document.strategy.configs = configs_of_row(store, id);
  }
  // "best" where nobody proved it optimal.
  if (document.strategy.edited()) document.strategy.found = text_field(found.rows[0].at(2));
  return document;
}

}  // namespace strata::gui
