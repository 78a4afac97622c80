#pragma once

// Questions and their answers as texts, for Python. Settings are as the front door takes them
// (sim/ask/request.h). Called with the interpreter's lock held, which is released for the work.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "sim/ask/ask.h"

namespace strata::python {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What is written beside measured costs and answers that are kept.
struct Caller {
  std::string host, date, started;  ///< ISO; `started` with the time, in UTC
  std::string command;
};

/// An answer. Its document, and what makes a prediction doubtful, which takes as long as the
/// prediction, are made when somebody looks; figures are there at once.
class Answered {
 public:
  /// Files that the request names must stay as long as this.
  Answered(Answer answer, bool warned) : answer_(std::move(answer)), warned_(warned) {}

  /// Of the prediction of one strategy, a column of its result; else None.
  pybind11::object figure(const std::string& key);
  /// How many predictions; 0 where it is something else.
  std::size_t predictions() const;
  std::string json();
  /// Of the prediction of one strategy, simulated again with the time of each task: trace events.
  std::string trace() const;
  std::vector<std::string> warnings();

 private:
  const Predicted* only() const;
  void doubt();

  Answer answer_;
  bool warned_;
  std::unique_ptr<std::mutex> lock_ = std::make_unique<std::mutex>();  // of what is made later
  std::string text_;
  std::optional<CaseResult> result_;
};

Answered ask(const std::string& kind, const Pairs& settings, const Caller& caller,
             pybind11::object told);

std::string validate(const std::vector<std::string>& models, const Pairs& settings,
                     const Caller& caller, pybind11::object told);

/// `threads`: 0 for all cores. `shard`: which of how many, from 1 on.
std::string sweep(const std::string& scenario, const std::string& database, unsigned threads,
                  std::pair<std::size_t, std::size_t> shard, const Caller& caller,
                  pybind11::object told);

std::string query(const std::string& database, const std::string& sql);

std::string replay(const std::string& plan, const std::string& cluster, const Pairs& what_ifs);

/// Those of a kind of question.
std::vector<std::string> keys(std::string_view kind);

}  // namespace strata::python
