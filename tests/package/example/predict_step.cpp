// Builds a small network layer by layer, cuts it by sample over four P100s, and prints the seconds
// of a training step; then the same of a network that comes with Strata.

#include <cstdio>

#include "sim/case/predict.h"
#include "sim/cluster/presets.h"
#include "sim/graph/graph.h"
#include "sim/graph/zoo.h"
#include "sim/strategy/strategy.h"

namespace {

using namespace strata;

Graph small_network(std::int64_t batch) {
  GraphBuilder net("small", batch);
  const LayerId image = net.add("image", Input{{1, 3, 1, 32, 32}}, {});
  const Window same{3, 1, 1, 1, 1};
  const LayerId filtered =
      net.add("conv", Convolution{2, 64, {Window{}, same, same}, 1, true}, {image});
  const LayerId active = net.add("relu", Activation{}, {filtered});
  const LayerId classes = net.add("fc", FullyConnected{10, true}, {active});
  net.add("loss", SoftmaxCrossEntropy{}, {classes});
  return std::move(net).build();
}

double step_seconds(Graph graph, const Cluster& cluster) {
  const Case input{std::move(graph),
                   cluster,
                   {SyncAlgorithm::ring, kUsualBucket},
                   DType::fp32,
                   load_cost_models(cluster, {})};
  const int devices = static_cast<int>(cluster.device_count());
  return predict(input, data_parallel(input.graph, devices)).step_seconds().value;
}

}  // namespace

int main() {
  const Cluster cluster = preset_cluster("p100-1x4");
  std::printf("small %.17g\n", step_seconds(small_network(128), cluster));
  std::printf("lenet5 %.17g\n", step_seconds(build_zoo("lenet5", 128), cluster));
}
