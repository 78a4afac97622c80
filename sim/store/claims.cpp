#include "sim/store/claims.h"

#include <fmt/format.h>

#include "sim/store/process.h"

namespace strata {
namespace {

struct Owner {
  std::int64_t id = 0;
  Process process;
  std::string command;
};

std::vector<Owner> owners(Database& database) {
  Statement all(database,
                "SELECT o.id, o.pid, o.process_start, o.boot_id, i.command "
                "FROM owner AS o JOIN invocation AS i ON i.id = o.invocation ORDER BY o.id");
  std::vector<Owner> list;
  while (all.step()) {
    list.push_back({all.integer(0), {all.integer(1), all.integer(2), all.text(3)}, all.text(4)});
  }
  return list;
}

/// Their claims go with them.
void remove_dead_owners(Database& database) {
  Statement remove(database, "DELETE FROM owner WHERE id = ?");
  for (const Owner& owner : owners(database)) {
    if (!alive(owner.process)) remove.bind(owner.id).run();
  }
}

/// Whether the statement, of one key, has a row.
bool any(Statement& statement, CaseKey key) {
  const bool found = statement.bind(key).step();
  if (found) statement.restart();
  return found;
}

}  // namespace

void Claims::enter(std::int64_t invocation, const std::string& host) {
  invocation_ = invocation;
  host_ = host;
  add_owner();
}

void Claims::add_owner() {
  const Process self = this_process();
  Statement insert(database_,
                   "INSERT INTO owner (invocation, host, pid, process_start, boot_id) "
                   "VALUES (?, ?, ?, ?, ?) RETURNING id");
  insert.bind(invocation_, host_, self.pid, self.start, self.boot_id).step();
  const std::int64_t id = insert.integer(0);
  insert.run();
  owner_ = id;
}

bool Claims::is_known() {
  Statement row(database_, "SELECT 1 FROM owner WHERE id = ?");
  return row.bind(owner_).step();
}

void Claims::leave() {
  if (owner_ == 0) return;
  Statement(database_, "DELETE FROM owner WHERE id = ?").bind(owner_).run();
  owner_ = 0;
}

std::vector<CaseKey> Claims::missing(std::span<const CaseKey> keys) {
  Statement row(database_, "SELECT 1 FROM result WHERE key = ?");
  std::vector<CaseKey> list;
  for (CaseKey key : keys) {
    if (answered_.contains(key)) continue;
    if (any(row, key)) {
      answered_.insert(key);
    } else {
      list.push_back(key);
    }
  }
  return list;
}

std::vector<CaseKey> Claims::claim(std::span<const CaseKey> keys, std::size_t most) {
  Transaction claiming(database_);
  remove_dead_owners(database_);
  // One that does not see this process (from another container) may have taken it for dead.
  if (!is_known()) add_owner();
  Statement row(database_, "SELECT 1 FROM result WHERE key = ?");
  Statement insert(database_,
                   "INSERT INTO claim (key, owner) VALUES (?, ?) ON CONFLICT DO NOTHING "
                   "RETURNING 1");
  std::vector<CaseKey> claimed;
  for (std::size_t i = 0; i < keys.size() && claimed.size() < most; ++i) {
    if (answered_.contains(keys[i])) continue;
    if (any(row, keys[i])) {
      answered_.insert(keys[i]);
    } else if (insert.bind(keys[i], owner_).step()) {
      claimed.push_back(keys[i]);
      insert.run();
    }
  }
  claiming.commit();
  return claimed;
}

void Claims::release() {
  Statement(database_, "DELETE FROM claim WHERE owner = ?").bind(owner_).run();
}

std::string living_owners(Database& database) {
  std::string list;
  for (const Owner& owner : owners(database)) {
    if (!alive(owner.process)) continue;
    list +=
        fmt::format("{}pid {} ({})", list.empty() ? "" : ", ", owner.process.pid, owner.command);
  }
  return list.empty() ? "nobody that is known" : list;
}

}  // namespace strata
