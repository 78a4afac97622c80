#include "tests/sim/study/random_trial.h"

#include <map>
#include <string>

#include "sim/cluster/what_if.h"

namespace strata::testing {
namespace {

// A cluster of up to four devices with its cost models; its network is to be replaced.
Case random_cluster(Random& random) {
  static std::map<std::string, Case> loaded;
  const char* const names[] = {"p100-1x2", "p100-2x1", "p100-1x3", "k80-3x1",
                               "p100-1x4", "p100-2x2", "h200-2x2", "k80-4x1",
                               "k80-1x4",  "h200-1x4", "p100-1x1", "star"};
  const std::string name = names[random() % std::size(names)];
  auto at = loaded.find(name);
  if (at == loaded.end()) {
    CaseRequest request;
    request.model = "lenet5";
    request.cluster = name == "star" ? "p100-1x4" : name;
    at = loaded.emplace(name, load_case(request)).first;
    if (name == "star") at->second.cluster = star(4);
  }
  return at->second;
}

}  // namespace

double strategies(const SearchSpace& space) {
  double product = 1;
  for (std::size_t v = 0; v < space.size(); ++v) {
    product *= static_cast<double>(space[v].cuts->size());
  }
  return product;
}

// Of a few networks on one cluster the first whose strategies can all be tried.
Trial random_trial(Random& random, double most_strategies) {
  for (;;) {
    Trial trial{random_cluster(random), {}};
    trial.input.graph = random_network(random, pick(random, 3, 8));
    trial.input.sync = static_cast<SyncAlgorithm>(random() % kSyncNames.size());
    trial.options = {static_cast<DegreeSet>(random() % 3), random() % 2 == 0, random() % 2 == 0,
                     static_cast<ReductionCuts>(random() % 3)};
    const SearchSpace space(trial.input.graph, trial.input.cluster, trial.options);
    if (strategies(space) <= most_strategies) return trial;
  }
}

// All choices of a small space, else some at random.
std::vector<Choices> some_choices(const SearchSpace& space, std::size_t most, Random& random) {
  std::vector<Choices> all;
  if (strategies(space) > static_cast<double>(most)) {
    for (std::size_t i = 0; i < most; ++i) {
      Choices& choices = all.emplace_back();
      for (std::size_t v = 0; v < space.size(); ++v) {
        choices.push_back(static_cast<std::uint32_t>(random() % space[v].cuts->size()));
      }
    }
    return all;
  }
  for (Choices choices(space.size(), 0);;) {
    all.push_back(choices);
    std::size_t v = space.size();
    while (v > 0 && ++choices[v - 1] == space[v - 1].cuts->size()) choices[--v] = 0;
    if (v == 0) return all;
  }
}

void slow_one_down(Random& random, Cluster& cluster) {
  const std::string& name = cluster[DeviceId(random() % cluster.device_count())].name;
  cluster = apply(cluster, "device." + name + ".speed", "0.5");
}

}  // namespace strata::testing
