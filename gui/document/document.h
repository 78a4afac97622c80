#pragma once

// What lies on the desk: a network on a cluster, cut by a strategy, and what else the user decided.
// An edit makes another Document; to undo is to take the one before. It is saved as JSON, so that a
// session that ended in the midst of work goes on where it was. Value.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/ask/request.h"
#include "sim/case/predict.h"

namespace strata::gui {

/// A strategy by name, or what the user made of it.
struct StrategyChoice {
  std::string source =
      "data";  ///< as --strategy takes it: data, model, owt, eq1, optimal or a file
  std::vector<Config> configs = {};  ///< by layer, where it was edited; else empty
  /// Of configs that a search found: "optimal" where that is proved, else "best". Else empty.
  std::string found = {};
  bool touched = false;  ///< by hand, after the search found them
  /// Among those of its kind on the case, where it was edited: the scoreboard counts them.
  int number = 1;
  /// The case that the search was of, as case_arguments() has it, where it is another by now.
  std::string found_on = {};

  bool edited() const { return !configs.empty(); }
  /// "data", "mine.json", "data, edited", "best", "best, edited", "best of another case".
  std::string kind() const;
  /// For people: the kind, and the number from 2 on: "best 2".
  std::string label() const;
  bool operator==(const StrategyChoice&) const = default;
};

/// What people call a network, a cluster or a strategy: its name, or a file's without its folders.
std::string shown_name(const std::string& name_or_file);

/// How the step is simulated.
struct SimulationSettings {
  std::size_t steps = 4;
  std::optional<std::uint64_t> jitter;  ///< the seed of times drawn from their spread

  bool operator==(const SimulationSettings&) const = default;
};
/// Calls visit(key, value) for each of the settings (sim/scenario/settings.h).
template <class Simulation, class Visit>
requires std::is_same_v<std::remove_const_t<Simulation>, SimulationSettings>
void each_setting(Simulation& simulation, const Visit& visit) {
  visit("steps", simulation.steps);
  visit("jitter", simulation.jitter);
}

struct Document {
  CaseRequest input;
  StrategyChoice strategy;
  std::vector<std::string> locked;  ///< layers by name, sorted: "solve the rest" leaves them alone
  /// What a what-if resized, as it was before: the cluster's name and the batch. Empty where none
  /// did.
  std::string base_cluster = {};
  std::optional<std::int64_t> base_batch = {};
  SimulationSettings simulation = {};
  SearchSettings search = {};

  bool empty() const { return input.model.empty(); }
  /// The value of a what-if, or empty.
  std::string what_if(std::string_view key) const;
  /// With another value of a what-if; an empty one takes it out.
  Document with_what_if(const std::string& key, const std::string& value) const;
  /// Of another network: the locks, the speeds of layers and a strategy by hand or in a file, which
  /// are of this one, are reset.
  Document with_model(const std::string& model) const;
  /// On another cluster. A strategy that was cut by hand, for other devices, becomes data
  /// parallelism. The what-ifs of links and devices are of this cluster: they stay only where the
  /// other is the same machine in another size (p100-4x4, p100-8x4).
  Document with_cluster(const std::string& cluster) const;
  /// The same machine in another size, by a what-if, and with another batch.
  Document resized(const std::string& cluster) const;
  Document with_batch(std::int64_t batch) const;
  /// All what-ifs taken back.
  Document without_what_ifs() const;
  /// "vgg16 on p100-4x4", and its what-ifs: "vgg16 on p100-4x4, bandwidth of inter 2x".
  std::string name() const;

  bool operator==(const Document&) const = default;
};
/// A what-if for people: "bandwidth of inter 2x", "speed of all devices 0.5x", "no overlap".
std::string what_if_text(const std::string& key, const std::string& value);

/// The prediction of the document's strategy on its case.
PredictRequest predict_request(const Document& document);
/// The search for its case by its settings; which layers are kept is left empty.
SolveRequest solve_request(const Document& document);

/// `next` as an edit of `before`: cuts that a search found know the case that it was of.
Document edited(Document next, const Document& before);

/// VGG-16 on four hosts with four P100s each, under data parallelism: what stands beside a file
/// that says only a part of a case.
Document usual_document();
/// The example of the paper: the same with parameter servers, as the paper has them.
Document paper_example();

/// What a session's file keeps.
struct SavedDesk {
  Document document = {};
  /// What the user chose to compare it with, an empty document where that is nothing. Nothing was
  /// chosen: data parallelism on the same case.
  std::optional<Document> baseline = {};

  bool operator==(const SavedDesk&) const = default;
};

/// Throws InputError "FILE:LINE: ..." for a text that print_desk() did not write.
SavedDesk parse_desk(std::string_view json, const std::string& file);
std::string print_desk(const SavedDesk& desk);

/// The options of `strata COMMAND` that say the same: "vgg16 --cluster p100-4x4 --set ...". An
/// edited strategy stands as `strategy_file`.
std::string case_arguments(const Document& document);
/// The options of `strata predict` beside the case: " --steps 8 --jitter 1".
std::string simulation_options(const Document& document);
std::string strategy_argument(const Document& document,
                              const std::string& strategy_file = "strategy.json");
/// As a shell takes it: quoted where it must be.
std::string shell_quoted(const std::string& text);

}  // namespace strata::gui
