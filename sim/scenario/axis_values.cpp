#include "sim/scenario/axis_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/range.h"

namespace strata {
namespace {

class ValuesReader {
 public:
  ValuesReader(const SettingSpec& setting, Job job, std::size_t most)
      : setting_(setting), job_(job), most_(most) {}

  void read_list(const Value& list, Diagnostics& errors) {
    if (list.node().items.empty()) list.fail_expected("a list of at least one value");
    if (list.node().items.size() > most_) refuse_more(list);
    for (const Value& item : list.as_list()) {
      errors.attempt([&] { read_item(item); });
    }
  }

  void read_item(const Value& value) {
    if (value.is(ValueKind::table) && setting_.form != ValueForm::flag) return read_numbers(value);
    const bool several = setting_.form == ValueForm::files && value.is(ValueKind::list);
    add(value, several ? joined(value) : read_single(setting_, value, job_));
  }

  AxisValues take() { return std::move(values_); }

 private:
  [[noreturn]] void refuse_more(const Value& value) const {
    value.fail(fmt::format("'{}': too many values; allowed: {}", value.name(), most_));
  }

  void add(const Value& value, std::string text) {
    if (values_.texts.size() == most_) refuse_more(value);
    values_.texts.push_back(std::move(text));
    values_.lines.push_back(value.location().line);
  }

  // A range of numbers is no text yet, and a number with a unit no number.
  void read_numbers(const Value& value) {
    check_is_range(value);
    const RangeValues range = read_range(value.as_table(), most_ - values_.texts.size());
    const bool numeric = is_numeric(setting_.form);
    if (numeric && !range.plain) {
      value.fail(fmt::format("'{}' takes numbers: no 'form', 'unit' or 'suffix'", value.name()));
    }
    if (takes_texts_only() && range.plain) {
      value.fail(fmt::format("'{}' takes texts: the range needs a 'form'", value.name()));
    }
    for (const std::string& text : range.texts) check_text(setting_, value, text, job_);
    values_.texts.insert(values_.texts.end(), range.texts.begin(), range.texts.end());
    values_.lines.resize(values_.texts.size(), value.location().line);
  }

  // A dotted key that is not quoted reads as tables in tables.
  void check_is_range(const Value& value) const {
    const auto& members = value.node().members;
    const bool dotted =
        setting_.form == ValueForm::free && std::ranges::all_of(members, [](const Member& m) {
          return m.value.kind == ValueKind::table;
        });
    if (!dotted) return;
    value.fail(
        fmt::format("'{}' is a table and no range; a key with dots is written in quotes, as "
                    "\"link.inter.bandwidth\"",
                    value.name()));
  }

  bool takes_texts_only() const {
    return !is_numeric(setting_.form) && setting_.form != ValueForm::size &&
           setting_.form != ValueForm::free;
  }

  // Several files at once are one value.
  std::string joined(const Value& list) const {
    if (list.node().items.empty()) list.fail_expected("a list of at least one file");
    std::string text;
    for (const Value& item : list.as_list()) {
      text += (text.empty() ? "" : ",") + read_single(setting_, item, job_);
    }
    return text;
  }

  const SettingSpec& setting_;
  Job job_;
  std::size_t most_;
  AxisValues values_;
};

}  // namespace

AxisValues read_values(const SettingSpec& setting, Job job, const Value& value, std::size_t& room,
                       Diagnostics& errors) {
  const std::size_t before = errors.count();
  ValuesReader reader(setting, job, std::min(room, kMaxAxisValues));
  errors.attempt([&] {
    if (value.is(ValueKind::list)) return reader.read_list(value, errors);
    reader.read_item(value);
  });
  if (errors.count() != before) return {};
  AxisValues values = reader.take();
  room -= values.texts.size();
  return values;
}

}  // namespace strata
