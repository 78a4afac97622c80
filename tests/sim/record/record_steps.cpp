// Predictions of many cases, a line for each: what a change that should leave them all as they are
// is compared by.
//   record_steps drawn FIRST COUNT   cases drawn as the metamorphic tests do it, by seed
//   record_steps listed              networks under strategies and settings of all kinds

#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/case/case_loader.h"
#include "tests/folder.h"
#include "tests/sim/record/listed_cases.h"
#include "tests/sim/record/step_rows.h"

namespace {

using namespace strata;
using namespace strata::testing;

void print_row(const std::vector<std::string>& row) {
  fmt::print("{}\n", fmt::join(row, "\t"));
  std::fflush(stdout);
}

void record_drawn(std::uint64_t first, std::uint64_t count) {
  const Folder folder("record_steps");
  CaseLoader loader;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    for (const auto& row : drawn_rows(loader, seed, folder.path(), RowForm::exact)) print_row(row);
  }
}

void record_listed() {
  CaseLoader loader;
  for (const ListedCase& listed : listed_cases()) {
    for (const Simulated devices : {Simulated::one_of_each_class, Simulated::all_devices}) {
      if (devices == Simulated::all_devices && listed.size == CaseSize::large) continue;
      print_row(step_row(loader, listed.said.text(), listed.said, devices, RowForm::exact));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view sort = argc > 1 ? argv[1] : "";
  const bool drawn = sort == "drawn" && argc == 4, listed = sort == "listed" && argc == 2;
  if (!drawn && !listed) {
    fmt::print(stderr, "usage: record_steps drawn FIRST COUNT | record_steps listed\n");
    return 2;
  }
  print_row(empty_step_rows(RowForm::exact).columns);
  if (drawn) record_drawn(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
  if (listed) record_listed();
  return 0;
}
