// Rows of a store as columns, filters over them, and charts of them as values.

#include "gui/models/sweep/result_set.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "gui/models/sweep/result_chart.h"
#include "gui/models/sweep/result_filter.h"
#include "gui/models/sweep/result_table.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ResultColumn numbers(const std::string& name, std::vector<double> values, bool setting = false) {
  ResultColumn column;
  column.name = name;
  column.numeric = true;
  column.setting = setting;
  column.values = std::move(values);
  return column;
}

ResultColumn words(const std::string& name, std::vector<std::string> words,
                   std::vector<double> places) {
  ResultColumn column;
  column.name = name;
  column.setting = true;
  column.words = std::move(words);
  column.values = std::move(places);
  return column;
}

// Two strategies on 1, 2 and 4 devices; one of them has not been answered.
//   row       0     1     2     3     4     5
//   strategy  data  data  data  owt   owt   owt
//   devices   1     2     4     1     2     4
//   step      8     5     4     8     4     -
//   memory    10    6     5     10    7     4
ResultSet six_rows() {
  const double none = std::nan("");
  std::vector<ResultColumn> columns;
  columns.push_back(words("strategy", {"data", "owt"}, {0, 0, 0, 1, 1, 1}));
  columns.push_back(numbers("devices", {1, 2, 4, 1, 2, 4}, true));
  columns.push_back(numbers("step_seconds", {8, 5, 4, 8, 4, none}));
  columns[2].quantity = Quantity::seconds;
  columns.push_back(numbers("peak_memory_bytes", {10, 6, 5, 10, 7, 4}));
  return {std::move(columns), {11, 12, 13, 14, 15, 16}};
}
std::vector<std::uint32_t> all_rows(const ResultSet& results) {
  return passing(results, {});
}

TEST(Measures, HaveANumberAndAUnit) {
  EXPECT_EQ(measure_of("16")->value, 16);
  EXPECT_EQ(measure_of("12.5 GB/s")->value, 12.5e9);
  EXPECT_EQ(measure_of("12.5 GB/s")->quantity, Quantity::rate);
  EXPECT_EQ(measure_of("0.5x")->quantity, Quantity::factor);
  EXPECT_EQ(measure_of("20 us")->value, 20e-6);
  EXPECT_EQ(measure_of("8 GiB")->quantity, Quantity::bytes);
  EXPECT_FALSE(measure_of("data"));
  EXPECT_FALSE(measure_of("4 apples"));
  EXPECT_FALSE(measure_of(""));
}

TEST(PlainNames, HaveNoUnit) {
  EXPECT_EQ(plain_name(numbers("peak_memory_bytes", {})), "peak memory");
  EXPECT_EQ(plain_name(numbers("step_seconds", {})), "step");
  EXPECT_EQ(plain_name(numbers("link.inter.bandwidth", {})), "link.inter.bandwidth");
}

TEST(NaturalOrder, TakesDigitsForNumbers) {
  EXPECT_TRUE(natural_less("p100-2x4", "p100-16x4"));
  EXPECT_FALSE(natural_less("p100-16x4", "p100-2x4"));
  EXPECT_TRUE(natural_less("a", "ab"));
  EXPECT_FALSE(natural_less("a", "a"));
  EXPECT_TRUE(natural_less("1", "a"));
}

// One row of query(): the rest of its columns is NULL.
std::vector<Field> stored(std::int64_t id, const std::string& settings, const std::string& model,
                          double step) {
  const std::vector<StoredColumn>& columns = stored_columns();
  std::vector<Field> row(2 + columns.size());
  row[0] = id;
  row[1] = settings;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == "model") row[2 + i] = model;
    if (columns[i].name == "step_seconds") row[2 + i] = step;
  }
  return row;
}

TEST(ResultBuilder, MakesAColumnOfEachSettingThatIsThere) {
  ResultBuilder builder;
  builder.append(
      {{},
       {stored(3, R"({"model": "vgg16", "set.link.inter.bandwidth": "12.5 GB/s", "steps": "8"})",
               "vgg16", 0.5),
        stored(5, R"({"model": "vgg16", "set.link.inter.bandwidth": "1 GB/s", "layers": "true"})",
               "vgg16", 0.25)}});
  EXPECT_EQ(builder.last_id(), 5);
  const ResultSetPtr rows = builder.build();
  ASSERT_EQ(rows->rows(), 2);
  std::vector<std::string> names;
  for (const ResultColumn& column : rows->columns()) names.push_back(column.name);
  EXPECT_THAT(names, ElementsAre("model", "link.inter.bandwidth", "steps", "step_seconds"));
  EXPECT_EQ((*rows)[1].text(0), "12.5 GB/s");
  EXPECT_EQ((*rows)[1].values[1], 1e9);
  EXPECT_EQ((*rows)[2].text(1), "");
  EXPECT_EQ((*rows)[3].text(0), "500 ms");
  EXPECT_EQ((*rows)[3].exact(1), "0.25");
}

// Names of settings with units of two kinds stay words.
TEST(ResultBuilder, KeepsWordsWhereUnitsDiffer) {
  ResultBuilder builder;
  builder.append({{},
                  {stored(1, R"({"set.link.inter.bandwidth": "2x"})", "a", 1),
                   stored(2, R"({"set.link.inter.bandwidth": "1 GB/s"})", "a", 1)}});
  const ResultSetPtr rows = builder.build();
  const ResultColumn& column = (*rows)[*rows->find("link.inter.bandwidth")];
  EXPECT_FALSE(column.numeric);
  EXPECT_THAT(column.words, ElementsAre("1 GB/s", "2x"));
  EXPECT_EQ(column.text(0), "2x");
}

TEST(ResultFilter, LetsPassWhatHasAllWords) {
  const ResultSet results = six_rows();
  EXPECT_THAT(passing(results, {"", {}}), SizeIs(6));
  EXPECT_THAT(passing(results, {"OW", {}}), ElementsAre(3, 4, 5));
  EXPECT_THAT(passing(results, {"data devices>1", {}}), ElementsAre(1, 2));
  EXPECT_THAT(passing(results, {"step<=4.5s", {}}), ElementsAre(2, 4));
  EXPECT_THAT(passing(results, {"strategy!=data devices=4", {}}), ElementsAre(5));
  EXPECT_THAT(passing(results, {"nothing", {}}), IsEmpty());
}

TEST(ResultFilter, BrushesHoldAllTogether) {
  const ResultSet results = six_rows();
  ResultFilter filter;
  filter.brushes["devices"] = brush_between(results[1], 2.5, 1.5);
  EXPECT_THAT(passing(results, filter), ElementsAre(1, 4));
  filter.brushes["strategy"] = brush_between(results[0], 0.6, 1.4);
  EXPECT_EQ(filter.brushes["strategy"].words, std::vector<std::string>{"owt"});
  EXPECT_THAT(passing(results, filter), ElementsAre(4));
  filter.brushes["no such column"] = {};
  EXPECT_THAT(passing(results, filter), ElementsAre(4));
}

TEST(ResultFilter, SaysWhatIsWrong) {
  const ResultSet results = six_rows();
  EXPECT_EQ(filter_error(results, "owt devices>=2"), "");
  EXPECT_EQ(filter_error(results, "devcies>=2").substr(0, 32), "no column begins with 'devcies';");
  EXPECT_EQ(filter_error(results, "devices<2ab"),
            "devices: '2ab' is no number; allowed: 4, 50ms, 1GB");
}

TEST(ResultFilter, SaysTheSameInSql) {
  const ResultSet results = six_rows();
  ResultFilter filter{"step<5s", {}};
  EXPECT_EQ(where_clause(results, {}), "");
  filter.brushes["strategy"] = brush_between(results[0], 0, 1);
  EXPECT_EQ(where_clause(results, filter),
            " WHERE strategy IN ('data', 'owt') AND step_seconds < 5");
}

TEST(Series, GoThroughTheMedianOfThoseAtOnePlace) {
  const ResultSet results = six_rows();
  const auto series = series_of(results, all_rows(results), 1, 2, 0);
  ASSERT_EQ(series.size(), 2);
  EXPECT_EQ(series[1].name, "owt");
  EXPECT_EQ(series[1].value, 1);
  EXPECT_THAT(series[1].points, ElementsAre(ChartPoint{1, 8, 3}, ChartPoint{2, 4, 4}));
  const auto together = series_of(results, all_rows(results), 1, 2, std::nullopt);
  ASSERT_EQ(together.size(), 1);
  // At 1: 8 and 8; at 2: 4 and 5, of which the lower is the median; at 4: 4.
  EXPECT_THAT(together[0].line,
              ElementsAre(ChartPoint{1, 8, 0}, ChartPoint{2, 4, 4}, ChartPoint{4, 4, 2}));
}

// 10^5 rows: 99,900 crowd around (1, 1), 100 lie alone on the way to (1000, 0.001).
ResultSet a_crowd() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> near(1, 1.4);
  std::vector<double> x, y;
  for (int i = 0; i < 99'900; ++i) x.push_back(near(random)), y.push_back(near(random));
  for (int i = 1; i <= 100; ++i) x.push_back(10.0 * i), y.push_back(0.1 / i);
  std::vector<ResultColumn> columns;
  columns.push_back(numbers("step_seconds", std::move(x)));
  columns.push_back(numbers("peak_memory_bytes", std::move(y)));
  return {std::move(columns), std::vector<std::int64_t>(100'000)};
}

TEST(Series, KeepTheirShapeWhereTheyAreThinnedOut) {
  const ResultSet results = a_crowd();
  const auto rows = all_rows(results);
  const auto series = series_of(results, rows, 0, 1, std::nullopt, 2000);
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_LE(series[0].points.size(), 2000);
  EXPECT_GE(series[0].points.size(), 300);
  // Both logarithmic sides have about a third of the picture for each decade: those that lie alone
  // in the first decade and a half are in cells of their own.
  for (std::uint32_t row = 99'900; row < 99'930; ++row) {
    EXPECT_TRUE(std::any_of(series[0].points.begin(), series[0].points.end(),
                            [&](const ChartPoint& point) { return point.row == row; }))
        << row;
  }
}

TEST(Series, NeverLoseTheFront) {
  const ResultSet results = a_crowd();
  const auto rows = all_rows(results);
  const auto front = pareto_front(results, rows, 0, 1);
  ASSERT_GE(front.size(), 100);
  std::vector<std::uint32_t> drawn;
  for (const PointSeries& one : series_of(results, rows, 0, 1, std::nullopt, 50, front)) {
    for (const ChartPoint& point : one.points) drawn.push_back(point.row);
  }
  EXPECT_THAT(drawn, ::testing::IsSupersetOf(front));
  EXPECT_LE(drawn.size(), 50 + front.size());
}

TEST(Thinning, KeepsTheExtremesOfEveryStrip) {
  std::vector<ChartPoint> points;
  for (std::uint32_t i = 0; i < 100000; ++i) points.push_back({i * 1.0, std::sin(i * 0.01), i});
  points[77777].y = 50;
  const auto kept = thinned(points, 1000);
  EXPECT_LE(kept.size(), 1000);
  EXPECT_GE(kept.size(), 900);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(),
                             [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; }));
  EXPECT_EQ(std::max_element(kept.begin(), kept.end(),
                             [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; })
                ->row,
            77777);
}

TEST(Pareto, HasNoRowThatAnotherBeats) {
  const ResultSet results = six_rows();
  // (4, 5) of row 2 beats all others: row 5 has no time.
  EXPECT_THAT(pareto_front(results, all_rows(results), 2, 3), ElementsAre(2));
}

TEST(Pareto, IsWhatComparingEveryPairSays) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> digit(0, 9);
    std::vector<double> time, rate;
    for (int i = 0; i < 60; ++i) time.push_back(digit(random)), rate.push_back(digit(random));
    const ResultSet results({numbers("step_seconds", time), numbers("throughput", rate)},
                            std::vector<std::int64_t>(60));
    // More throughput is better.
    const auto beats = [&](std::size_t a, std::size_t b) {
      const bool as_good = time[a] <= time[b] && rate[a] >= rate[b];
      const bool better = time[a] < time[b] || rate[a] > rate[b];
      return as_good && (better || a < b);
    };
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 60; ++i) {
      bool beaten = false;
      for (std::uint32_t j = 0; j < 60; ++j) beaten = beaten || (j != i && beats(j, i));
      if (!beaten) expected.push_back(i);
    }
    EXPECT_THAT(pareto_front(results, all_rows(results), 0, 1),
                ::testing::UnorderedElementsAreArray(expected));
  }
}

TEST(HeatMaps, HaveTheMedianOfEachCell) {
  const ResultSet results = six_rows();
  const HeatMap map = heat_map(results, all_rows(results), 1, 0, 2);
  EXPECT_THAT(map.xs, ElementsAre(1, 2, 4));
  EXPECT_THAT(map.ys, ElementsAre(0, 1));
  EXPECT_EQ(map.at(1, 0).value, 5);
  EXPECT_EQ(map.at(1, 1).row, 4);
  EXPECT_EQ(map.at(2, 1).count, 0);
  EXPECT_EQ(map.low, 4);
  EXPECT_EQ(map.high, 8);
  EXPECT_TRUE(map.whole);
  EXPECT_FALSE(heat_map(results, all_rows(results), 1, 0, 2, 2).whole);
}

TEST(ParallelAxes, DrawEqualRowsOnce) {
  const ResultSet results = six_rows();
  const auto drawn = strokes(results, all_rows(results), 0, 1, std::nullopt, 100);
  EXPECT_THAT(drawn, SizeIs(6));
  const auto times = strokes(results, all_rows(results), 2, 3, std::nullopt, 100);
  ASSERT_THAT(times, SizeIs(4));  // rows 0 and 3 are equal, row 5 has no time
  EXPECT_EQ(times.back().count, 2);
  EXPECT_THAT(strokes(results, all_rows(results), 0, 1, std::nullopt, 2), SizeIs(2));
}

TEST(Strategies, HaveOneColourWhateverElseIsThere) {
  const ResultColumn few = words("strategy", {"mine.json", "optimal", "owt"}, {0, 1, 2});
  EXPECT_EQ(few.kind_of(1), 3);  // data, model, owt, optimal, eq1
  EXPECT_EQ(few.kind_of(2), 2);
  EXPECT_EQ(few.kind_of(0), 5);
  const ResultSet models({words("model", {"alexnet", "vgg16"}, {1, 0})}, {1, 2});
  EXPECT_EQ(models[0].kind_of(1), 1);
}

// Per strategy and number of devices there is one row; per strategy alone there are three.
TEST(MixedSettings, AreThoseThatAMedianPutsTogether) {
  const ResultSet results = six_rows();
  EXPECT_THAT(mixed_settings(results, all_rows(results), 1, 0), IsEmpty());
  EXPECT_THAT(mixed_settings(results, all_rows(results), 1, std::nullopt), ElementsAre(0));
  EXPECT_THAT(mixed_settings(results, all_rows(results), 0, std::nullopt), ElementsAre(1));
}

TEST(UsualColumns, ShowTimesOverTheSettingThatVaries) {
  const ResultSet results = six_rows();
  const auto chosen = usual_columns(results);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(results[chosen->x].name, "devices");
  EXPECT_EQ(results[chosen->y].name, "step_seconds");
  EXPECT_EQ(chosen->series, results.find("strategy"));
  EXPECT_THAT(usual_axes(results), ElementsAre(0, 1, 2, 3));
}

// `columns` and a time.
std::string usual_x_of(std::vector<ResultColumn> columns) {
  columns.push_back(numbers("step_seconds", {1, 2, 3, 4}));
  const ResultSet results(std::move(columns), {1, 2, 3, 4});
  return results[usual_columns(results)->x].name;
}

TEST(UsualColumns, HaveForXWhatAPersonWouldChoose) {
  const ResultColumn jitter = numbers("jitter", {1, 2, 3, 4}, true);
  const ResultColumn batch = numbers("batch", {16, 32, 64, 128}, true);
  const ResultColumn devices = numbers("devices", {1, 1, 2, 2}, true);
  const ResultColumn speed = numbers("device.gpu15.speed", {0.5, 1, 0.5, 1}, true);
  const ResultColumn cluster = words("cluster", {"a", "b"}, {0, 0, 1, 1});
  const ResultColumn strategy = words("strategy", {"data", "owt"}, {0, 1, 0, 1});
  EXPECT_EQ(usual_x_of({cluster, devices, batch, jitter, speed}), "devices");
  EXPECT_EQ(usual_x_of({cluster, batch, jitter, speed}), "device.gpu15.speed");
  EXPECT_EQ(usual_x_of({cluster, strategy, batch, jitter}), "batch");
  EXPECT_EQ(usual_x_of({strategy, cluster, jitter}), "cluster");
  EXPECT_EQ(usual_x_of({strategy, jitter}), "strategy");
}

TEST(UsualAxes, HaveRepetitionsLast) {
  const ResultSet results({numbers("jitter", {1, 2}, true), numbers("batch", {16, 32}, true),
                           numbers("step_seconds", {1, 2}), numbers("wall_seconds", {1, 2})},
                          {1, 2});
  EXPECT_THAT(usual_axes(results), ElementsAre(1, 2, 0));
  EXPECT_THAT(usual_axes(results, 2), ElementsAre(1, 2));
}

}  // namespace
}  // namespace strata::gui
