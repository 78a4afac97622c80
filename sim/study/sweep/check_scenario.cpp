#include "sim/study/sweep/check_scenario.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/store/query.h"
#include "sim/text/diagnostics.h"

namespace strata {
namespace {

/// A value of an axis.
struct Spot {
  const Axis* axis = nullptr;
  std::size_t place = 0, key = 0;

  Location where() const { return axis->location(place, key); }
  /// As the file has it: without "set.".
  std::string text() const {
    std::string_view name = axis->keys[key];
    if (name.starts_with("set.")) name.remove_prefix(4);
    return fmt::format("'{}' = \"{}\"", name, axis->values[place][key]);
  }
};

std::optional<Spot> find_on(const Axis& axis, std::size_t place, const std::string& key) {
  const auto at = std::ranges::find(axis.keys, key);
  if (at == axis.keys.end()) return std::nullopt;
  return Spot{&axis, place, static_cast<std::size_t>(at - axis.keys.begin())};
}

/// What is wrong, by line.
class Faults {
 public:
  /// Each line of the message is one.
  void add(const Location& where, const std::string& before, std::string_view message) {
    while (true) {
      const std::size_t end = message.find('\n');
      all_.emplace_back(where.line, fmt::format("{}: {}", before, message.substr(0, end)));
      if (end == std::string_view::npos) return;
      message.remove_prefix(end + 1);
    }
  }

  void throw_if_any(const std::string& file) {
    std::ranges::stable_sort(all_, {}, &std::pair<int, std::string>::first);
    Diagnostics errors;
    for (const auto& [line, message] : all_) errors.add({file, line}, message);
    errors.throw_if_any();
  }

 private:
  std::vector<std::pair<int, std::string>> all_;
};

// A report is drawn when all cases are answered, which is too late to learn that its SQL is wrong.
class ReportCheck {
 public:
  ReportCheck(const ReportSection& section, QueryCheck& queries, Faults& faults)
      : section_(section), queries_(queries), faults_(faults) {}

  void check() {
    if (!section_.sql.empty()) check_section();
    for (const ReportSection::Claim& claim : section_.claims) check_claim(claim);
  }

 private:
  template <class Action>
  void attempt(const Location& where, const Action& action) {
    try {
      action();
    } catch (const InputError& error) {
      faults_.add(where, fmt::format("report '{}'", section_.title), error.message());
    }
  }

  void check_section() {
    attempt(section_.sql_where, [&] {
      const std::vector<std::string> columns = queries_.columns(section_.sql);
      for (const std::string* name :
           {&section_.x, &section_.y, &section_.series, &section_.ideal}) {
        check_column(columns, *name);
      }
    });
  }

  static void check_column(const std::vector<std::string>& columns, const std::string& name) {
    if (name.empty() || std::ranges::find(columns, name) != columns.end()) return;
    throw InputError(
        fmt::format("the query has no column '{}'; it has: {}", name, fmt::join(columns, ", ")));
  }

  void check_claim(const ReportSection::Claim& claim) {
    attempt(claim.sql_where, [&] {
      if (queries_.columns(claim.sql).size() == 1) return;
      throw InputError("a claim's sql must give one row of one column");
    });
  }

  const ReportSection& section_;
  QueryCheck& queries_;
  Faults& faults_;
};

class SweepCheck {
 public:
  SweepCheck(Answers& answers, const Scenario& scenario, const Sweep& sweep, Faults& faults)
      : answers_(answers), scenario_(scenario), sweep_(sweep), faults_(faults) {}

  void check() {
    first_ = wrong(0, first_of(sweep_.job == Job::run ? "devices" : "cluster"));
    for (const WrongSetting& setting : first_) add_first(setting);
    std::size_t stride = sweep_.count();
    for (const Axis& axis : sweep_.axes) {
      stride /= axis.values.size();
      for (std::size_t k = 1; k < axis.values.size(); ++k) {
        const Spot moved{&axis, k, 0};
        for (const WrongSetting& setting : wrong(k * stride, moved)) add_other(moved, setting);
      }
    }
  }

 private:
  // Devices that are not there end the check.
  std::vector<WrongSetting> wrong(std::size_t i, const Spot& moved) try {
    return answers_.wrong(question_of(scenario_, sweep_, i));
  } catch (Error& error) {
    error.add_context(fmt::format("{}: {}", print(moved.where()), moved.text()));
    throw;
  }

  // A key that the file leaves out has a usual value, which does not go with the model.
  Spot first_of(const std::string& key) const {
    for (const Axis& axis : sweep_.axes) {
      if (const auto spot = find_on(axis, 0, key)) return *spot;
    }
    return first_of("model");
  }

  void add_first(const WrongSetting& setting) {
    const Spot spot = first_of(setting.key);
    faults_.add(spot.where(), spot.text(), setting.message);
  }

  // Where the first case had nothing against a key, the value that differs from it is at fault, and
  // is named together with what it does not go with.
  void add_other(const Spot& moved, const WrongSetting& setting) {
    if (const auto spot = find_on(*moved.axis, moved.place, setting.key)) {
      return faults_.add(spot->where(), spot->text(), setting.message);
    }
    if (std::ranges::find(first_, setting.key, &WrongSetting::key) != first_.end()) return;
    const std::string both = fmt::format("{}: {}", moved.text(), first_of(setting.key).text());
    faults_.add(moved.where(), both, setting.message);
  }

  Answers& answers_;
  const Scenario& scenario_;
  const Sweep& sweep_;
  Faults& faults_;
  std::vector<WrongSetting> first_;
};

}  // namespace

void check_scenario(Answers& answers, const Scenario& scenario) {
  Faults faults;
  for (const Sweep& sweep : scenario.sweeps) SweepCheck(answers, scenario, sweep, faults).check();
  std::optional<QueryCheck> queries;
  if (!scenario.report.empty()) queries.emplace();
  for (const ReportSection& section : scenario.report)
    ReportCheck(section, *queries, faults).check();
  faults.throw_if_any(scenario.file);
}

}  // namespace strata
