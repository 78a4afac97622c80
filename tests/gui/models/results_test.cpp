// A store's rows in a table, read in the background, filtered and sorted; sweeps that are started,
// watched and stopped; rows that become documents. On sweeps of LeNet-5 that take moments.

#include "gui/models/sweep/results.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>

#include "gui/models/scene.h"
#include "gui/models/sweep/result_file.h"
#include "gui/models/sweep/result_set.h"
#include "gui/models/sweep/result_table.h"
#include "gui/models/sweep/stored_case.h"
#include "gui/models/sweep/sweep_run.h"
#include "sim/base/cancel.h"
#include "sim/base/error.h"
#include "tests/gui/models/event_loop.h"
#include "tests/gui/models/no_devices.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::wait_until;
namespace fs = std::filesystem;

constexpr const char* kScenario = R"(
name = "small"
[[sweep]]
model = "lenet5"
cluster = ["p100-1x2", "p100-1x4"]
strategy = ["data", "owt"]
batch = [16, 64]
[[sweep]]
name = "search"
job = "solve"
model = "lenet5"
cluster = "p100-1x2"
)";

class ResultsTest : public ::testing::Test {
 protected:
  ResultsTest() {
    testing::application();
    std::ofstream(folder_ / "small.toml") << kScenario;
    QObject::connect(&file_, &ResultFile::rows_read, &results_, &Results::set_all);
    QObject::connect(&file_, &ResultFile::failed, [this](const QString& what) { error_ = what; });
    QObject::connect(&sweep_, &SweepRun::failed, [this](const QString& what) { error_ = what; });
  }

  void sweep_all() {
    sweep_.open((folder_ / "small.toml").string());
    ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
    sweep_.start();
    ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
    file_.open(sweep_.database());
    ASSERT_TRUE(wait_until([&] { return results_.all()->rows() == sweep_.count().cases; }));
  }
  std::vector<std::string> column_of(const ResultTable& table, const std::string& name) const {
    const auto column = static_cast<int>(*results_.all()->find(name));
    std::vector<std::string> texts;
    for (int row = 0; row < table.rowCount(); ++row) {
      texts.push_back(table.index(row, column).data().toString().toStdString());
    }
    return texts;
  }

  const QTemporaryDir temporary_;  // cases run side by side
  const fs::path folder_ = temporary_.path().toStdString();
  testing::NoDevices runner_;
  Jobs jobs_;
  Results results_;
  ResultFile file_{jobs_};
  SweepRun sweep_{runner_, jobs_};
  QString error_;
};

TEST_F(ResultsTest, ASweepIsCountedStartedAndDone) {
  sweep_.open((folder_ / "small.toml").string());
  EXPECT_EQ(sweep_.state(), SweepRun::State::counting);
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  EXPECT_EQ(sweep_.name(), "small");
  EXPECT_EQ(sweep_.text(), "0 of 9 cases are stored");
  sweep_.start();
  EXPECT_EQ(sweep_.state(), SweepRun::State::running);
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  EXPECT_EQ(sweep_.text(), "9 of 9 cases are stored");
  EXPECT_EQ(error_, "");
  EXPECT_TRUE(fs::exists(folder_ / "small.db"));
}

TEST_F(ResultsTest, AStoppedSweepGoesOn) {
  sweep_.open((folder_ / "small.toml").string());
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  sweep_.start();
  sweep_.stop();
  EXPECT_EQ(sweep_.state(), SweepRun::State::stopping);
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  sweep_.open((folder_ / "small.toml").string());
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  sweep_.start();
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  EXPECT_EQ(sweep_.count().left(), 0);
}

/// A run on devices that goes on until it is called off.
Jobs::Show run_until_stopped(Progress& progress) {
  while (!*progress.cancelled()) std::this_thread::yield();
  throw Cancelled();
}

// The Runner belongs to one job at a time; the run before is not called off for it.
TEST_F(ResultsTest, AScenarioIsCountedWhenTheDevicesAreFree) {
  jobs_.start(&jobs_, kRunnerLane, "run", run_until_stopped, {}, WhenStale::show);
  sweep_.open((folder_ / "small.toml").string());
  ASSERT_EQ(jobs_.running().size(), 1);
  EXPECT_EQ(jobs_.running()[0].what, "run");
  // Called off while it waits, it is not counted for ever.
  jobs_.cancel(kRunnerLane);
  EXPECT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::none; }));
  sweep_.open((folder_ / "small.toml").string());
  EXPECT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
}

TEST_F(ResultsTest, ClosedWhileItsCountWaits) {
  std::atomic<bool> free = false;
  const auto run = [&free](Progress&) -> Jobs::Show {
    while (!free) std::this_thread::yield();
    return {};
  };
  jobs_.start(&jobs_, kRunnerLane, "run", run, {}, WhenStale::show);
  auto closed = std::make_unique<SweepRun>(runner_, jobs_);
  closed->open((folder_ / "small.toml").string());
  closed.reset();
  free = true;
  EXPECT_TRUE(wait_until([&] { return jobs_.idle(); }));
}

TEST_F(ResultsTest, AWrongScenarioIsAnErrorWithItsLine) {
  std::ofstream(folder_ / "wrong.toml") << "[[sweep]]\nmodel = \"lenet6\"\ncluster = \"p100-1x2\"\n"
                                           "strategy = \"data\"\n";
  sweep_.open((folder_ / "wrong.toml").string());
  ASSERT_TRUE(wait_until([&] { return !error_.isEmpty(); }));
  EXPECT_THAT(error_.toStdString(), HasSubstr("wrong.toml:2: "));
  EXPECT_FALSE(fs::exists(folder_ / "wrong.db"));
}

// Rows of one scenario alone, and rows that come while one looks.
TEST_F(ResultsTest, AFileIsReadAsItGrows) {
  sweep_all();
  EXPECT_THAT(file_.scenarios(), ElementsAre("small"));
  std::ofstream(folder_ / "more.toml") << "[[sweep]]\nmodel = \"lenet5\"\ncluster = \"p100-1x2\"\n"
                                          "strategy = \"model\"\n";
  sweep_.open((folder_ / "more.toml").string(), file_.file());
  ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
  sweep_.start();
  ASSERT_TRUE(wait_until([&] { return results_.all()->rows() == 10; }));
  file_.open(file_.file(), "more");
  ASSERT_TRUE(wait_until([&] { return results_.all()->rows() == 1; }));
  EXPECT_EQ(results_.all()->columns().at(0).text(0), "sweep-1");
}

// A reading that is called off has seen nothing: the rest comes with the next look.
TEST_F(ResultsTest, AReadingThatIsStoppedGoesOn) {
  sweep_all();
  // Written long ago: nothing else makes it look again.
  for (const char* suffix : {"", "-wal"}) {
    const fs::path file = file_.file() + suffix;
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    if (fs::exists(file)) fs::last_write_time(file, long_ago);
  }
  file_.open(file_.file());
  jobs_.cancel("results");
  results_.set_all(Results().all());
  EXPECT_TRUE(wait_until([&] { return results_.all()->rows() == 9; }));
}

// Of as many rows as were read, and of more of them.
TEST_F(ResultsTest, AFileInThePlaceOfAnotherIsReadAnew) {
  std::ofstream(folder_ / "other.toml") << "[[sweep]]\nmodel = \"lenet5\"\n"
                                           "cluster = \"p100-1x2\"\nstrategy = \"data\"\n"
                                           "batch = [2, 4, 6, 8, 10, 12, 14, 16, 18]\n";
  std::ofstream(folder_ / "more.toml") << "[[sweep]]\nmodel = \"lenet5\"\n"
                                          "cluster = \"p100-1x2\"\nstrategy = \"owt\"\n"
                                          "batch = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]\n";
  sweep_all();
  const std::string shown = file_.file();
  for (const char* name : {"other", "more"}) {
    sweep_.open((folder_ / (std::string(name) + ".toml")).string());
    ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
    sweep_.start();
    ASSERT_TRUE(wait_until([&] { return sweep_.state() == SweepRun::State::ready; }));
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(shown + suffix);
    fs::rename(sweep_.database(), shown);
    const std::size_t batches = name == std::string("other") ? 9 : 11;
    EXPECT_TRUE(wait_until([&] {
      const auto batch = results_.all()->find("batch");
      return batch && (*results_.all())[*batch].kinds.size() == batches &&
             results_.all()->rows() == batches;
    })) << name;
  }
}

// A row's sweep is looked up by its key: else each row would walk all cases of the scenario.
TEST_F(ResultsTest, ARowIsFoundByItsKey) {
  sweep_all();
  Store store(sweep_.database(), OpenMode::read);
  for (const char* const scenario : {"", "small"}) {
    const QueryResult plan =
        store.query("EXPLAIN QUERY PLAN " + ResultBuilder::query(0, 100, scenario));
    std::string text;
    for (const auto& row : plan.rows) text += std::get<std::string>(row.back()) + "\n";
    EXPECT_THAT(text, HasSubstr("case_by_key (scenario=? AND key=?)")) << scenario;
    EXPECT_THAT(text, Not(HasSubstr("PRIMARY KEY (scenario=?)"))) << scenario;
  }
}

TEST_F(ResultsTest, NoStoreIsAnError) {
  std::ofstream(folder_ / "text.db") << "no database";
  file_.open((folder_ / "text.db").string());
  ASSERT_TRUE(wait_until([&] { return !error_.isEmpty(); }));
  EXPECT_THAT(error_.toStdString(), HasSubstr("is no database of Strata's"));
}

TEST_F(ResultsTest, TheTableFiltersAndSorts) {
  ResultTable table(results_);
  const QAbstractItemModelTester tester(&table);
  sweep_all();
  EXPECT_EQ(table.rowCount(), 9);
  results_.set_text("strategy=data");
  EXPECT_EQ(table.rowCount(), 4);
  const auto batch = static_cast<int>(*results_.all()->find("batch"));
  table.sort(batch, Qt::DescendingOrder);
  EXPECT_THAT(column_of(table, "batch"), ElementsAre("64", "64", "16", "16"));
  results_.set_brush("batch", Brush{10, 20, {}});
  EXPECT_THAT(column_of(table, "batch"), ElementsAre("16", "16"));
  EXPECT_THAT(table.csv().toStdString(), HasSubstr("sweep,job,model,cluster,strategy"));
  table.sort(-1);
  results_.clear_brushes();
  results_.set_text("");
  EXPECT_EQ(table.rowCount(), 9);
}

TEST_F(ResultsTest, TheCurrentRowStaysTheSameCase) {
  sweep_all();
  results_.set_current(4);
  const std::int64_t id = results_.all()->id(4);
  results_.set_all(std::make_shared<const ResultSet>(*results_.all()));
  ASSERT_TRUE(results_.current());
  EXPECT_EQ(results_.all()->id(*results_.current()), id);
}

TEST_F(ResultsTest, ARowIsADocument) {
  sweep_all();
  const ResultSet& all = *results_.all();
  CaseLoader loader;
  for (std::size_t row = 0; row < all.rows(); ++row) {
    const Document document = document_of_row(sweep_.database(), all.id(row));
    EXPECT_EQ(document.input.model, "lenet5");
    EXPECT_EQ(document.input.cluster, all[*all.find("cluster")].text(row));
    const ScenePtr scene = make_scene(document, loader);
    EXPECT_EQ(scene->prediction.step_seconds().value, all[*all.find("step_seconds")].values[row]);
    EXPECT_EQ(document.strategy.label(), all[*all.find("strategy")].text(row));
  }
  EXPECT_THROW(document_of_row(sweep_.database(), 999), InputError);
}

}  // namespace
}  // namespace strata::gui
