#pragma once

// What sweeps have found, in one SQLite file (docs/store.md has the schema): a row for each case
// that was answered, with what it depends on and where it comes from. Rows are never changed. Any
// number of processes of one host may use a file at once; one Store belongs to one thread, and is
// never carried over a fork().
//
// A case is known by its key, a hash of everything that decides its answer; a key has one row at
// most. Before a process works on a case it claims it. A claim holds as long as its process lives:
// what a killed process had claimed is free again.

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result/result.h"

namespace strata {

/// XXH3, 128 bits.
struct CaseKey {
  std::uint64_t high = 0, low = 0;
  bool operator==(const CaseKey&) const = default;
  auto operator<=>(const CaseKey&) const = default;
};
CaseKey hash_of(std::string_view bytes);
std::string hex(CaseKey key);

/// A file or a built-in thing that a case depends on.
struct StoredInput {
  std::string kind;  ///< "model", "cluster", "profile", "strategy", "data"
  std::string name;  ///< as it was named
  CaseKey hash;      ///< of its content
  bool operator==(const StoredInput&) const = default;
};

/// A layer of an answer.
struct StoredLayer {
  std::string name;
  std::int64_t n = 1, c = 1, d = 1, h = 1, w = 1, r = 1;  ///< its config
  std::string scatter = "n";                              ///< along which its sums are, where r > 1
  double compute_seconds = 0, transfer_seconds = 0, sync_seconds = 0;
  bool operator==(const StoredLayer&) const = default;
};

/// One answer, with what it depends on.
struct StoredResult : CaseResult {
  CaseKey key;
  std::vector<StoredInput> inputs;
  std::vector<StoredLayer> layers;  ///< empty where none were asked for
};

/// A process that works on a file, as its rows name it.
struct Invocation {
  std::string version;  ///< of Strata
  std::string command;
  std::string host;
  std::string started;  ///< ISO, UTC
};

/// A query's answer.
struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<Field>> rows;
};

enum class OpenMode : std::uint8_t { create, write, read };

/// How patient a connection is, and how large it lets the file become.
struct StoreLimits {
  int busy_milliseconds = 30'000;  ///< to wait for another process's lock
  std::int64_t pages = 0;          ///< of 4 KiB; 0: as many as the disk has
};

class Store {
 public:
  /// `create` makes a file that is missing or empty, whole or not at all. To write, a file of an
  /// older version is brought up to date after it was copied to FILE.v1.bak (or .v1.bak-2, ...: no
  /// copy is ever replaced); to read, it is brought up to date in memory. Throws InputError for a
  /// file that is missing, no database of Strata's (it is left untouched) or of a newer version,
  /// EnvironmentError for one that can't be opened, read or written.
  explicit Store(const std::string& file, OpenMode mode = OpenMode::create,
                 const StoreLimits& limits = {});
  /// Gives back what is still claimed.
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  const std::string& file() const;

  /// What changes the file throws EnvironmentError where the disk is full, the file was opened to
  /// read, or another process keeps it locked for too long; what was stored before stays.

  /// Registers this process; before the first claim and the first row.
  void enter(const Invocation& invocation);

  /// Records the scenario (by its text) and which keys its cases have, in their order; replaces
  /// what was recorded of a scenario of this name.
  struct ScenarioCase {
    std::string sweep;
    CaseKey key;
  };
  void record_scenario(const std::string& name, const std::string& file, const std::string& text,
                       std::span<const ScenarioCase> cases);

  /// Those of the keys that have no row.
  std::vector<CaseKey> missing(std::span<const CaseKey> keys);
  /// Claims up to `most` of the keys, in their order, that have no row and that no living process
  /// has claimed (this one included).
  std::vector<CaseKey> claim(std::span<const CaseKey> keys, std::size_t most);
  /// Stores the row and gives its claim back, in one transaction. A key that has a row keeps it;
  /// false then.
  bool store(const StoredResult& result);
  /// Gives back what this Store has claimed.
  void release();

  /// Rows of another file, with their provenance and its scenarios; how many were new. Throws
  /// InputError for a file that is not of this version, and for this very file.
  std::size_t merge(const std::string& file);

  /// One statement that only reads. `scenario`: the view `cases` holds this scenario's rows in
  /// their order; empty: all rows. A blob is given as its hex digits. Throws InputError with
  /// SQLite's own words.
  QueryResult query(const std::string& sql, const std::string& scenario = {});

  /// From now on, queries throw Cancelled once that is set; null: they no longer look.
  void stop_when(const std::atomic<bool>* cancelled);

  /// Names, newest first.
  std::vector<std::string> scenarios();
  /// The text of the newest of this name. Throws InputError that lists what is there.
  std::string scenario_text(const std::string& name);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
