#include <iterator>

#include <fmt/format.h>

#include "sim/cluster/cluster_file.h"
#include "sim/text/toml.h"
#include "sim/text/units.h"

namespace strata {
namespace {

class Printer {
 public:
  explicit Printer(const Cluster& cluster) : cluster_(cluster) {}

  std::string print() {
    line("name", toml_quoted(cluster_.name()));
    for (const Device& device : cluster_.devices()) print(device);
    for (const std::string& name : cluster_.switches()) {
      head("switch");
      line("name", toml_quoted(name));
    }
    for (const Link& link : cluster_.links()) print(link);
    for (const FixedRoute& route : cluster_.fixed_routes()) print(route);
    out_ += print_library(cluster_.communication_library());
    return std::move(out_);
  }

 private:
  void head(std::string_view table) { out_ += fmt::format("\n[[{}]]\n", table); }
  void line(std::string_view key, const std::string& value) {
    fmt::format_to(std::back_inserter(out_), "{} = {}\n", key, value);
  }

  void print(const Device& device) {
    head("device");
    line("name", toml_quoted(device.name));
    if (!device.kind.empty()) line("kind", toml_quoted(device.kind));
    if (!device.host.empty()) line("host", toml_quoted(device.host));
    if (!device.domain.empty()) line("domain", toml_quoted(device.domain));
    if (device.speed != 1) line("speed", fmt::format("{}", device.speed));
    if (!device.copy_engine) line("copy_engine", "false");
    if (device.assembles) line("assembles", "true");
    if (device.channel_block != 1) line("channel_block", std::to_string(device.channel_block));
    if (!device.forwards) line("forwards", "false");
    if (device.memory) line("memory", toml_quoted(print_exact(*device.memory)));
    if (device.memory_reserve > Bytes{}) {
      line("memory_reserve", toml_quoted(print_exact(device.memory_reserve)));
    }
  }

  void print(const Link& link) {
    head("link");
    line("name", toml_quoted(link.name));
    line("from", toml_quoted(cluster_.vertex_name(link.from)));
    line("to", toml_quoted(cluster_.vertex_name(link.to)));
    line("bandwidth", toml_quoted(print_exact(link.bandwidth)));
    line("latency", toml_quoted(print_exact(link.latency)));
    if (!link.kind.empty()) line("kind", toml_quoted(link.kind));
  }

  void print(const FixedRoute& route) {
    head("route");
    line("from", toml_quoted(cluster_[route.from].name));
    line("to", toml_quoted(cluster_[route.to].name));
    std::string over;
    for (const LinkId link : route.links) {
      over += fmt::format("{}{}", over.empty() ? "" : ", ", toml_quoted(cluster_[link].name));
    }
    line("over", fmt::format("[{}]", over));
  }

  const Cluster& cluster_;
  std::string out_;
};

}  // namespace

std::string print_cluster(const Cluster& cluster) {
  return Printer(cluster).print();
}

}  // namespace strata
