#include "gui/document/document.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gui/document/document_settings.h"
#include "sim/case/case_settings.h"
#include "sim/cluster/named_size.h"
#include "sim/text/json.h"

namespace strata::gui {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::int64_t kMostBatch = std::numeric_limits<std::int32_t>::max();

Json print_config(const Config& config) {
  Json degrees = Json::array(), devices = Json::array();
  for (const Dim dim : kDims) degrees.push_back(config.degrees[dim]);
  for (const DeviceId device : config.devices) devices.push_back(device());
  Json json = {{"degrees", degrees}, {"devices", devices}};
  if (config.degrees.r > 1) {
    json["r"] = config.degrees.r;
    json["scatter"] = static_cast<int>(config.degrees.scatter);
  }
  return json;
}

Config parse_config(Table config) {
  const Value degrees = config.required("degrees");
  const std::vector<std::int64_t> parts =
      degrees.as_integers(1, std::numeric_limits<std::int32_t>::max());
  if (parts.size() != kDims.size()) {
    degrees.fail_expected(fmt::format("a list of {} integers", kDims.size()));
  }
  Config result;
  for (std::size_t i = 0; const Dim dim : kDims) {
    result.degrees[dim] = static_cast<std::int32_t>(parts[i++]);
  }
  constexpr std::int64_t kAny = std::numeric_limits<std::int32_t>::max();
  result.degrees.r = static_cast<std::int32_t>(config.integer_or("r", 1, 1, kAny));
  result.degrees.scatter = static_cast<Dim>(config.integer_or("scatter", 0, 0, kDims.size() - 1));
  const Value devices = config.required("devices");
  std::vector<DeviceId> ids;
  for (const std::int64_t id : devices.as_integers(0, std::numeric_limits<std::int32_t>::max())) {
    ids.emplace_back(static_cast<std::uint32_t>(id));
  }
  result.devices = std::move(ids);
  return result;
}

// As documents have always called it.
std::string_view key_of(std::string_view setting) {
  return setting == "profile" ? "profiles" : setting;
}

// A text, or what JSON has for numbers and flags.
Json json_of(std::string_view key, const std::string& text) {
  const ValueForm form = setting(key).form;
  const bool number = is_numeric(form) || form == ValueForm::seconds;
  const bool bare = !text.empty() && (number || form == ValueForm::flag);
  return bare ? Json::parse(text) : Json(text);
}

template <class T>
Json print_value(std::string_view key, const T& value) {
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return value;
  } else {
    return json_of(key, print_setting(key, value));
  }
}

Json print_input(const CaseRequest& input) {
  Json json;
  each_setting(input, [&](std::string_view key, const auto& value) {
    Json printed = print_value(key, value);
    const bool unset = printed == Json(std::string()) || printed == Json(false);
    if (!unset) json[key_of(key)] = std::move(printed);
  });
  json["sets"] = Json::array();
  for (const auto& [key, value] : input.sets) json["sets"].push_back({key, value});
  return json;
}

std::pair<std::string, std::string> parse_set(const Value& value) {
  std::vector<std::string> words = value.as_strings();
  if (words.size() != 2) value.fail_expected("a key and its value");
  return {std::move(words[0]), std::move(words[1])};
}

CaseRequest parse_input(Table json) {
  CaseRequest input;
  input.training.sync.bucket = {};  // of older documents, which know none
  each_setting(input, [&]<class T>(std::string_view key, T& value) {
    const auto saved = json.optional(std::string(key_of(key)));
    if (!saved) return;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      value = saved->as_strings();
    } else {
      read_setting(key, read_single(setting(key), *saved), value);
    }
  });
  for (const Value& set : json.required("sets").as_list()) input.sets.push_back(parse_set(set));
  return input;
}

// Of how the step is simulated and of searches, which older documents know nothing of: what is not
// as usual.
constexpr std::array kLaterGroups = {SettingGroup::simulation, SettingGroup::search};

void print_later_settings(const Document& document, Json& root) {
  for (const SettingGroup group : kLaterGroups) {
    for (const std::string_view key : keys_of(group)) {
      const std::string text = setting_text(document, key);
      if (text != usual_setting_text(key)) root["settings"][std::string(key)] = json_of(key, text);
    }
  }
}

// A number of seconds is written as one.
std::string saved_text(std::string_view key, const Value& saved) {
  if (setting(key).form != ValueForm::seconds) return read_single(setting(key), saved);
  return fmt::format("{}", saved.as_number());
}

void parse_later_settings(Table settings, Document& document) {
  for (const SettingGroup group : kLaterGroups) {
    for (const std::string_view key : keys_of(group)) {
      const auto saved = settings.optional(std::string(key));
      if (saved) document = with_setting(document, key, saved_text(key, *saved));
    }
  }
}

Document parse_document(Table root) {
  Document document;
  document.input = parse_input(root.table("input"));
  document.strategy.source = root.string("strategy");
  for (const Table& config : root.tables("configs")) {
    document.strategy.configs.push_back(parse_config(config));
  }
  document.strategy.found = root.string_or("found", "");
  document.strategy.touched = root.boolean_or("touched", false);
  document.strategy.found_on = root.string_or("found_on", "");
  document.locked = root.required("locked").as_strings();
  document.base_cluster = root.string_or("base_cluster", "");
  const std::int64_t batch = root.integer_or("base_batch", 0, 0, kMostBatch);
  if (batch > 0) document.base_batch = batch;
  if (auto settings = root.optional_table("settings")) {
    parse_later_settings(std::move(*settings), document);
  }
  return document;
}

Json print_document(const Document& document) {
  Json root = {{"input", print_input(document.input)}, {"strategy", document.strategy.source}};
  if (document.strategy.edited()) {
    root["configs"] = Json::array();
    for (const Config& config : document.strategy.configs) {
      root["configs"].push_back(print_config(config));
    }
  }
  if (!document.strategy.found.empty()) root["found"] = document.strategy.found;
  if (document.strategy.touched) root["touched"] = true;
  if (!document.strategy.found_on.empty()) root["found_on"] = document.strategy.found_on;
  root["locked"] = document.locked;
  if (!document.base_cluster.empty()) root["base_cluster"] = document.base_cluster;
  if (document.base_batch) root["base_batch"] = *document.base_batch;
  print_later_settings(document, root);
  return root;
}

void remove_what_ifs(Document& document, std::initializer_list<std::string_view> kinds) {
  std::erase_if(document.input.sets, [&](const auto& set) {
    return std::ranges::any_of(kinds, [&](auto kind) { return set.first.starts_with(kind); });
  });
}

bool is_same_machine(const std::string& a, const std::string& b) {
  const auto size = named_size(a), other = named_size(b);
  return size && other && size->family == other->family;
}

Document on_cluster(const Document& document, const std::string& cluster) {
  Document next = document;
  next.input.cluster = cluster;
  if (document.strategy.edited()) next.strategy = {};
  return next;
}

}  // namespace

std::string StrategyChoice::label() const {
  return number == 1 ? kind() : fmt::format("{} {}", kind(), number);
}

std::string StrategyChoice::kind() const {
  if (!edited()) return shown_name(source);
  const std::string origin = found.empty() ? shown_name(source) : found;
  if (found.empty() || touched) return origin + ", edited";
  return found_on.empty() ? origin : origin + " of another case";
}

std::string shown_name(const std::string& name_or_file) {
  return std::filesystem::path(name_or_file).filename().string();
}

std::string Document::what_if(std::string_view key) const {
  const auto set = std::find_if(input.sets.begin(), input.sets.end(),
                                [&](const auto& it) { return it.first == key; });
  return set == input.sets.end() ? std::string() : set->second;
}

Document Document::with_what_if(const std::string& key, const std::string& value) const {
  Document next = *this;
  WhatIfs& sets = next.input.sets;
  const auto set =
      std::find_if(sets.begin(), sets.end(), [&](const auto& it) { return it.first == key; });
  if (value.empty()) {
    if (set != sets.end()) sets.erase(set);
  } else if (set == sets.end()) {
    sets.emplace_back(key, value);
  } else {
    set->second = value;
  }
  return next;
}

Document Document::with_model(const std::string& model) const {
  Document next = *this;
  next.input.model = model;
  next.input.dims.clear();
  next.input.seq.reset();
  next.input.unsupported = Unsupported::refuse;
  const bool file = strategy.source.ends_with(".json");  // for the network that it names
  if (strategy.edited() || file) next.strategy = {};
  next.locked.clear();
  remove_what_ifs(next, {"layer."});
  return next;
}

Document Document::with_cluster(const std::string& cluster) const {
  if (cluster == input.cluster) return *this;
  Document next = on_cluster(*this, cluster);
  next.base_cluster.clear();
  if (!is_same_machine(input.cluster, cluster)) remove_what_ifs(next, {"link.", "device."});
  return next;
}

Document Document::resized(const std::string& cluster) const {
  if (cluster == input.cluster) return *this;
  Document next = on_cluster(*this, cluster);
  if (base_cluster.empty()) next.base_cluster = input.cluster;
  if (next.base_cluster == cluster) next.base_cluster.clear();
  return next;
}

Document Document::with_batch(std::int64_t batch) const {
  Document next = *this;
  std::int64_t& now =
      next.input.training.batch ? *next.input.training.batch : next.input.training.batch_per_device;
  if (!base_batch) next.base_batch = now;
  now = batch;
  if (next.base_batch == batch) next.base_batch.reset();
  return next;
}

Document Document::without_what_ifs() const {
  Document next = *this;
  next.input.sets.clear();
  if (!base_cluster.empty()) next = next.resized(base_cluster);
  if (base_batch) next = next.with_batch(*base_batch);
  return next;
}

std::string Document::name() const {
  if (empty()) return {};
  std::string name = fmt::format("{} on {}", shown_name(input.model), shown_name(input.cluster));
  for (const auto& [key, value] : input.sets) name += ", " + what_if_text(key, value);
  return name;
}

PredictRequest predict_request(const Document& document) {
  const StrategyChoice& choice = document.strategy;
  PredictRequest request;
  request.input = document.input;
  request.strategy = choice.edited() ? choice.label() : choice.source;
  request.configs = choice.configs;
  request.steps = document.simulation.steps;
  request.jitter = document.simulation.jitter;
  request.search = document.search;
  return request;
}

SolveRequest solve_request(const Document& document) {
  SolveRequest request;
  request.input = document.input;
  request.search = document.search;
  request.steps = document.simulation.steps;
  request.jitter = document.simulation.jitter;
  return request;
}

Document edited(Document next, const Document& before) {
  StrategyChoice& choice = next.strategy;
  if (choice.found.empty() || choice.touched || choice != before.strategy) return next;
  const std::string of = choice.found_on.empty() ? case_arguments(before) : choice.found_on;
  choice.found_on = of == case_arguments(next) ? std::string() : of;
  return next;
}

Document usual_document() {
  Document document;
  document.input.model = "vgg16";
  document.input.cluster = "p100-4x4";
  return document;
}

Document paper_example() {
  Document document = usual_document();
  document.input.training.sync.algorithm = SyncAlgorithm::ps;
  return document;
}

std::string what_if_text(const std::string& key, const std::string& value) {
  if (key == "overlap") return value == "off" ? "no overlap" : "overlap " + value;
  const std::size_t begin = key.find('.') + 1, end = key.rfind('.');
  if (begin == 0 || end < begin) return key + " " + value;
  const std::string kind = key.substr(0, begin - 1), selector = key.substr(begin, end - begin);
  constexpr std::string_view kFirst = "first:";
  std::string of = selector == "*" ? fmt::format("all {}s", kind) : selector;
  if (selector == "first:1") {
    of = fmt::format("the first {}", kind);
  } else if (selector.starts_with(kFirst)) {
    of = fmt::format("the first {} {}s", selector.substr(kFirst.size()), kind);
  }
  return fmt::format("{} of {} {}", key.substr(end + 1), of, value);
}

SavedDesk parse_desk(std::string_view json, const std::string& file) {
  const strata::Document saved = parse_json(json, file);
  Table root = saved.table();
  const auto version = root.optional("strata_document");
  if (!version) root.fail("this is no saved session: missing key 'strata_document'");
  if (version->as_integer() != kVersion) version->fail("the session is of another version");
  SavedDesk desk;
  if (const auto baseline = root.optional("baseline")) {
    desk.baseline = parse_document(baseline->as_table());
  }
  desk.document = parse_document(std::move(root));
  return desk;
}

std::string print_desk(const SavedDesk& desk) {
  Json root = {{"strata_document", kVersion}};
  root.update(print_document(desk.document));
  if (desk.baseline) root["baseline"] = print_document(*desk.baseline);
  return root.dump(2) + "\n";
}

std::string case_arguments(const Document& document) {
  Document said = document;
  CaseRequest& input = said.input;
  if (input.training.batch)
    input.training.batch_per_device = CaseRequest().training.batch_per_device;
  if (!input.model.ends_with(".onnx")) input.unsupported = Unsupported::refuse;
  std::vector<std::string_view> keys;
  each_setting(input, [&](std::string_view key, const auto&) {
    if (key != "model") keys.push_back(key);
  });
  std::string text = shell_quoted(input.model) + setting_options(said, keys);
  for (const auto& [key, value] : input.sets) text += " --set " + shell_quoted(key + "=" + value);
  return text;
}

std::string simulation_options(const Document& document) {
  return setting_options(document, keys_of(SettingGroup::simulation));
}

std::string strategy_argument(const Document& document, const std::string& strategy_file) {
  const StrategyChoice& choice = document.strategy;
  return " --strategy " + shell_quoted(choice.edited() ? strategy_file : choice.source);
}

std::string shell_quoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+%@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace strata::gui
