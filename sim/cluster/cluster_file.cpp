#include "sim/cluster/cluster_file.h"

#include <fmt/format.h>

#include "sim/cluster/builder.h"
#include "sim/cluster/grid_file.h"
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
      attempt(root_, [&] { add_grid_of(root_.table("grid")); });
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

  void add_grid_of(Table table) {
    const Location place = table.location();
    const Grid grid = read_grid(std::move(table), size_);
    builder_.at(place);
    add_grid(grid, builder_);
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
