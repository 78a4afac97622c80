#pragma once

// Who works on which case. An owner is a Store that has entered; its claims hold as long as its
// process lives, and what is left of dead ones is swept away by the next who claims.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "sim/store/sqlite.h"

namespace strata {

class Claims {
 public:
  explicit Claims(Database& database) : database_(database) {}

  /// Adds this process to the owners.
  void enter(std::int64_t invocation, const std::string& host);
  /// Gives all back, and is no owner any more.
  void leave();

  /// As Store says of each.
  std::vector<CaseKey> missing(std::span<const CaseKey> keys);
  std::vector<CaseKey> claim(std::span<const CaseKey> keys, std::size_t most);
  void release();

 private:
  struct Hash {
    std::size_t operator()(CaseKey key) const { return static_cast<std::size_t>(key.low); }
  };

  void add_owner();
  bool is_known();

  Database& database_;
  std::int64_t invocation_ = 0;
  std::string host_;
  std::int64_t owner_ = 0;  ///< 0: not entered
  /// Keys that were seen to have a row: rows never go, so these are not looked up again.
  std::unordered_set<CaseKey, Hash> answered_;
};

/// "pid 12 (strata sweep a.toml)" of each living owner, with commas; "nobody that is known".
std::string living_owners(Database& database);

}  // namespace strata
