// Predicts the public figures of one device kind for as many profiles as are named on standard
// input, a file a line: answers each with a line of throughputs, in the order of --list. What
// scripts/fit-profile asks while it fits.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "tests/sim/case/public_figures.h"

namespace {

using namespace strata;

std::vector<PublicFigure> figures_of(const std::string& kind) {
  std::vector<PublicFigure> figures;
  for (const PublicFigure& figure : public_figures()) {
    if (figure.kind == kind) figures.push_back(figure);
  }
  return figures;
}

int list(const std::string& kind) {
  for (const PublicFigure& figure : figures_of(kind)) {
    fmt::print("{} {} {}\n", figure.model, figure.batch, figure.throughput);
  }
  return 0;
}

int answer(const std::string& kind) {
  std::vector<Case> cases;
  for (const PublicFigure& figure : figures_of(kind)) cases.push_back(public_case(figure));
  for (std::string file; std::getline(std::cin, file);) {
    const std::shared_ptr<const CostModel> costs = make_cost_model(load_profile(file));
    std::string line;
    for (Case& input : cases) {
      input.models = {costs};
      line += fmt::format("{} ", predicted_throughput(input));
    }
    std::cout << line << std::endl;  // flushed: the asker waits
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 1) return answer(words[0]);
    if (words.size() == 2 && words[1] == "--list") return list(words[0]);
    std::cerr << "usage: public_figures KIND [--list]\n";
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
  }
  return 2;
}
