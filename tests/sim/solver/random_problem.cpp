#include "random_problem.h"

#include <algorithm>
#include <tuple>

namespace strata {
namespace {

constexpr double kQuantum = 0x1p-40;

int uniform(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

bool happens(std::mt19937& random, double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

double cost(std::mt19937& random, int largest) {
  return uniform(random, 0, largest) * 0x1p-10;
}

CostTables::Vector random_vector(std::mt19937& random, std::size_t choices, int largest) {
  std::vector<double> seconds(choices);
  for (double& entry : seconds) entry = cost(random, largest);
  return std::make_shared<const std::vector<double>>(std::move(seconds));
}

CostTables::Edge random_edge(std::mt19937& random, const CostTables& tables, std::uint32_t from,
                             std::uint32_t to, const ProblemShape& shape) {
  CostTable table{static_cast<std::uint32_t>(tables.variables[from]->size()),
                  static_cast<std::uint32_t>(tables.variables[to]->size()),
                  {}};
  table.seconds.resize(std::size_t{table.rows} * table.columns);
  for (double& entry : table.seconds) {
    entry = happens(random, shape.forbidden) ? kInfinity : cost(random, shape.largest);
  }
  return {from, to, std::make_shared<const CostTable>(std::move(table))};
}

}  // namespace

CostTables random_problem(std::mt19937& random, const ProblemShape& shape) {
  CostTables tables;
  tables.quantum = kQuantum;
  for (std::size_t v = 0; v < shape.variables; ++v) {
    const auto choices = uniform(random, 1, static_cast<int>(shape.most_choices));
    tables.variables.push_back(
        random_vector(random, static_cast<std::size_t>(choices), shape.largest));
  }
  for (std::uint32_t b = 1; b < shape.variables; ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
      if (b != a + 1 && !happens(random, shape.density)) continue;
      tables.edges.push_back(random_edge(random, tables, a, b, shape));
      if (!shape.parallel_edges || !happens(random, 0.2)) continue;
      tables.edges.push_back(random_edge(random, tables, b, a, shape));
    }
  }
  return tables;
}

ProblemShape random_shape(std::mt19937& random) {
  ProblemShape shape;
  shape.variables = static_cast<std::size_t>(uniform(random, 1, 7));
  shape.most_choices = static_cast<std::size_t>(uniform(random, 1, 5));
  const double densities[] = {0, 0.2, 0.5, 1};
  shape.density = densities[uniform(random, 0, 3)];
  const int largest[] = {0, 1, 3, 50, 100000};
  shape.largest = largest[uniform(random, 0, 4)];
  shape.forbidden = happens(random, 0.3) ? 0.2 : 0;
  return shape;
}

std::vector<Solution> all_strategies(const CostTables& tables) {
  std::vector<Solution> all;
  Choices choices(tables.variables.size(), 0);
  while (true) {
    const double seconds = tables.seconds(choices);
    if (seconds < kInfinity) all.push_back({choices, seconds, seconds});
    std::size_t v = 0;
    while (v < choices.size() && ++choices[v] == tables.variables[v]->size()) choices[v++] = 0;
    if (v == choices.size()) break;
  }
  std::sort(all.begin(), all.end(), [](const Solution& a, const Solution& b) {
    return std::tie(a.seconds, a.choices) < std::tie(b.seconds, b.choices);
  });
  return all;
}

double exhaustive_optimum(const CostTables& tables) {
  const std::vector<Solution> all = all_strategies(tables);
  return all.empty() ? kInfinity : all.front().seconds;
}

CostTables dense_block(std::mt19937& random, std::size_t layers, std::size_t choices) {
  CostTables tables;
  tables.quantum = kQuantum;
  const auto add_variable = [&](int least, int most) {
    std::vector<double> seconds(choices);
    for (double& entry : seconds) entry = uniform(random, least, most) * 0x1p-16;
    tables.variables.push_back(std::make_shared<const std::vector<double>>(std::move(seconds)));
    return static_cast<std::uint32_t>(tables.variables.size() - 1);
  };
  const auto add_edge = [&](std::uint32_t from, std::uint32_t to, int weight) {
    const auto side = static_cast<std::uint32_t>(choices);
    CostTable table{side, side, std::vector<double>(choices * choices)};
    for (std::uint32_t r = 0; r < side; ++r) {
      for (std::uint32_t c = 0; c < side; ++c) {
        const int unlike = r == c ? 0 : 1 + static_cast<int>((r ^ c) % 7);
        table.seconds[std::size_t{r} * side + c] =
            unlike * weight * (16 + uniform(random, 0, 4)) * 0x1p-20;
      }
    }
    tables.edges.push_back({from, to, std::make_shared<const CostTable>(std::move(table))});
  };
  std::vector<std::uint32_t> features = {add_variable(50, 400)};
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::uint32_t narrow = add_variable(100, 1000);
    const std::uint32_t wide = add_variable(100, 1000);
    add_edge(layer == 0 ? features[0] : narrow - 1, narrow, 40);
    add_edge(narrow, wide, 40);
    features.push_back(wide);
    const std::uint32_t concat = add_variable(0, 10);
    for (const std::uint32_t feature : features) add_edge(feature, concat, 10);
  }
  return tables;
}

}  // namespace strata
