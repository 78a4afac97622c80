#include "tests/sim/search/random_trial.h"

#include <algorithm>
#include <map>
#include <string>

#include "sim/cluster/what_if.h"

namespace strata::testing {
namespace {

// A cluster of that name with its cost models; its network is to be replaced.
Case cluster_case(const std::string& name) {
  static std::map<std::string, Case> loaded;
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

// Of up to four devices.
Case random_cluster(Random& random) {
  const char* const names[] = {"p100-1x2", "p100-2x1", "p100-1x3", "k80-3x1",
                               "p100-1x4", "p100-2x2", "h200-2x2", "k80-4x1",
                               "k80-1x4",  "h200-1x4", "p100-1x1", "star"};
  return cluster_case(names[random() % std::size(names)]);
}

Case larger_cluster(Random& random) {
  const char* const names[] = {"p100-2x3", "p100-2x4", "p100-4x2", "k80-2x4",
                               "p100-4x4", "k80-4x4",  "h200-2x8", "dgx1-p100-2"};
  return cluster_case(names[random() % std::size(names)]);
}

Windows chain_windows(Random& random, const Extents& input) {
  Windows windows;
  for (Dim dim : {Dim::h, Dim::w}) {
    const std::int64_t kernel = pick(random, 1, std::min<std::int64_t>(5, input[dim]));
    windows[dim] = {.kernel = kernel,
                    .stride = pick(random, 1, 2),
                    .pad_begin = kernel / 2,
                    .pad_end = kernel / 2};
  }
  return windows;
}

Op chain_op(Random& random, const Extents& input, std::int64_t channels) {
  switch (pick(random, 0, 9)) {
    case 0:
      return Activation{};
    case 1:
      return Dropout{};
    case 2:
      return BatchNorm{};
    case 3:
      return LayerNorm{1e-3};
    default:
      break;
  }
  if (input[Dim::h] * input[Dim::w] == 1) return FullyConnected{pick(random, 1, 4 * channels)};
  switch (pick(random, 0, 4)) {
    case 0:
      return Pooling{2, PoolMode::max, chain_windows(random, input)};
    case 1:
      return Flatten{};
    case 2:
      return LocalResponseNorm{3};
    default:
      return Convolution{2, pick(random, 1, channels), chain_windows(random, input)};
  }
}

Graph random_chain(Random& random) {
  GraphBuilder builder("chain", pick(random, 1, 48));
  const std::int64_t channels = random() % 2 == 0 ? 8 : 200, size = pick(random, 2, 20);
  const Extents image = {{1, pick(random, 1, 8), 1, size, pick(random, 2, 20)}};
  LayerId last = builder.add("data", Input{image}, {});
  const Convolution first{2, pick(random, 1, channels), chain_windows(random, image)};
  last = builder.add("first", first, {last});
  const std::int64_t layers = pick(random, 1, 6);
  for (std::int64_t i = 0; i < layers; ++i) {
    const Op op = chain_op(random, builder.output(last), channels);
    last = builder.add("layer" + std::to_string(i), op, {last});
  }
  if (random() % 4 == 0) return std::move(builder).build();
  last = builder.add("flat", Flatten{}, {last});
  builder.add("loss", SoftmaxCrossEntropy{}, {last});
  return std::move(builder).build();
}

void change_links(Random& random, Cluster& cluster) {
  for (const std::string kind : {"inter", "intra"}) {
    const auto is_it = [&](const Link& link) { return link.kind == kind; };
    const std::span<const Link> links = cluster.links();
    if (std::none_of(links.begin(), links.end(), is_it)) continue;
    const char* faster = random() % 2 == 0 ? "0.1x" : "3x";
    if (random() % 3 == 0) cluster = apply(cluster, "link." + kind + ".bandwidth", faster);
    const char* slower = random() % 2 == 0 ? "0.1x" : "20x";
    if (random() % 4 == 0) cluster = apply(cluster, "link." + kind + ".latency", slower);
  }
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

Trial harder_trial(Random& random, double most_strategies) {
  Trial trial = random_trial(random, most_strategies);
  if (random() % 4 == 0) slow_one_down(random, trial.input.cluster);
  if (random() % 4 == 0) trial.input.runtime.overlap = Overlap::none;
  return trial;
}

Trial chain_trial(Random& random, std::size_t most_devices) {
  Trial trial{
      most_devices > 4 && random() % 2 == 0 ? larger_cluster(random) : random_cluster(random), {}};
  Case& input = trial.input;
  input.graph = random_chain(random);
  const Bytes buckets[] = {{}, kUsualBucket, {pick(random, 1, 200) * 1000}};
  input.sync = {static_cast<SyncAlgorithm>(random() % kSyncNames.size()), buckets[random() % 3]};
  if (random() % 4 == 0) slow_one_down(random, input.cluster);
  if (random() % 4 == 0) input.runtime.overlap = Overlap::none;
  change_links(random, input.cluster);
  trial.options = {static_cast<DegreeSet>(random() % 3), random() % 2 == 0, random() % 2 == 0,
                   static_cast<ReductionCuts>(random() % 3)};
  if (input.cluster.device_count() > 4) trial.options.degrees = DegreeSet::pow2;
  return trial;
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
