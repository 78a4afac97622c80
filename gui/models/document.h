#pragma once

// What lies on the desk: a network on a cluster, cut by a strategy, and what else the user decided.
// An edit makes another Document; to undo is to take the one before. It is saved as JSON, so that a
// session that ended in the midst of work goes on where it was. Value.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/case/predict.h"

namespace strata::gui {

/// A strategy by name, or what the user made of it.
struct StrategyChoice {
  std::string source =
      "data";  ///< as --strategy takes it: data, model, owt, eq1, optimal or a file
  std::vector<Config> configs = {};  ///< by layer, where it was edited; else empty
  /// Of configs that a search found and nobody touched since: "optimal" where that is proved, else
  /// "best". Else empty.
  std::string found = {};

  bool edited() const { return !configs.empty(); }
  /// For people: "data", "mine.json", "data, edited", "best".
  std::string label() const;
  bool operator==(const StrategyChoice&) const = default;
};

/// What people call a network, a cluster or a strategy: its name, or a file's without its folders.
std::string shown_name(const std::string& name_or_file);

struct Document {
  CaseRequest input;
  StrategyChoice strategy;
  std::vector<std::string> locked;  ///< layers by name, sorted: "solve the rest" leaves them alone

  bool empty() const { return input.model.empty(); }
  /// The value of a what-if, or empty.
  std::string what_if(std::string_view key) const;
  /// With another value of a what-if; an empty one takes it out.
  Document with_what_if(const std::string& key, const std::string& value) const;
  /// On another cluster. A strategy that was cut by hand, for other devices, becomes data
  /// parallelism.
  Document with_cluster(const std::string& cluster) const;
  /// "vgg16 on p100-4x4".
  std::string name() const;
};
bool operator==(const Document& a, const Document& b);

/// Throws InputError "FILE:LINE: ..." for a text that print_document() did not write.
Document parse_document(std::string_view json, const std::string& file);
std::string print_document(const Document& document);

/// The options of `strata COMMAND` that say the same: "vgg16 --cluster p100-4x4 --set ...". An
/// edited strategy stands as `strategy_file`.
std::string case_arguments(const Document& document);
/// Of these settings, or of all: those that are not the usual ones, as options with a blank before
/// each: " --sync tree".
std::string setting_options(const CaseRequest& input, std::span<const std::string_view> keys = {});
std::string strategy_argument(const Document& document,
                              const std::string& strategy_file = "strategy.json");
/// As a shell takes it: quoted where it must be.
std::string shell_quoted(const std::string& text);

}  // namespace strata::gui
