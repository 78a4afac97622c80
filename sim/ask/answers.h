#pragma once

// Questions answered as rows of a store. What questions have in common is read and made once.
// Thread-safe but for runs, which a Runner does one after another.

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "sim/ask/ask.h"
#include "sim/ask/question.h"
#include "sim/ask/wrong_settings.h"
#include "sim/case/case_loader.h"
#include "sim/measure/runner.h"
#include "sim/store/store.h"

namespace strata {

class Answers {
 public:
  /// `version` of Strata: another one's answers are other answers. `runner`: for runs, or null;
  /// must outlive this.
  Answers(std::string version, Runner* runner);

  /// What the answer is known by: the job, the settings, the version and what is in the files.
  /// Throws InputError where one is not there.
  CaseKey key(const Question& question);

  /// A question that has no answer (a strategy that does not fit, say) gets a row that says why.
  /// Throws Cancelled, EnvironmentError and what a Runner throws.
  StoredResult answer(const Question& question, const std::atomic<bool>* cancelled);

  /// As wrong_settings().
  std::vector<WrongSetting> wrong(const Question& question);

 private:
  std::vector<StoredInput> inputs(const Question& question);
  /// `read_with`: settings that change what is read of that name.
  template <class Content>
  StoredInput input(std::string kind, const std::string& name, const Content& content,
                    const std::string& read_with = "");
  void predicted(const Question& question, StoredResult& row, const std::atomic<bool>* cancelled);
  void solved(const Question& question, StoredResult& row, const std::atomic<bool>* cancelled);
  void ran(const Question& question, StoredResult& row, const std::atomic<bool>* cancelled);
  Answer asked(const Request& request, StoredResult& row, const std::atomic<bool>* cancelled);
  Seconds eq1_seconds(const CaseRequest& asked, const RunReport& report);

  std::string version_;
  Runner* runner_;
  CaseLoader loader_;
  std::mutex lock_;
  /// By kind, name and what it was read with.
  std::map<std::tuple<std::string, std::string, std::string>, CaseKey> hashes_;
};

}  // namespace strata
