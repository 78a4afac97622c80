#include <gtest/gtest.h>

#include "sim/profile/move_table.h"
#include "sim/profile/profile.h"
#include "sim/text/toml.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

std::vector<MeasuredMove> parse(const std::string& toml) {
  const Document document = parse_toml(toml, "x.toml");
  Diagnostics errors;
  std::vector<MeasuredMove> moves = read_moves(document.table().table("moves"), errors);
  errors.throw_if_any();
  return moves;
}

std::string moves_error(const std::string& rows) {
  return said([&] { parse("[moves]\nrows = [\n" + rows + "]\n"); });
}

constexpr const char* kSmall =
    R"({ kind = "copy", bytes = 64, seconds = 1e-06, spread_seconds = 0, count = 50, source = "box" },
)";
const MeasuredMove kSmallRow{MoveKind::copy, {64}, {1e-6}, {0}, 50, "box"};

TEST(MeasuredMove, RowsAreSortedByKindAndBytes) {
  const std::string rows = R"(
  { kind = "local", bytes = 8, seconds = 2, spread_seconds = 1e-7, count = 1, source = "" },
  { kind = "reduce", bytes = 128, seconds = 0.5, spread_seconds = 0, count = 3, source = "b" },
  { kind = "reduce", bytes = 32, seconds = 0.25, spread_seconds = 0, count = 3, source = "b" },
)";
  EXPECT_EQ(parse("[moves]\nrows = [" + rows + kSmall + "]"),
            (std::vector<MeasuredMove>{kSmallRow,
                                       {MoveKind::reduce, {32}, {0.25}, {0}, 3, "b"},
                                       {MoveKind::reduce, {128}, {0.5}, {0}, 3, "b"},
                                       {MoveKind::local, {8}, {2}, {1e-7}, 1, ""}}));
  EXPECT_EQ(parse("[moves]"), std::vector<MeasuredMove>{});
}

TEST(MeasuredMove, PrintedRowsReadBackEqualToTheBit) {
  const std::vector<MeasuredMove> moves = {
      kSmallRow,
      {MoveKind::copy, {std::int64_t{1} << 50}, {1e6}, {1e6}, std::int64_t{1} << 62, "a \"b\"\n"},
      {MoveKind::reduce, {3}, {1.0 / 3e5}, {0.1 + 0.2}, 7, "\t\xC3\xA4"},
      {MoveKind::local, {3}, {1e-12}, {0}, 1, ""}};
  EXPECT_EQ(parse(print_moves(moves)), moves);
  EXPECT_EQ(print_moves({}), "");
  EXPECT_EQ(print_moves({kSmallRow}), std::string("\n[moves]\nrows = [\n  ") + kSmall + "]\n");
}

TEST(MeasuredMove, StandInTheProfile) {
  Profile p = load_profile("p100");
  p.moves = {kSmallRow, {MoveKind::local, {3}, {1.0 / 7}, {0}, 2, "here"}};
  EXPECT_EQ(parse_profile(print_profile(p), "p.toml").moves, p.moves);
  p.costs.clear();
  EXPECT_EQ(parse_profile(print_profile(p), "p.toml"), p);
}

TEST(MeasuredMove, EveryBadRowIsNamedWithWhatIsAllowed) {
  const auto with = [](std::string_view piece, std::string_view other) {
    std::string row(kSmall);
    return row.replace(row.find(piece), piece.size(), other);
  };
  EXPECT_EQ(moves_error(with("copy", "swap") + with("64", "0")),
            "x.toml:3: 'swap' is no kind of move; allowed: copy, reduce, local\n"
            "x.toml:4: 'bytes' must be an integer from 1 to 1125899906842624; it is 0");
  EXPECT_EQ(moves_error(with("1e-06", "0")),
            "x.toml:3: 'seconds' must be a number from 1e-12 to 1000000; it is 0");
  EXPECT_EQ(moves_error(with("spread_seconds = 0", "spread_seconds = -1")),
            "x.toml:3: 'spread_seconds' must be a number from 0 to 1000000; it is -1");
  EXPECT_EQ(moves_error(with("50", "0")),
            "x.toml:3: 'count' must be an integer of at least 1; it is 0");
  EXPECT_EQ(moves_error(with(", source = \"box\"", "")), "x.toml:3: missing key 'source'");
  EXPECT_EQ(moves_error(with("source", "from = 1, source")),
            "x.toml:3: unknown key 'from'; allowed: kind, bytes, seconds, spread_seconds, count, "
            "source");
  EXPECT_EQ(moves_error(std::string(kSmall) + with("1e-06", "2e-06")),
            "x.toml:4: 'copy' of 64 bytes stands in line 3 already; each is given once");
  EXPECT_EQ(said([] { parse("[moves]\nrows = 3"); }),
            "x.toml:2: 'rows' must be a list of tables; it is 3");
  EXPECT_EQ(said([] { parse("[moves]\nrow = []"); }), "x.toml:2: unknown key 'row'; allowed: rows");
}

}  // namespace
}  // namespace strata
