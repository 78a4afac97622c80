#pragma once

// What a TOML or JSON file says, with the line of each value: a Document owns the tree; a Value is
// a view of one node of it and a Table a view of one table (JSON: object) that remembers which
// keys were asked for. Views must not outlive their Document; a Document is immutable and may be
// read from many threads, a Table belongs to one.
//
//   const Document document = parse_toml(text, "a.toml");
//   Table root = document.table();
//   const std::string name = root.string("name");            // "a.toml:1: missing key 'name'"
//   const auto size = root.integer_or("size", 5, 1, 99);      // "a.toml:3: 'size' must be ..."
//   for (Table& layer : root.tables("layer")) ...
//   root.finish();                                 // "a.toml:7: unknown key 'x'; allowed: ..."

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/text/diagnostics.h"

namespace strata {

enum class ValueKind { null, boolean, integer, number, string, date, list, table };

struct Member;

/// One node of the tree; `number` holds an integer's value too. Members are in the file's order and
/// never null.
struct Node {
  ValueKind kind = ValueKind::null;
  int line = 0;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string string;
  std::vector<Node> items;      ///< of a list
  std::vector<Member> members;  ///< of a table
};

struct Member {
  std::string key;
  Node value;
};

/// What a file calls its values: a TOML table is a JSON object.
enum class Syntax { toml, json };

class Table;

class Value {
 public:
  Value(const Node& node, const std::string& file, Syntax syntax, std::string name)
      : node_(&node), file_(&file), syntax_(syntax), name_(std::move(name)) {}

  ValueKind kind() const { return node_->kind; }
  bool is(ValueKind kind) const { return node_->kind == kind; }
  const Node& node() const { return *node_; }
  /// As errors call it: "kernel", "kernel[1]"; empty for the whole document.
  const std::string& name() const { return name_; }
  Location location() const { return {*file_, node_->line}; }

  /// Each throws InputError "FILE:LINE: 'NAME' must be ...; it is ...".
  const std::string& as_string() const;
  bool as_boolean() const;
  std::int64_t as_integer(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                          std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  double as_number(double min = std::numeric_limits<double>::lowest(),
                   double max = std::numeric_limits<double>::max()) const;
  std::vector<Value> as_list() const;
  std::vector<std::string> as_strings() const;
  std::vector<std::int64_t> as_integers(
      std::int64_t min = std::numeric_limits<std::int64_t>::min(),
      std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  Table as_table() const;

  /// "FILE:LINE: MESSAGE".
  [[noreturn]] void fail(std::string_view message) const;
  /// "FILE:LINE: 'NAME' must be EXPECTED; it is ...".
  [[noreturn]] void fail_expected(std::string_view expected) const;

 private:
  std::string range_name(std::string_view noun, std::string min, std::string max) const;

  const Node* node_;
  const std::string* file_;
  Syntax syntax_;
  std::string name_;
};

class Table {
 public:
  Table(const Node& node, const std::string& file, Syntax syntax);

  Location location() const { return {*file_, node_->line}; }
  /// Of the key's value; of the table where it lacks the key.
  Location location(std::string_view key) const;
  [[noreturn]] void fail(std::string_view message) const { strata::fail(location(), message); }

  bool has(std::string_view key) { return optional(key).has_value(); }
  /// Every reader below asks for its key, so that finish() lists it as allowed.
  Value required(std::string_view key);
  std::optional<Value> optional(std::string_view key);
  /// All keys with their values, in the file's order, where the names are the user's.
  std::vector<std::pair<std::string, Value>> members();

  const std::string& string(std::string_view key) { return required(key).as_string(); }
  std::string string_or(std::string_view key, std::string_view fallback);
  bool boolean(std::string_view key) { return required(key).as_boolean(); }
  bool boolean_or(std::string_view key, bool fallback);
  std::int64_t integer(std::string_view key,
                       std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t max = std::numeric_limits<std::int64_t>::max());
  std::int64_t integer_or(std::string_view key, std::int64_t fallback,
                          std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                          std::int64_t max = std::numeric_limits<std::int64_t>::max());
  double number(std::string_view key, double min = std::numeric_limits<double>::lowest(),
                double max = std::numeric_limits<double>::max());
  double number_or(std::string_view key, double fallback,
                   double min = std::numeric_limits<double>::lowest(),
                   double max = std::numeric_limits<double>::max());
  /// A missing list is an empty one.
  std::vector<std::string> strings(std::string_view key);
  std::vector<std::int64_t> integers(std::string_view key);
  Table table(std::string_view key);
  std::optional<Table> optional_table(std::string_view key);
  /// A list of tables, [[key]] in TOML; a missing one is empty.
  std::vector<Table> tables(std::string_view key);

  /// Reports every key that was never asked for.
  void finish() const;
  void finish(Diagnostics& errors) const;

 private:
  void ask(std::string_view key);

  const Node* node_;
  const std::string* file_;
  Syntax syntax_;
  std::vector<std::string> asked_;  // in the order of asking, each once
  std::vector<bool> read_;          // of each member
};

class Document {
 public:
  Document(Node root, std::string file, Syntax syntax);

  Value root() const;
  /// The root as a table; throws if it is none.
  Table table() const { return root().as_table(); }
  const std::string& file() const { return tree_->file; }

 private:
  struct Tree {
    Node root;
    std::string file;
    Syntax syntax;
  };
  std::shared_ptr<const Tree> tree_;  // shared and unmoving: views point into it
};

}  // namespace strata
