#pragma once

// Makes a Cluster from its parts. What is wrong with a part is gathered with the place that at()
// set, and build() says it all.
//
//   ClusterBuilder builder("two");
//   builder.add_device({.name = "gpu0"});
//   builder.add_device({.name = "gpu1"});
//   builder.add_duplex("gpu0", "gpu1", BytesPerSecond{20e9}, Seconds{1e-6});
//   const Cluster cluster = std::move(builder).build();
//
// Limits: 16,384 devices, 65,536 switches, 2^20 links, bandwidths from 1e-9 to 1e18 B/s, latencies
// of at most 100 s, speeds from 1e-9 to 1e9.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/text/diagnostics.h"

namespace strata {

inline constexpr std::size_t kDeviceLimit = 16384;
inline constexpr std::size_t kSwitchLimit = 65536;
inline constexpr std::size_t kLinkLimit = std::size_t{1} << 20;
inline constexpr Seconds kLatencyLimit{100};
inline constexpr double kLeastSpeed = 1e-9, kMostSpeed = 1e9;

/// One direction, by the names of its ends.
struct LinkSpec {
  std::string from;
  std::string to;
  BytesPerSecond bandwidth;
  Seconds latency = {};
  std::string name = {};  ///< "from>to" if empty; then "from>to#2" for the second of that name
  std::string kind = {};
};

class ClusterBuilder {
 public:
  explicit ClusterBuilder(std::string name);
  /// Of a changed copy: with its name and its file, but none of its parts.
  explicit ClusterBuilder(const Cluster& like);

  /// The file that the cluster is read from: errors about routes name it.
  void read_from(std::string file) { source_ = std::move(file); }

  /// The place of what is added from here on; at first "cluster NAME".
  void at(Location where) { where_ = std::move(where); }
  const Location& where() const { return where_; }
  Diagnostics& errors() { return errors_; }

  void add_device(Device device);
  void add_switch(std::string name);
  /// Ends may be added later.
  void add_link(LinkSpec link);
  /// Both directions; the second of a named link is called "NAME.back".
  void add_duplex(LinkSpec link);
  void add_duplex(std::string from, std::string to, BytesPerSecond bandwidth, Seconds latency) {
    add_duplex({std::move(from), std::move(to), bandwidth, latency, "", ""});
  }
  void set_communication_library(CommunicationLibrary library) {
    cluster_.communication_library_ = std::move(library);
  }
  void add_route(std::string from, std::string to, std::vector<std::string> links);

  Cluster build() &&;

 private:
  struct PlacedLink {
    LinkSpec spec;
    Location where;
  };
  struct PlacedRoute {
    std::string from, to;
    std::vector<std::string> links;
    Location where;
  };

  void claim_name(const std::string& name, std::string_view what);
  void number_vertices();
  std::uint32_t find_vertex(const std::string& name, const Location& where);
  void check(const PlacedLink& link);
  std::string name_of(const LinkSpec& spec, const Location& where);
  void resolve_links();
  void resolve_route(const PlacedRoute& route);
  bool is_path(const PlacedRoute& route, const FixedRoute& fixed);
  void sort_routes();

  Cluster cluster_;
  std::string source_;
  Location where_;
  Diagnostics errors_;
  std::vector<PlacedLink> links_;
  std::vector<PlacedRoute> routes_;
  std::unordered_map<std::string, std::uint32_t> vertices_;  // looked up, never walked
  std::unordered_set<std::string> link_names_;
};

}  // namespace strata
