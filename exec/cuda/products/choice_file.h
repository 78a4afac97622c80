#pragma once

// Which engine was the fastest for what: a small text file that outlives the program, so that each
// shape is tuned once. It is only ever a hint: lines that are damaged count for nothing, and a file
// that can't be written is as good as none. Several programs, and the devices of one, may share it:
// each adds lines at its end, and of the lines with one key the last counts, so that a choice that
// became of no use is replaced; a program keeps to the one that it knows. Not thread-safe.

#include <cstdint>
#include <map>
#include <string>

namespace strata::cuda {

class ChoiceFile {
 public:
  /// $XDG_CACHE_HOME/strata/cudnn-plans.tsv, or under ~/.cache; empty without a home.
  static std::string usual_path();

  /// Of no path: kept in memory alone.
  explicit ChoiceFile(std::string path);

  /// Empty where nothing was chosen yet, by anybody.
  std::string find(const std::string& key);
  /// Neither is empty or has line breaks or tabs. Written at once.
  void add(const std::string& key, const std::string& choice);

 private:
  void read_on();

  std::string path_;
  std::map<std::string, std::string> choices_;
  std::int64_t read_ = 0;  // bytes of the file, whole lines
};

}  // namespace strata::cuda
