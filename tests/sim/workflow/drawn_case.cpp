#include "tests/sim/workflow/drawn_case.h"

#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "sim/cluster/cluster_file.h"
#include "sim/graph/model_file.h"
#include "sim/text/file.h"

namespace strata::testing {
namespace {

constexpr std::array<const char*, 6> kKinds = {"p100", "k80", "v100", "a100", "h200", "p100-pcie"};
constexpr std::array<const char*, 4> kSpeeds = {"speed = 0.25\n", "speed = 0.5\n", "speed = 0.9\n",
                                                "speed = 2\n"};

// Evenly on a logarithmic scale.
double drawn_size(Random& random, double least, double most) {
  const double share = static_cast<double>(pick(random, 0, 1000)) / 1000;
  return least * std::pow(most / least, share);
}

class ClusterText {
 public:
  explicit ClusterText(Random& random)
      : random_(random), kind_(kKinds[random() % kKinds.size()]), mixed_(pick(random, 0, 3) == 0) {}

  std::string draw() {
    const std::int64_t hosts = pick(random_, 1, 3), most = hosts == 1 ? 6 : 3;
    for (std::int64_t host = 0; host < hosts; ++host) add_host(host, pick(random_, 1, most));
    if (hosts > 1) add_switch("core");
    for (std::int64_t host = 0; hosts > 1 && host < hosts; ++host) {
      add_link(fmt::format("s{}", host), "core", "inter");
    }
    if (devices_ > 1 && pick(random_, 0, 2) == 0) add_link("d0", "d1", "side");
    return text_;
  }

 private:
  // On a switch, or one behind another: then all but the last pass on what is for others.
  void add_host(std::int64_t host, std::int64_t count) {
    const bool chain = pick(random_, 0, 3) == 0;
    const std::string hub = fmt::format("s{}", host);
    add_switch(hub);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string before = chain && i > 0 ? fmt::format("d{}", devices_ - 1) : hub;
      add_device(host);
      add_link(fmt::format("d{}", devices_ - 1), before, "intra");
    }
  }

  void add_switch(const std::string& name) {
    text_ += fmt::format("[[switch]]\nname = \"{}\"\n", name);
  }

  void add_device(std::int64_t host) {
    const char* kind = mixed_ ? kKinds[random_() % kKinds.size()] : kind_;
    text_ += fmt::format("[[device]]\nname = \"d{}\"\nkind = \"{}\"\nhost = \"h{}\"\n", devices_++,
                         kind, host);
    if (pick(random_, 0, 4) == 0) text_ += kSpeeds[random_() % kSpeeds.size()];
    if (pick(random_, 0, 4) == 0) text_ += "copy_engine = false\n";
    if (pick(random_, 0, 4) == 0) text_ += "assembles = true\n";
  }

  void add_link(const std::string& from, const std::string& to, const char* kind) {
    text_ += fmt::format(
        "[[link]]\nfrom = \"{}\"\nto = \"{}\"\nkind = \"{}\"\nduplex = true\nbandwidth = \"{:.3e} "
        "B/s\"\nlatency = \"{:.3e} s\"\n",
        from, to, kind, drawn_size(random_, 1e6, 1e12),
        pick(random_, 0, 2) == 0 ? 0.0 : drawn_size(random_, 1e-8, 1e-3));
  }

  Random& random_;
  const char* kind_;
  bool mixed_;
  std::int64_t devices_ = 0;
  std::string text_ = "name = \"drawn\"\n";
};

Graph drawn_network(Random& random) {
  switch (pick(random, 0, 3)) {
    case 0:
      return random_graph(random);
    case 1:
      return random_transformer(random);
    default:
      return random_network(random, pick(random, 3, 9));
  }
}

GradientSync drawn_sync(Random& random) {
  const Bytes buckets[] = {{}, kUsualBucket, {pick(random, 1, 2000) * 100}};
  GradientSync sync{static_cast<SyncAlgorithm>(random() % kSyncNames.size()),
                    buckets[random() % std::size(buckets)]};
  if (sync.algorithm != SyncAlgorithm::ps && pick(random, 0, 4) == 0) {
    sync.zero = static_cast<Zero>(pick(random, 1, 3));
  }
  return sync;
}

}  // namespace

std::string drawn_cluster(Random& random) {
  return ClusterText(random).draw();
}

std::pair<std::string, std::string> drawn_what_if(Random& random) {
  const std::string factor = fmt::format("{:.3g}x", drawn_size(random, 0.05, 20));
  const auto either = [&](const char* one, const char* other) {
    return random() % 2 == 0 ? one : other;
  };
  const std::string time = fmt::format("{:.3g} s", drawn_size(random, 1e-7, 1e-3));
  switch (pick(random, 0, 15)) {
    case 0:
      return {"link.*.bandwidth", factor};
    case 1:
      return {"link.intra.bandwidth", fmt::format("{:.3g} GB/s", drawn_size(random, 1e-3, 1e3))};
    case 2:
      return {"link.*.latency", factor};
    case 3:
      return {"device.d0.speed", factor};
    case 4:
      return {"device.last:1.speed", fmt::format("{:.3g}", drawn_size(random, 0.1, 10))};
    case 5:
      return {"layer.*.speed", factor};
    case 6:
      return {"overlap", either("on", "off")};
    case 7:
      return {"gather", either("once", "again")};
    case 8:
      return {"attention", either("fused", "unfused")};
    case 9:
      return {"products", either("merged", "apart")};
    case 10:
      return {"sums", either("in-parts", "all-reduced")};
    case 11:
      return {"layout", either("nhwc", "nchw")};
    case 12:
      return {either("launch.forward", "launch.backward"), time};
    case 13:
      return {either("launch.communication", "launch.lockstep"), time};
    case 14:
      return {either("launch.stages", "launch.passes"), either("wait", "ahead")};
    default:
      return {"communication.share",
              fmt::format("{:.2g}", 0.01 * static_cast<double>(pick(random, 0, 90)))};
  }
}

DrawnCase drawn_case(Random& random, const std::string& folder) {
  const Graph graph = drawn_network(random);
  const std::string cluster = drawn_cluster(random);
  write_file_whole(folder + "/net.toml", print_model(graph));
  write_file_whole(folder + "/cluster.toml", cluster);
  CaseRequest request;
  request.model = folder + "/net.toml";
  request.cluster = folder + "/cluster.toml";
  request.batch = graph.batch();
  request.sync = drawn_sync(random);
  request.dtype = static_cast<DType>(random() % kDTypeNames.size());
  request.optimizer = static_cast<Optimizer>(random() % 3);
  request.recompute = pick(random, 0, 3) == 0 ? Recompute::full : Recompute::none;
  const std::size_t devices = parse_cluster(cluster, "cluster.toml").device_count();
  return {std::move(request), random_strategy(random, graph, devices)};
}

}  // namespace strata::testing
