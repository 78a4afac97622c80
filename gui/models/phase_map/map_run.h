#pragma once

// A phase map (sim/study/phase_map) that is evaluated in the background and looked at meanwhile:
// cells are there as they are found. Lives in the window's thread.

#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <vector>

#include "gui/models/jobs.h"
#include "sim/study/phase_map/phase_map.h"

namespace strata::gui {

class MapRun : public QObject {
  Q_OBJECT

 public:
  explicit MapRun(Jobs& jobs, QObject* parent = nullptr);
  /// Calls it off.
  ~MapRun() override;

  /// Takes the place of the map before.
  void start(const PhaseMapRequest& request);
  /// What is found by then stays.
  void stop();

  bool running() const;
  /// No cells before the first start.
  const PhaseMap& map() const { return map_; }
  const PhaseMapRequest& request() const { return request_; }
  /// False for a cell that the map has not: after a failed run it has none.
  bool knows(std::size_t column, std::size_t row) const {
    const std::size_t columns = map_.x.values.size(), place = row * columns + column;
    return column < columns && place < known_.size() && known_[place] != 0;
  }
  std::size_t known() const { return count_; }

 signals:
  void changed();  ///< running() or the cells; at most ten times a second
  void failed(const QString& message);

 private:
  struct Found;

  void look();
  void clear(const PhaseMapRequest& request);

  Jobs& jobs_;
  PhaseMapRequest request_;
  PhaseMap map_;
  std::vector<char> known_;  ///< by cell
  std::size_t count_ = 0;
  std::shared_ptr<Found> found_;  ///< of the newest run
  QTimer timer_;
};

}  // namespace strata::gui
