#pragma once

// A store's rows, read in pieces by a job so that the first of them are there at once, and new ones
// as they come. Rows of a store are never changed, so only those behind the last one are read;
// where another store has taken its place, all are read anew. Lives in the window's thread; nothing
// of it waits for the file.

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <memory>
#include <string>
#include <vector>

#include "gui/models/jobs.h"
#include "gui/models/sweep/result_set.h"

namespace strata::gui {

/// Whether the file is a store whose rows can be read: else throws InputError, EnvironmentError.
/// Any thread.
void check_results(const std::string& file);

class ResultFile : public QObject {
  Q_OBJECT

 public:
  explicit ResultFile(Jobs& jobs, QObject* parent = nullptr);

  /// An empty name: nothing. `scenario`: only its cases; empty: all of the file.
  void open(const std::string& file, const std::string& scenario = {});
  const std::string& file() const { return file_; }
  const std::string& scenario() const { return scenario_; }
  /// Of the file, newest first.
  const QStringList& scenarios() const { return scenarios_; }
  bool reading() const { return reading_; }
  /// Looks at once for rows that have come.
  void look();

 signals:
  void rows_read(const ResultSetPtr& rows);
  void scenarios_read();
  void looked();  ///< behind the two above: nothing more was there
  void failed(const QString& message);

 private:
  struct Reader;
  struct Piece;

  void look_if_changed();
  void read_on(const std::shared_ptr<Reader>& reader);
  void take(const std::shared_ptr<Reader>& reader, const Piece& piece);
  QString stamp() const;
  std::int64_t newest_write() const;

  Jobs& jobs_;
  std::string file_, scenario_;
  QStringList scenarios_;
  std::shared_ptr<Reader> reader_;  ///< used by one job at a time
  bool reading_ = false;
  QString looking_;      ///< stamp() of the look that began last
  QString seen_;         ///< of the last that went to its end: one that was called off saw nothing
  bool settled_ = true;  ///< nothing was written just before it
  QTimer timer_;
};

}  // namespace strata::gui
