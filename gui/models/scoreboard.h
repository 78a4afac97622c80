#pragma once

// Every strategy that was tried, by the case that it was tried on: what a prediction or a search
// found of it, and the bound that a search proved of all. What is tried again takes its own place.
// Lives in the window's thread; what is added to it is made in any.

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "gui/document/document.h"
#include "gui/models/row_table.h"
#include "gui/models/scene.h"
#include "sim/result/result.h"
#include "sim/search/solve.h"

namespace strata::gui {

struct TriedStrategy {
  StrategyChoice choice;   ///< as a document takes it
  CaseResult result;       ///< simulated
  std::string trust = {};  ///< how far that may be trusted (trust.h)

  /// "data", "best 2".
  QString name() const { return QString::fromStdString(choice.label()); }
  /// Whether they are of one kind and, where they were edited, cut alike.
  bool is_same(const TriedStrategy& other) const { return is_same(other.choice); }
  bool is_same(const StrategyChoice& other) const;
};

struct TriedCase {
  CaseRequest input;
  Seconds lower_bound = {};  ///< proved of every strategy that a search considers; 0: nothing is
  std::vector<TriedStrategy> strategies = {};  ///< in the order in which they were tried first
};

/// The scene's strategy.
TriedCase tried(const Scene& scene);
/// Of a search: its best, which a document takes as `best`, and the usual strategies beside it, as
/// far as they were simulated; a search for several has more of its kind. `bounds_all`: whether
/// what it proved holds for all strategies.
TriedCase tried(const CaseRequest& request, const Case& input, const Solved& solved,
                const StrategyChoice& best, bool bounds_all);

class Scoreboard : public QObject {
  Q_OBJECT

 public:
  explicit Scoreboard(QObject* parent = nullptr) : QObject(parent) {}

  void add(const TriedCase& tried);
  void remove(const CaseRequest& input, const std::vector<TriedStrategy>& strategies);
  /// All that was found of cases that name files, which are other than they were.
  void forget_files();

  /// Null where nothing was tried on it.
  const TriedCase* find(const CaseRequest& input) const;
  /// What an edited strategy has among those of its kind on the case: its own where it was tried,
  /// else the next.
  int number_of(const CaseRequest& input, const StrategyChoice& choice) const;
  /// 0 where nothing is proved.
  Seconds lower_bound(const CaseRequest& input) const;

 signals:
  void changed();

 private:
  TriedCase& of(const CaseRequest& input);

  std::vector<TriedCase> cases_;  ///< the newest last
};

// The strategies that were tried on one case, beside each other: the step, how it compares with the
// baseline's and with what is proved, memory, and Eq. 1. Lives in the window's thread.

/// What all rows are compared with.
struct ScoreContext {
  StrategyChoice chosen = {};         ///< the document's
  std::optional<Seconds> baseline{};  ///< its step
  Seconds lower_bound = {};           ///< proved; 0: nothing is
};

class ScoreTable : public RowTable<ScoreContext, TriedStrategy> {
  Q_OBJECT

 public:
  enum Column { strategy, step, speedup, gap, memory, fits, eq1, communication, kColumns };

  explicit ScoreTable(QObject* parent = nullptr);

  /// The row of the document's strategy.
  std::optional<int> chosen_row() const;
};

}  // namespace strata::gui
