#include "sim/scenario/sweep_reader.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/axis_values.h"
#include "sim/scenario/settings.h"
#include "sim/scenario/zip.h"

namespace strata {
namespace {

std::string names(std::span<const Job> jobs) {
  std::string text;
  for (const Job job : jobs) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(job));
  return text;
}

Job read_job(const Value& value) {
  for (const Job job : jobs()) {
    if (value.as_string() == name(job)) return job;
  }
  value.fail(fmt::format("unknown job \"{}\"; allowed: {}", value.as_string(), names(jobs())));
}

class SweepReader {
 public:
  SweepReader(Table table, ScenarioRoom& room, Diagnostics& errors)
      : table_(std::move(table)), room_(room), errors_(errors), before_(errors.count()) {
    sweep_.where = table_.location();
  }

  Sweep read(std::size_t number) {
    read_head(number);
    for (const SettingSpec& setting : settings()) read_setting(setting);
    read_what_ifs();
    check_what_is_needed();
    const auto zips = table_.optional("zip");
    if (sound()) zip(zips);
    table_.finish(errors_);
    if (sound()) count_cases();
    return std::move(sweep_);
  }

 private:
  bool sound() const { return errors_.count() == before_; }

  void read_head(std::size_t number) {
    errors_.attempt([&] {
      sweep_.name = table_.string_or("name", fmt::format("sweep-{}", number));
      if (sweep_.name.empty()) table_.required("name").fail_expected("a name");
    });
    const auto job = table_.optional("job");
    job_known_ = errors_.attempt([&] {
      if (job) sweep_.job = read_job(*job);
    });
  }

  void read_setting(const SettingSpec& setting) {
    if (setting.jobs.empty()) return;
    if (const auto value = table_.optional(setting.key)) {
      read_axis(setting, std::string(setting.key), *value);
    }
  }

  void read_what_ifs() {
    errors_.attempt([&] {
      auto set = table_.optional_table("set");
      if (!set) return;
      for (const auto& [key, value] : set->members()) {
        if (key.empty()) value.fail("a key of [sweep.set] must not be empty");
        read_axis(what_if_setting(), "set." + key, value);
      }
    });
  }

  void read_axis(const SettingSpec& setting, std::string name_of_key, const Value& value) {
    if (job_known_ && !goes_with(setting, sweep_.job)) {
      errors_.add(value.location(),
                  fmt::format("'{}' does not go with job {}; allowed: {}", name_of_key,
                              name(sweep_.job), names(setting.jobs)));
    }
    AxisValues values = read_values(setting, sweep_.job, value, room_.values, errors_);
    Axis axis{{std::move(name_of_key)}, {}, value.location(), std::move(values.lines)};
    for (std::string& text : values.texts) axis.values.push_back({std::move(text)});
    sweep_.axes.push_back(std::move(axis));
  }

  void check_what_is_needed() {
    need("model");
    if (!job_known_) return;
    need(sweep_.job == Job::run ? "devices" : "cluster");
    if (sweep_.job != Job::solve) need("strategy");
    if (table_.has("batch") && table_.has("batch_per_device")) {
      errors_.add(table_.location("batch_per_device"),
                  "'batch' and 'batch_per_device' exclude each other");
    }
  }

  void need(std::string_view key) {
    errors_.attempt([&] { table_.required(key); });
  }

  void zip(const std::optional<Value>& zips) {
    if (zips) zip_axes(*zips, sweep_.axes, errors_);
    for (const Axis& axis : sweep_.axes) check_distinct(axis, errors_);
  }

  void count_cases() {
    std::size_t cases = 1;
    for (const Axis& axis : sweep_.axes) {
      if (axis.values.size() > room_.cases / cases) {
        errors_.add(sweep_.where, fmt::format("sweep {}: too many cases; a scenario may have {}",
                                              sweep_.name, kMaxCases));
        return;
      }
      cases *= axis.values.size();
    }
    room_.cases -= cases;
  }

  Table table_;
  ScenarioRoom& room_;
  Diagnostics& errors_;
  std::size_t before_;
  bool job_known_ = true;
  Sweep sweep_;
};

}  // namespace

Sweep read_sweep(Table table, std::size_t number, ScenarioRoom& room, Diagnostics& errors) {
  return SweepReader(std::move(table), room, errors).read(number);
}

}  // namespace strata
