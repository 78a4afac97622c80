// The same activities on the same star, simulated by Strata and by SimGrid in one process, one
// after the other: makespans must agree, and the ratio of the CPU times is the result.
//
//   cmake --preset bench && cmake --build --preset bench --target simgrid_compare
//   build/bench/bin/simgrid_compare [LAYERS WIDTH SEED]        (default 100 1000 1)
//   build/bench/bin/simgrid_compare step HOSTS
//
// The first is a layered DAG on 64 hosts; the second a training step of data parallelism on HOSTS
// hosts, with each message of its ring all-reduce.
//
// SimGrid runs its model CM02 (max-min fair sharing, latency first) without cross-traffic and
// without TCP's window limit, and re-solves everything (network/optim:Full; its lazy mode gives
// wrong times when flows start in the instant others end). CM02 shares a link in inverse
// proportion to the routes' latencies, which here are all equal. Exits with 1 if the makespans
// differ by more than one part in a million.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "sim/engine/dependencies.h"
#include "tests/bench/workloads.h"

namespace strata::bench {
namespace {

namespace sg = simgrid::s4u;

constexpr double kFlopsPerSecond = 1e9;

struct Outcome {
  double makespan, build_seconds, run_seconds;
};

// CPU time of this process, which other work on the machine does not change much.
class Watch {
 public:
  double lap() {
    const std::clock_t now = std::clock();
    return static_cast<double>(now - std::exchange(start_, now)) / CLOCKS_PER_SEC;
  }

 private:
  std::clock_t start_ = std::clock();
};

template <class Work>  // LayeredDag or DataParallelStep
Outcome run_strata(const Star& star, const Work& work) {
  Watch watch;
  const Workload workload = to_workload(star, work);
  const double build = watch.lap();
  const ActivityTimes times = simulate(workload);
  return {to_seconds(times.makespan).value, build, watch.lap()};
}

std::vector<sg::Host*> make_platform(const Star& star) {
  sg::NetZone* zone = sg::create_star_zone("star");
  std::vector<sg::Host*> hosts;
  for (std::size_t h = 0; h < star.hosts; ++h) {
    sg::Host* host = zone->create_host("host" + std::to_string(h), kFlopsPerSecond);
    sg::Link* up = zone->create_link("up" + std::to_string(h), star.bandwidth);
    sg::Link* down = zone->create_link("down" + std::to_string(h), star.bandwidth);
    for (sg::Link* link : {up, down}) link->set_latency(star.latency / 2)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    std::vector<sg::LinkInRoute>{sg::LinkInRoute(up)}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr,
                    std::vector<sg::LinkInRoute>{sg::LinkInRoute(down)}, false);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

// Starts each activity when the last of those that it waits for ends. (SimGrid can release
// successors itself, but then walks a list of all that the main program ever created, each time
// that a communication ends: quadratic, and hundreds of times slower than this.)
class SimgridDag {
 public:
  SimgridDag(const std::vector<sg::Host*>& hosts, const LayeredDag& dag)
      : hosts_(hosts), dag_(dag), dependencies_(to_workload(Star{}, dag)) {
    sg::Activity::on_completion_cb([this](const sg::Activity& ended) { release_after(ended); });
    for (std::uint32_t a = 0; a < dependencies_.size(); ++a) {
      if (dependencies_.waiting(a) == 0) start(a);
    }
  }
  bool all_done() const { return done_ == dependencies_.size(); }

 private:
  void start(std::uint32_t a) {
    if (a < dag_.computations.size()) {
      start_execution(a);
    } else {
      start_transfer(a, dag_.flows[a - dag_.computations.size()]);
    }
  }

  void start_execution(std::uint32_t a) {
    const LayeredDag::Computation& c = dag_.computations[a];
    sg::ExecPtr execution = sg::Exec::init();
    execution->set_flops_amount(c.seconds * kFlopsPerSecond)->set_host(hosts_[c.host]);
    running_.emplace(execution.get(), Running{a, execution});
    execution->start();
  }

  void start_transfer(std::uint32_t a, const LayeredDag::Flow& f) {
    sg::CommPtr transfer = sg::Comm::sendto_init(hosts_[dag_.computations[f.from].host],
                                                 hosts_[dag_.computations[f.to].host]);
    transfer->set_payload_size(static_cast<std::uint64_t>(f.bytes));
    running_.emplace(transfer.get(), Running{a, transfer});
    transfer->start();
  }

  void release_after(const sg::Activity& ended) {
    const auto found = running_.find(&ended);
    if (found == running_.end()) return;
    const std::uint32_t a = found->second.activity;
    ended_.push_back(std::move(found->second.held));
    running_.erase(found);
    ++done_;
    for (std::uint32_t later : dependencies_.successors(a)) {
      if (dependencies_.release(later) == 0) start(later);
    }
  }

  struct Running {
    std::uint32_t activity;
    sg::ActivityPtr held;
  };
  const std::vector<sg::Host*>& hosts_;
  const LayeredDag& dag_;
  Dependencies dependencies_;
  std::unordered_map<const sg::Activity*, Running> running_;
  std::vector<sg::ActivityPtr> ended_;  // SimGrid still uses them after it has told of their end
  std::size_t done_ = 0;
};

Outcome run_simgrid(const Star& star, const LayeredDag& dag, sg::Engine& engine) {
  Watch watch;
  const std::vector<sg::Host*> hosts = make_platform(star);
  const SimgridDag simgrid(hosts, dag);
  const double build = watch.lap();
  engine.run();
  if (!simgrid.all_done()) fmt::print("SimGrid did not finish\n");
  return {sg::Engine::get_clock(), build, watch.lap()};
}

// As SimGrid's users write it: a process on each host, and a mailbox for what it receives.
// (Messages that one process starts for all hosts take it two to three times as long on 1,024:
// whenever one ends, it looks through all that are on their way.)
void train(const Star& star, const DataParallelStep& step, std::size_t host) {
  const auto mailbox = [](std::size_t h) { return sg::Mailbox::by_name(std::to_string(h)); };
  sg::Mailbox* const here = mailbox(host);
  sg::Mailbox* const next = mailbox((host + 1) % star.hosts);
  const auto bytes = static_cast<std::uint64_t>(message_bytes(star, step));
  for (const double seconds : {step.forward_seconds, step.backward_seconds}) {
    for (std::size_t layer = 0; layer < step.layers; ++layer) {
      sg::this_actor::execute(seconds * kFlopsPerSecond);
    }
  }
  int gradients = 0;  // a message needs an address
  for (std::size_t round = 0; round < ring_rounds(star); ++round) {
    const sg::CommPtr sent = next->put_async(&gradients, bytes);
    here->get<int>();
    sent->wait();
  }
}

Outcome run_simgrid(const Star& star, const DataParallelStep& step, sg::Engine& engine) {
  Watch watch;
  const std::vector<sg::Host*> hosts = make_platform(star);
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    sg::Actor::create("host" + std::to_string(h), hosts[h], [&, h] { train(star, step, h); });
  }
  const double build = watch.lap();
  engine.run();
  return {sg::Engine::get_clock(), build, watch.lap()};
}

// At once: who stops SimGrid because it takes too long has Strata's line.
void print(const char* name, const Outcome& o) {
  fmt::print("{:<8} makespan {:.12f} s   build {:.6f} s   run {:.6f} s\n", name, o.makespan,
             o.build_seconds, o.run_seconds);
  std::fflush(stdout);
}

template <class Work>
int compare(const Star& star, const Work& work, sg::Engine& engine) {
  const Outcome strata = run_strata(star, work);
  print("Strata", strata);
  const Outcome simgrid = run_simgrid(star, work, engine);
  print("SimGrid", simgrid);
  const double difference = std::abs(strata.makespan / simgrid.makespan - 1);
  fmt::print("makespans differ by {:.1e}; SimGrid takes {:.1f} times as long\n", difference,
             simgrid.run_seconds / strata.run_seconds);
  return difference <= 1e-6 ? 0 : 1;
}

int run(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  for (const char* option :
       {"network/model:CM02", "network/crosstraffic:0", "network/optim:Full", "network/TCP-gamma:0",
        "surf/precision:1e-12", "maxmin/precision:1e-12", "contexts/stack-size:64"}) {
    sg::Engine::set_config(option);
  }
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  Star star;
  if (argc > 1 && std::string_view(argv[1]) == "step") {
    star.hosts = argument(2, star.hosts);
    return compare(star, DataParallelStep{}, engine);
  }
  LayeredDag dag = make_layered_dag(star, argument(1, 100), argument(2, 1000), argument(3, 1));
  for (auto& f : dag.flows) f.bytes = std::floor(f.bytes);  // SimGrid counts whole bytes
  return compare(star, dag, engine);
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  return strata::bench::run(argc, argv);
}
