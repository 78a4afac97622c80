#include "gui/models/sweep/results.h"

#include <algorithm>
#include <utility>

namespace strata::gui {
namespace {

std::optional<std::uint32_t> row_with(const ResultSet& results, std::int64_t id) {
  for (std::size_t row = 0; row < results.rows(); ++row) {
    if (results.id(row) == id) return static_cast<std::uint32_t>(row);
  }
  return std::nullopt;
}

}  // namespace

Results::Results(QObject* parent) : QObject(parent) {}

void Results::set_all(ResultSetPtr all) {
  if (current_) current_ = row_with(*all, all_->id(*current_));
  all_ = std::move(all);
  apply();
}

void Results::set_why_empty(const std::string& why) {
  if (why == why_empty_) return;
  why_empty_ = why;
  if (all_->rows() == 0) emit changed();
}

void Results::set_text(const std::string& text) {
  ResultFilter filter = filter_;
  filter.text = text;
  set_filter(std::move(filter));
}

void Results::set_brush(const std::string& column, std::optional<Brush> brush) {
  ResultFilter filter = filter_;
  filter.brushes.erase(column);
  if (brush) filter.brushes.emplace(column, std::move(*brush));
  set_filter(std::move(filter));
}

void Results::set_brushes(const std::map<std::string, Brush>& brushes) {
  ResultFilter filter = filter_;
  for (const auto& [column, brush] : brushes) filter.brushes.insert_or_assign(column, brush);
  set_filter(std::move(filter));
}

void Results::clear_brushes() {
  ResultFilter filter = filter_;
  filter.brushes.clear();
  set_filter(std::move(filter));
}

void Results::set_current(std::optional<std::uint32_t> row) {
  if (row == current_) return;
  current_ = row;
  emit current_changed();
}

void Results::set_filter(ResultFilter filter) {
  if (filter == filter_) return;
  filter_ = std::move(filter);
  apply();
}

// Names speak for themselves, numbers need the name of their column.
std::string Results::common() const {
  std::string text;
  for (const ResultColumn& column : all_->columns()) {
    if (!column.setting || column.varies() || column.name == "sweep" || !column.has(0)) continue;
    text += (text.empty() ? "" : ", ") + (column.numeric ? column.name + " " : std::string()) +
            column.text(0);
  }
  return text;
}

void Results::apply() {
  rows_ = passing(*all_, filter_);
  shown_.assign(all_->rows(), 0);
  for (const std::uint32_t row : rows_) shown_[row] = 1;
  emit changed();
}

}  // namespace strata::gui
