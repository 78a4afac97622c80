#pragma once

// Which engine was the fastest for what: a small text file that outlives the program, so that each
// shape is tuned once. It is only ever a hint: a file that is damaged or can't be written is as
// good as none. Several programs, and the devices of one, may share it. Not thread-safe.

#include <map>
#include <string>

namespace strata::cuda {

class ChoiceFile {
 public:
  /// $XDG_CACHE_HOME/strata/cudnn-plans.txt, or under ~/.cache; empty without a home.
  static std::string usual_path();

  /// Of no path: kept in memory alone.
  explicit ChoiceFile(std::string path);

  /// Empty where nothing was chosen yet, by anybody.
  std::string find(const std::string& key);
  /// Neither has line breaks or tabs. Written at once.
  void add(const std::string& key, const std::string& choice);

 private:
  std::string path_;
  std::map<std::string, std::string> choices_;
};

}  // namespace strata::cuda
