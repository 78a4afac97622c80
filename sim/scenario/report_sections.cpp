#include "sim/scenario/report_sections.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

using Kind = ReportSection::Kind;
using Claim = ReportSection::Claim;

constexpr std::array<std::string_view, 6> kKinds = {"text", "table",   "lines",
                                                    "bars", "scatter", "claims"};

std::string read_words(Table& table, std::string_view key) {
  const Value value = table.required(key);
  if (value.as_string().empty()) value.fail_expected("a text that is not empty");
  return value.as_string();
}

class SectionReader {
 public:
  SectionReader(Table table, Diagnostics& errors) : table_(std::move(table)), errors_(errors) {
    section_.where = table_.location();
  }

  ReportSection read() {
    if (errors_.attempt([&] { section_.kind = read_kind(); })) read_parts();
    return std::move(section_);
  }

 private:
  Kind read_kind() {
    const auto kind = table_.optional("kind");
    if (!kind) return guess_kind();
    const auto at = std::ranges::find(kKinds, kind->as_string());
    if (at != kKinds.end()) return static_cast<Kind>(at - kKinds.begin());
    kind->fail(fmt::format("unknown kind \"{}\"; allowed: {}", kind->as_string(),
                           fmt::join(kKinds, ", ")));
  }

  // With another view of the table: keys that are looked for are not yet asked for.
  Kind guess_kind() const {
    Table look = table_;
    if (look.has("claim")) return Kind::claims;
    return look.has("sql") ? Kind::table : Kind::text;
  }

  void read_parts() {
    words("title", section_.title);
    if (section_.kind == Kind::text) {
      words("text", section_.text);
    } else {
      optional_words("text", section_.text);
    }
    if (section_.kind == Kind::claims) read_claims();
    if (section_.kind == Kind::table || is_chart()) words("sql", section_.sql);
    section_.sql_where = table_.location("sql");
    if (is_chart()) read_chart();
    table_.finish(errors_);
  }

  bool is_chart() const {
    return section_.kind == Kind::lines || section_.kind == Kind::bars ||
           section_.kind == Kind::scatter;
  }

  void read_chart() {
    words("x", section_.x);
    words("y", section_.y);
    optional_words("series", section_.series);
    optional_words("ideal", section_.ideal);
    optional_words("x_label", section_.x_label);
    optional_words("y_label", section_.y_label);
    // Bars stand over categories.
    if (section_.kind != Kind::bars) flag("log_x", section_.log_x);
    flag("log_y", section_.log_y);
  }

  void read_claims() {
    errors_.attempt([&] {
      for (Table& claim : table_.tables("claim")) {
        errors_.attempt([&] { section_.claims.push_back(read_claim(claim)); });
      }
      if (!table_.has("claim")) table_.fail("a section of claims needs a [[report.claim]]");
    });
  }

  static Claim read_claim(Table& table) {
    Claim claim;
    claim.text = read_words(table, "text");
    claim.said = table.number("said");
    claim.unit = table.string_or("unit", "");
    claim.sql = read_words(table, "sql");
    claim.sql_where = table.location("sql");
    claim.tolerance = table.number_or("tolerance", 0, 0);
    claim.why = table.string_or("why", "");
    table.finish();
    return claim;
  }

  void words(std::string_view key, std::string& text) {
    errors_.attempt([&] { text = read_words(table_, key); });
  }
  void optional_words(std::string_view key, std::string& text) {
    errors_.attempt([&] { text = table_.string_or(key, ""); });
  }
  void flag(std::string_view key, bool& value) {
    errors_.attempt([&] { value = table_.boolean_or(key, false); });
  }

  Table table_;
  Diagnostics& errors_;
  ReportSection section_;
};

}  // namespace

ReportSection read_report_section(Table table, Diagnostics& errors) {
  return SectionReader(std::move(table), errors).read();
}

}  // namespace strata
