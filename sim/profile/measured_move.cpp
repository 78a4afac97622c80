#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/profile/move_table.h"
#include "sim/text/toml.h"

namespace strata {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;
constexpr double kMinSeconds = 1e-12;  // the engine's clock counts no less
constexpr double kMaxSeconds = 1e6;

struct MoveRow {
  MeasuredMove move;
  Location where;
};

MoveKind read_kind(const Value& value) {
  const std::string& text = value.as_string();
  const auto found = std::find(kMoveKindNames.begin(), kMoveKindNames.end(), text);
  if (found != kMoveKindNames.end()) return static_cast<MoveKind>(found - kMoveKindNames.begin());
  value.fail(
      fmt::format("'{}' is no kind of move; allowed: {}", text, fmt::join(kMoveKindNames, ", ")));
}

MeasuredMove read_row(Table table) {
  MeasuredMove move;
  move.kind = read_kind(table.required("kind"));
  move.bytes = {table.integer("bytes", 1, kMaxBytes)};
  move.seconds = {table.number("seconds", kMinSeconds, kMaxSeconds)};
  move.spread = {table.number("spread_seconds", 0, kMaxSeconds)};
  move.count = table.integer("count", 1);
  move.source = table.string("source");
  table.finish();
  return move;
}

auto key(const MoveRow& row) {
  return std::tuple(row.move.kind, row.move.bytes);
}

void refuse_twins(const std::vector<MoveRow>& rows, Diagnostics& errors) {
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const MeasuredMove& move = rows[i].move;
    if (key(rows[i]) != key(rows[i - 1])) continue;
    errors.add(rows[i].where,
               fmt::format("'{}' of {} bytes stands in line {} already; each is given once",
                           name(move.kind), move.bytes.value, rows[i - 1].where.line));
  }
}

}  // namespace

std::vector<MeasuredMove> read_moves(Table table, Diagnostics& errors) {
  std::vector<MoveRow> rows;
  for (const Table& row : table.tables("rows")) {
    errors.attempt([&] { rows.push_back({read_row(row), row.location()}); });
  }
  table.finish(errors);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const MoveRow& a, const MoveRow& b) { return key(a) < key(b); });
  refuse_twins(rows, errors);
  std::vector<MeasuredMove> moves;
  moves.reserve(rows.size());
  for (MoveRow& row : rows) moves.push_back(std::move(row.move));
  return moves;
}

std::string print_moves(const std::vector<MeasuredMove>& moves) {
  if (moves.empty()) return "";
  std::string text = "\n[moves]\nrows = [\n";
  for (const MeasuredMove& move : moves) {
    text += fmt::format(
        "  {{ kind = \"{}\", bytes = {}, seconds = {}, spread_seconds = {}, count = {}, "
        "source = {} }},\n",
        name(move.kind), move.bytes.value, move.seconds.value, move.spread.value, move.count,
        toml_quoted(move.source));
  }
  return text + "]\n";
}

}  // namespace strata
