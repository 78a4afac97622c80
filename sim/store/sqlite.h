#pragma once

// SQLite, so that every call is checked and nothing is left open. A Database is a connection to a
// file; it, its Statements and its Transactions belong to one thread. A lock of another process is
// waited for. What goes wrong is one of these, all as "FILE: ...":
//  * EnvironmentError: the file can't be opened, read or written, the disk is full, the file is
//    damaged; BusyError, one of them: a lock was waited for in vain;
//  * InputError: the file is no database;
//  * SqlError: SQLite refuses the statement itself.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/base/error.h"
#include "sim/store/store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace strata {

class BusyError : public EnvironmentError {
  using EnvironmentError::EnvironmentError;
};

/// In SQLite's words; our mistake, unless the statement is the user's.
class SqlError : public InternalError {
  using InternalError::InternalError;
};

/// The name under which SQLite opens exactly this file, whatever characters it has, with
/// parameters such as "mode=ro".
std::string file_uri(const std::string& file, std::string_view parameters);

class Database {
 public:
  /// `read` keeps nobody from writing: the last connection to be closed puts the log away, which
  /// one that may not write would leave behind. `immutable`: nobody changes the file while it is
  /// open; no lock is taken, and nothing can be written.
  Database(const std::string& file, OpenMode mode, const StoreLimits& limits,
           bool immutable = false);
  /// A new file at `path`; errors call it `name`.
  static Database create(const std::string& path, const std::string& name);
  /// Empty and in memory; errors call it `name`.
  static Database in_memory(const std::string& name);

  const std::string& file() const { return file_; }
  /// Immutable, or the file's mode allows no more.
  bool read_only() const;
  sqlite3* handle() const { return handle_.get(); }

  /// Statements throw Cancelled once that is set; null: they do not look.
  void stop_when(const std::atomic<bool>* cancelled);
  /// Any number of statements, whose rows are dropped.
  void run(const std::string& sql);
  /// The one number that a statement answers.
  std::int64_t integer(std::string_view sql);
  /// All pages, as they are at one moment, into a database that has none.
  void copy_to(Database& target);

  /// Throws what the result of a call on this connection means, unless it is success.
  void check(int code) const;
  [[noreturn]] void fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(const std::string& name, const std::string& uri, int flags, const StoreLimits& limits);

  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement: bind its parameters, step through its rows. Must not outlive its Database,
/// nor see it moved.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// The next parameters, from the first on; nothing is NULL. A number that is none (NaN) is our
  /// mistake: SQLite would make it NULL.
  template <class... T>
  Statement& bind(const T&... values) {
    (put(values), ...);
    return *this;
  }

  /// To the next row; false at the end, after which the parameters can be bound anew.
  bool step();
  /// To the end.
  void run();
  /// Before the end: back to the beginning.
  void restart();

  bool changes_nothing() const;
  int columns() const;
  std::string column(int i) const;  ///< its name
  std::vector<std::string> column_names() const;
  std::int64_t integer(int i) const;
  std::string text(int i) const;  ///< or a blob, byte by byte
  Field field(int i) const;

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_integral_v<T>) {
      put_integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      put_number(value);
    } else if constexpr (std::is_same_v<T, CaseKey>) {
      put_key(value);
    } else {
      put_text(value);
    }
  }
  template <class T>
  void put(const std::optional<T>& value) {
    value ? put(*value) : put_null();
  }
  void put(const Field& field) {
    std::visit([this](const auto& value) { put(value); }, field);
  }
  void put(std::monostate /*null*/) { put_null(); }
  void put_null();
  void put_integer(std::int64_t value);
  void put_number(double value);
  void put_text(std::string_view value);
  void put_key(CaseKey value);

  Database* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Takes the lock for writing at once, so that it never has to be given up half way; undone unless
/// committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {
    database_.run("BEGIN IMMEDIATE");
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit() { database_.run("COMMIT"); }

 private:
  Database& database_;
};

}  // namespace strata
