// Some of the cases of record_steps, held to tests/golden/record/cases.tsv: those of fixed seeds
// and the listed ones that take little. With STRATA_ACCEPT=1 it writes the record anew, and fails.

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "sim/text/file.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/sim/record/listed_cases.h"
#include "tests/sim/record/step_rows.h"

namespace strata {
namespace {

using strata::testing::CaseSize;
using strata::testing::ListedCase;
using strata::testing::RowForm;
using strata::testing::Table;

constexpr std::uint64_t kDrawn = 300;

Table rows_now() {
  const strata::testing::Folder folder("record_steps_test");
  CaseLoader loader;
  Table now = strata::testing::empty_step_rows(RowForm::brief);
  for (std::uint64_t seed = 1; seed <= kDrawn; ++seed) {
    for (auto& row : strata::testing::drawn_rows(loader, seed, folder.path(), RowForm::brief)) {
      now.rows.push_back(std::move(row));
    }
  }
  for (const ListedCase& listed : strata::testing::listed_cases()) {
    if (listed.size != CaseSize::tiny) continue;
    now.rows.push_back(strata::testing::step_row(loader, listed.said.text(), listed.said,
                                                 Simulated::one_of_each_class, RowForm::brief));
  }
  return now;
}

TEST(RecordSteps, PredictionsAreThoseRecorded) {
  const std::string path = source_path("tests/golden/record/cases.tsv");
  const Table now = rows_now();
  const char* accept = std::getenv("STRATA_ACCEPT");
  if (accept != nullptr && std::string_view(accept) == "1") {
    write_file_whole(path, print(now));
    FAIL() << path << " is written anew; nothing was compared";
  }
  const Table before = strata::testing::parse_table(
      read_file(path), strata::testing::empty_step_rows(RowForm::brief));
  const std::string found = strata::testing::step_differences(before, now);
  EXPECT_TRUE(found.empty()) << found;
}

TEST(RecordSteps, NearTimesAreEqualAndOtherNumbersAreNot) {
  Table was = strata::testing::empty_step_rows(RowForm::brief);
  was.rows.emplace_back(was.columns.size(), "1000000");
  const auto differs = [&](const std::string& column, const std::string& cell) {
    Table is = was;
    const auto at = std::find(is.columns.begin(), is.columns.end(), column);
    is.rows[0][static_cast<std::size_t>(at - is.columns.begin())] = cell;
    return !strata::testing::step_differences(was, is).empty();
  };
  EXPECT_FALSE(differs("step", "1000000.0005"));
  EXPECT_TRUE(differs("step", "1000000.005"));
  EXPECT_TRUE(differs("step", "-"));
  EXPECT_TRUE(differs("tasks", "1000001"));
  EXPECT_TRUE(differs("error", "refused"));
  EXPECT_TRUE(differs("case", "another"));
}

}  // namespace
}  // namespace strata
