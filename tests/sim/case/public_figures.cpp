#include "tests/sim/case/public_figures.h"

#include <string>

#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"

namespace strata {

std::span<const PublicFigure> public_figures() {
  static constexpr PublicFigure kFigures[] = {
      {"p100", "inception_v3", 64, 142}, {"p100", "inception_v3", 32, 128},
      {"p100", "resnet50", 64, 238},     {"p100", "resnet50", 32, 210},
      {"p100", "resnet152", 64, 95.6},   {"p100", "resnet152", 32, 85.3},
      {"p100", "vgg16", 64, 132},        {"p100", "vgg16", 32, 124},
      {"p100", "alexnet", 512, 2987},    {"k80", "inception_v3", 64, 30.5},
      {"k80", "inception_v3", 32, 29.3}, {"k80", "resnet50", 64, 56.8},
      {"k80", "resnet50", 32, 53.9},     {"k80", "resnet152", 32, 20.8},
      {"k80", "vgg16", 32, 30.3},        {"k80", "alexnet", 512, 656},
  };
  return kFigures;
}

Case public_case(const PublicFigure& figure) {
  CaseRequest request;
  request.model = figure.model;
  request.cluster = std::string(figure.kind) + "-1x1";
  request.training.batch = figure.batch;
  return load_case(request);
}

double predicted_throughput(const Case& input) {
  const Strategy strategy = load_strategy("data", input);
  return static_cast<double>(input.graph.batch()) / predict(input, strategy).step_seconds().value;
}

}  // namespace strata
