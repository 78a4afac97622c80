#include <fmt/format.h>

#include "sim/cluster/builder.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/grid.h"
#include "sim/text/file.h"
#include "sim/text/toml.h"
#include "sim/text/units.h"

namespace strata {
namespace {

class FileReader {
 public:
  FileReader(Table root, const std::string& file, const std::optional<GridSize>& size)
      : root_(std::move(root)), size_(size), builder_(name(file)) {
    builder_.at({file, 0});
    if (!size) builder_.read_from(file);
  }

  Cluster read() {
    root_.optional("description");
    const bool gridded = root_.has("grid");
    if (gridded) {
      attempt(root_, [&] { read_grid(root_.table("grid")); });
      refuse_beside_grid();
    } else {
      each("device", [&](Table& table) { read_device(table); });
      each("switch", [&](Table& table) { builder_.add_switch(table.string("name")); });
      each("link", [&](Table& table) { read_link(table); });
    }
    each("route", [&](Table& table) {
      builder_.add_route(table.string("from"), table.string("to"),
                         table.required("over").as_strings());
    });
    attempt(root_, [&] {
      if (auto library = root_.optional_table("collectives")) {
        builder_.set_communication_library(read_library(*std::move(library)));
      }
    });
    root_.finish(builder_.errors());
    builder_.errors().throw_if_any();  // an incomplete cluster would only give more of them
    builder_.at(root_.location());
    return std::move(builder_).build();
  }

 private:
  std::string name(const std::string& file) {
    const auto in_file = root_.optional("name");
    if (size_) return size_->name;
    if (!in_file) return name_from_file(file);
    if (in_file->as_string().empty()) in_file->fail_expected("a name");
    return in_file->as_string();
  }

  template <class Read>
  void attempt(const Table& table, Read&& read) {
    builder_.at(table.location());
    builder_.errors().attempt(read);
  }

  template <class Read>
  void each(const char* key, Read&& read) {
    std::vector<Table> tables;
    attempt(root_, [&] { tables = root_.tables(key); });
    for (Table& table : tables) {
      attempt(table, [&] { read(table), table.finish(); });
    }
  }

  void refuse_beside_grid() {
    for (const char* key : {"device", "switch", "link"}) {
      if (const auto value = root_.optional(key)) {
        builder_.errors().add(value->location(),
                              fmt::format("[[{}]] does not go with [grid]", key));
      }
    }
  }

  void read_device(Table& table) {
    const std::string name = table.string("name");
    builder_.add_device({name, table.string_or("kind", ""), table.string_or("host", ""),
                         table.number_or("speed", 1), table.boolean_or("copy_engine", true),
                         table.boolean_or("assembles", false), table.boolean_or("forwards", true),
                         table.integer_or("channel_block", 1, 1, 1024), size(table, "memory"),
                         size(table, "memory_reserve").value_or(Bytes{}),
                         table.string_or("domain", "")});
  }

  static std::optional<Bytes> size(Table& table, const char* key) {
    const auto value = table.optional(key);
    return value ? std::optional(read_bytes(*value)) : std::nullopt;
  }

  void read_link(Table& table) {
    LinkSpec link{table.string("from"),
                  table.string("to"),
                  read_bandwidth(table.required("bandwidth")),
                  latency(table),
                  table.string_or("name", ""),
                  table.string_or("kind", "")};
    const bool duplex = table.boolean_or("duplex", false);
    duplex ? builder_.add_duplex(std::move(link)) : builder_.add_link(std::move(link));
  }

  static Seconds latency(Table& table) {
    const auto value = table.optional("latency");
    return value ? read_seconds(*value) : Seconds{};
  }

  void read_grid(Table table) {
    Grid grid;
    const std::int64_t limit = kDeviceLimit;
    grid.hosts = table.integer("hosts", 1, limit);
    grid.devices_per_host = table.integer("devices_per_host", 1, limit);
    if (size_) {
      grid.hosts = size_->hosts;
      grid.devices_per_host = size_->devices_per_host;
    }
    grid.kind = table.string_or("kind", "");
    grid.copy_engine = table.boolean_or("copy_engine", true);
    grid.assembles = table.boolean_or("assembles", false);
    grid.memory = size(table, "memory");
    grid.memory_reserve = size(table, "memory_reserve").value_or(Bytes{});
    if (const auto intra = network_of(table, "intra", grid.devices_per_host, "devices of a host")) {
      read_intra(intra->as_table(), grid);
    }
    if (const auto inter = network_of(table, "inter", grid.hosts, "hosts")) {
      read_inter(inter->as_table(), grid);
    }
    table.finish();
    builder_.at(table.location());
    add_grid(grid, builder_);
  }

  static std::optional<Value> network_of(Table& grid, std::string_view key, std::int64_t joined,
                                         std::string_view what) {
    auto network = grid.optional(key);
    if (!network && joined > 1) {
      grid.fail(fmt::format("[grid.{}] is missing: {} {} need a network", key, joined, what));
    }
    return network;
  }

  void read_intra(Table table, Grid& grid) {
    const Value topology = table.required("topology");
    const auto found = find_intra_topology(topology.as_string());
    if (!found) refuse_topology(topology, allowed_intra_topologies());
    grid.intra = *found;
    grid.intra_bandwidth = read_bandwidth(table.required("bandwidth"));
    grid.intra_latency = latency(table);
    table.finish();
  }

  void read_inter(Table table, Grid& grid) {
    const Value topology = table.required("topology");
    const auto found = find_inter_topology(topology.as_string());
    if (!found) refuse_topology(topology, allowed_inter_topologies());
    grid.inter = *found;
    if (grid.inter == InterTopology::none) return table.finish();
    grid.inter_bandwidth = read_bandwidth(table.required("bandwidth"));
    grid.inter_latency = latency(table);
    if (const auto value = table.optional("device_bandwidth")) {
      grid.device_bandwidth = read_bandwidth(*value);
    }
    table.finish();
  }

  [[noreturn]] static void refuse_topology(const Value& value, const std::string& allowed) {
    value.fail(fmt::format("unknown topology \"{}\"; allowed: {}", value.as_string(), allowed));
  }

  Table root_;
  const std::optional<GridSize>& size_;
  ClusterBuilder builder_;
};

}  // namespace

Cluster parse_cluster(std::string_view toml, const std::string& file,
                      const std::optional<GridSize>& size) {
  const Document document = parse_toml(toml, file);
  return FileReader(document.table(), file, size).read();
}

Cluster read_cluster(const std::string& file) {
  const Document document = read_toml(file);
  return FileReader(document.table(), file, std::nullopt).read();
}

}  // namespace strata
