#include "sim/study/published/published_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/case/case_settings.h"
#include "sim/case/framework.h"
#include "sim/text/embedded.h"
#include "sim/text/file.h"
#include "sim/text/toml.h"

namespace strata {

std::span<const EmbeddedFile> published_pages();   // generated: profiles/published/*.toml
std::span<const EmbeddedFile> published_tables();  // generated: profiles/published/*.csv

namespace {

constexpr std::int64_t kSizeLimit = 64 << 20;

/// A text with {column} for what stands in that column of a row.
class Template {
 public:
  Template(const Value& value, const std::vector<std::string_view>& columns) {
    const std::string& text = value.as_string();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t open = std::min(text.find('{', at), text.size());
      parts_.push_back({text.substr(at, open - at), kNone});
      if (open == text.size()) break;
      const std::size_t close = text.find('}', open);
      if (close == std::string::npos) value.fail("a '{' without its '}'");
      const std::string name = text.substr(open + 1, close - open - 1);
      const auto column = std::find(columns.begin(), columns.end(), name);
      if (column == columns.end()) {
        value.fail(fmt::format("no column '{}' in the table; allowed: {}", name,
                               fmt::join(columns, ", ")));
      }
      parts_.push_back({{}, static_cast<std::size_t>(column - columns.begin())});
      at = close + 1;
    }
  }

  std::string of(const std::vector<std::string_view>& cells) const {
    std::string result;
    for (const auto& [text, column] : parts_) {
      result += column == kNone ? std::string_view(text) : cells[column];
    }
    return result;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Part {
    std::string text;
    std::size_t column;
  };
  std::vector<Part> parts_;
};

/// Whose rows are drawn to be fitted to: the same each time, whatever the order of the table.
bool is_drawn(std::string_view row, double share) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : row) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>(hash >> 11) < share * 9007199254740992.0;
}

class Reader {
 public:
  Reader(std::string_view page, const std::string& file, std::string_view table,
         std::string table_file)
      : document_(parse_toml(page, file)), table_file_(std::move(table_file)) {
    result_.file = file;
    lines_ = split(table, '\n');
    result_.table_file = table_file_;
    for (std::string_view& line : lines_) {
      if (line.ends_with('\r')) line.remove_suffix(1);
    }
    if (lines_.empty() || lines_.front().empty()) {
      throw InputError(fmt::format("{}:1: no columns are named", table_file_));
    }
    columns_ = cells_of(0);
  }

  PublishedTable read() && {
    Table root = document_.table();
    result_.title = root.string("title");
    result_.source = root.string("source");
    result_.licence = root.string("licence");
    result_.notes = root.string_or("notes", "");
    result_.device = root.string("device");
    root.string("table");
    unit_ = unit_of(root.required("unit"));
    measured_.emplace(root.required("measured"), columns_);
    network_.emplace(root.required("network"), columns_);
    choice_.emplace(root.required("choice"), columns_);
    fitted_ = root.number_or("fitted", 0, 0, 1);
    if (const auto usual = root.optional("usual")) result_.usual = usual->as_boolean();
    if (const auto held = root.optional("reserved")) reserved_.emplace(*held, columns_);
    if (const auto used = root.optional("allocated")) allocated_.emplace(*used, columns_);
    if (const auto keep = root.optional("rows")) read_filter(keep->as_table());
    read_case(root.required("case").as_table());
    root.finish();
    for (std::size_t row = 1; row < lines_.size(); ++row) {
      if (!lines_[row].empty()) read_row(row);
    }
    if (result_.steps.empty()) throw InputError(fmt::format("{}: no rows", table_file_));
    return std::move(result_);
  }

 private:
  enum class Unit : std::uint8_t { seconds, milliseconds, samples };

  static Unit unit_of(const Value& value) {
    const std::string& text = value.as_string();
    if (text == "s") return Unit::seconds;
    if (text == "ms") return Unit::milliseconds;
    if (text == "samples/s") return Unit::samples;
    value.fail_expected("s, ms or samples/s");
  }

  std::vector<std::string_view> cells_of(std::size_t row) const { return split(lines_[row], ','); }

  // Which rows are taken: columns with the values that they may have.
  void read_filter(Table table) {
    for (auto& [column, values] : table.members()) {
      const auto at = std::find(columns_.begin(), columns_.end(), column);
      if (at == columns_.end()) values.fail(fmt::format("no column '{}' in the table", column));
      filter_.emplace_back(static_cast<std::size_t>(at - columns_.begin()), values.as_strings());
    }
  }

  void read_case(Table table) {
    strategy_.emplace(table.required("strategy"), columns_);
    for (auto& [key, value] : table.members()) {
      if (key == "strategy") continue;
      if (key == "set") {
        read_what_ifs(value.as_table());
        continue;
      }
      check_key(key, value);
      settings_.emplace_back(key, Template(value, columns_));
    }
  }

  void read_what_ifs(Table table) {
    for (auto& [key, value] : table.members()) {
      what_ifs_.emplace_back(key, Template(value, columns_));
    }
  }

  static void check_key(const std::string& key, const Value& value) {
    CaseRequest request;
    bool known = false;
    each_setting(request, [&](std::string_view one, const auto&) { known = known || one == key; });
    if (!known) value.fail(fmt::format("'{}' is no setting of a case", key));
  }

  void read_row(std::size_t row) try {
    const std::vector<std::string_view> cells = cells_of(row);
    if (cells.size() != columns_.size()) {
      throw InputError(fmt::format("{} cells; allowed: {}, as the first line has columns",
                                   cells.size(), columns_.size()));
    }
    const auto is_left_out = [&](const auto& only) {
      return std::find(only.second.begin(), only.second.end(), cells[only.first]) ==
             only.second.end();
    };
    if (std::any_of(filter_.begin(), filter_.end(), is_left_out)) return;
    PublishedStep step;
    for (const auto& [key, text] : settings_) set(key, text.of(cells), step.request);
    for (const auto& [key, text] : what_ifs_) step.request.sets.emplace_back(key, text.of(cells));
    step.plain = step.request;
    step.plain.framework = kNoFramework;
    choose_settings(step.request, [&](std::string_view key) {
      return std::any_of(settings_.begin(), settings_.end(),
                         [&](const auto& setting) { return setting.first == key; });
    });
    step.strategy = strategy_->of(cells);
    step.network = network_->of(cells);
    step.choice = choice_->of(cells);
    step.fitted = is_drawn(lines_[row], fitted_);
    step.line = static_cast<int>(row) + 1;
    step.measured = seconds(parse_number(measured_->of(cells)), step.request);
    if (allocated_) step.memory = {parse_bytes(allocated_->of(cells)), false};
    if (reserved_) step.memory = {parse_bytes(reserved_->of(cells)), true};
    result_.steps.push_back(std::move(step));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}:{}: {}", table_file_, row + 1, error.message()));
  }

  static void set(const std::string& key, const std::string& text, CaseRequest& request) {
    if (text.empty()) return;
    each_setting(request, [&](std::string_view one, auto& value) {
      if (one != key) return;
      if constexpr (requires { read_setting(one, text, value); }) {
        read_setting(one, text, value);
      } else {
        throw InternalError(fmt::format("setting {} is no single value", one));
      }
    });
  }

  Seconds seconds(double measured, const CaseRequest& request) const {
    if (!(measured > 0)) throw InputError("what was measured must be above 0");
    switch (unit_) {
      case Unit::seconds:
        return {measured};
      case Unit::milliseconds:
        return {measured * 1e-3};
      case Unit::samples:
        break;
    }
    if (!request.training.batch) throw InputError("samples/s need the case's batch");
    return {static_cast<double>(*request.training.batch) / measured};
  }

  Document document_;
  std::string table_file_;
  PublishedTable result_;
  std::vector<std::string_view> lines_, columns_;
  Unit unit_ = Unit::seconds;
  std::optional<Template> measured_, network_, choice_, strategy_, reserved_, allocated_;
  std::vector<std::pair<std::string, Template>> settings_, what_ifs_;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> filter_;
  double fitted_ = 0;
};

// The table's name, of a page whose other keys are read later.
std::string table_of_page(std::string_view page, const std::string& file) {
  const Document document = parse_toml(page, file);
  return document.table().string("table");
}

const EmbeddedFile* find_in(std::span<const EmbeddedFile> files, std::string_view name) {
  const auto at = std::find_if(files.begin(), files.end(),
                               [&](const EmbeddedFile& file) { return file.name == name; });
  return at == files.end() ? nullptr : &*at;
}

}  // namespace

PublishedTable parse_published(std::string_view page, const std::string& file,
                               std::string_view table, const std::string& table_file) {
  return Reader(page, file, table, table_file).read();
}

PublishedTable read_published(const std::string& file) {
  const std::string page = read_file(file, kSizeLimit);
  const std::filesystem::path name = table_of_page(page, file);
  const std::string table = (std::filesystem::path(file).parent_path() / name).string();
  return parse_published(page, file, read_file(table, kSizeLimit), table);
}

std::vector<std::string> shipped_published() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : published_pages()) names.emplace_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

PublishedTable load_published(const std::string& name_or_file) {
  if (name_or_file.ends_with(".toml")) return read_published(name_or_file);
  const EmbeddedFile* const page = find_in(published_pages(), name_or_file);
  if (page == nullptr) {
    throw InputError(fmt::format("no published figures '{}'; allowed: {}, or a .toml file",
                                 name_or_file, fmt::join(shipped_published(), ", ")));
  }
  const std::string file = fmt::format("{}.toml", name_or_file);
  const std::string table = table_of_page(page->text, file);
  const EmbeddedFile* const rows = find_in(published_tables(), table.substr(0, table.rfind('.')));
  if (rows == nullptr) throw InternalError(fmt::format("{}: not in the program", table));
  return parse_published(page->text, file, rows->text, table);
}

}  // namespace strata
