#include "sim/store/store.h"

#include <fmt/format.h>

#include "sim/store/claims.h"
#include "sim/store/open_store.h"
#include "sim/store/query.h"
#include "sim/store/rows.h"
#include "sim/store/sqlite.h"

namespace strata {

class Store::Impl {
 public:
  Impl(const std::string& file, OpenMode mode, const StoreLimits& limits)
      : limits_(limits),
        writable_(mode != OpenMode::read),
        database_(open_store(file, mode, limits)) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::string& file() const { return database_.file(); }
  Claims& claims() { return claims_; }
  const StoreLimits& limits() const { return limits_; }

  void enter(const Invocation& invocation);
  bool store(const StoredResult& result);

  /// Runs an action on the database. Where a lock was waited for in vain, says who is at work.
  template <class Action>
  auto read(Action&& action) {
    try {
      return action(database_);
    } catch (const BusyError& error) {
      throw EnvironmentError(fmt::format("{}; at work on it: {}", error.message(), at_work()));
    }
  }
  /// The same, of one that may change it.
  template <class Action>
  auto write(Action&& action) {
    if (!writable_) throw EnvironmentError(file() + ": cannot be written: it was opened to read");
    return read(action);
  }
  /// The same, of one that needs to know whose process this is.
  template <class Action>
  auto work(Action&& action) {
    if (writable_ && invocation_ == 0) throw InternalError(file() + ": enter() comes first");
    return write(action);
  }

 private:
  std::string at_work();

  StoreLimits limits_;
  bool writable_;
  Database database_;
  Claims claims_{database_};
  std::int64_t invocation_ = 0;  ///< 0: not entered
};

Store::Impl::~Impl() {
  // Where it fails, the claims go when the process does.
  try {
    claims_.leave();
  } catch (const Error&) {
  }
}

// With a log beside the file, readers see it even while somebody keeps it locked.
std::string Store::Impl::at_work() {
  try {
    return living_owners(database_);
  } catch (const Error&) {
    return "unknown";
  }
}

void Store::Impl::enter(const Invocation& invocation) {
  Transaction entering(database_);
  const std::int64_t id = add_invocation(database_, invocation);
  entering.commit();
  invocation_ = id;
  claims_.leave();
  claims_.enter(id, invocation.host);
}

bool Store::Impl::store(const StoredResult& result) {
  Transaction storing(database_);
  drop_claim(database_, result.key);
  const bool is_new = !has_row(database_, result.key);
  if (is_new) add_result(database_, result, invocation_);
  storing.commit();
  return is_new;
}

Store::Store(const std::string& file, OpenMode mode, const StoreLimits& limits)
    : impl_(std::make_unique<Impl>(file, mode, limits)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

const std::string& Store::file() const {
  return impl_->file();
}

void Store::stop_when(const std::atomic<bool>* cancelled) {
  impl_->read([&](Database& database) { database.stop_when(cancelled); });
}

void Store::enter(const Invocation& invocation) {
  impl_->write([&](Database&) { impl_->enter(invocation); });
}

void Store::record_scenario(const std::string& name, const std::string& file,
                            const std::string& text, std::span<const ScenarioCase> cases) {
  impl_->write([&](Database& database) {
    Transaction recording(database);
    replace_scenario(database, name, file, text, cases);
    recording.commit();
  });
}

std::vector<CaseKey> Store::missing(std::span<const CaseKey> keys) {
  return impl_->read([&](Database&) { return impl_->claims().missing(keys); });
}

std::vector<CaseKey> Store::claim(std::span<const CaseKey> keys, std::size_t most) {
  return impl_->work([&](Database&) { return impl_->claims().claim(keys, most); });
}

bool Store::store(const StoredResult& result) {
  return impl_->work([&](Database&) { return impl_->store(result); });
}

void Store::release() {
  impl_->write([&](Database&) { impl_->claims().release(); });
}

std::size_t Store::merge(const std::string& file) {
  return impl_->write(
      [&](Database& database) { return strata::merge(database, file, impl_->limits()); });
}

QueryResult Store::query(const std::string& sql, const std::string& scenario) {
  return impl_->read([&](Database& database) { return strata::query(database, sql, scenario); });
}

std::vector<std::string> Store::scenarios() {
  return impl_->read([](Database& database) { return strata::scenarios(database); });
}

std::string Store::scenario_text(const std::string& name) {
  return impl_->read([&](Database& database) { return strata::scenario_text(database, name); });
}

}  // namespace strata
