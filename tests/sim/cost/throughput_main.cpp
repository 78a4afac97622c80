// Predicts the public figures of one device kind for as many profiles as are named on standard
// input, a file a line: answers each with a line of throughputs, in the order of --list. What
// scripts/fit-profile asks while it fits.

#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/zoo.h"
#include "tests/sim/cost/public_figures.h"

namespace {

using namespace strata;

struct Case {
  PublicFigure figure;
  Graph graph;
};

std::vector<Case> cases_of(const std::string& kind) {
  std::vector<Case> cases;
  for (const PublicFigure& figure : public_figures()) {
    if (figure.kind == kind) cases.push_back({figure, build_zoo(figure.model, figure.batch)});
  }
  return cases;
}

int list(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    fmt::print("{} {} {}\n", c.figure.model, c.figure.batch, c.figure.throughput);
  }
  return 0;
}

int answer(const std::vector<Case>& cases) {
  for (std::string file; std::getline(std::cin, file);) {
    const auto costs = make_cost_model(load_profile(file));
    std::string line;
    for (const Case& c : cases) {
      const double seconds = one_device_step(c.graph, *costs).value;
      line += fmt::format("{} ", static_cast<double>(c.figure.batch) / seconds);
    }
    std::cout << line << std::endl;  // flushed: the asker waits
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 1) return answer(cases_of(words[0]));
    if (words.size() == 2 && words[1] == "--list") return list(cases_of(words[0]));
    std::cerr << "usage: public_figures KIND [--list]\n";
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
  }
  return 2;
}
