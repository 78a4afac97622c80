#include "gui/models/sweep/result_file.h"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "gui/models/sweep/result_set.h"
#include "sim/base/cancel.h"

namespace strata::gui {
namespace {

constexpr int kLookEvery = 500;  // milliseconds
constexpr int kTick = 100;       // milliseconds: what comes in the same one may have the same time
constexpr std::size_t kFirstPiece = 1000;
constexpr std::size_t kLargestPiece = 32000;
constexpr QLatin1String kResultsLane("results");
constexpr std::array kFiles{"", "-wal"};  // of a store, behind its name

// Of two stores, rows with the same number differ in this; empty where there is no such row.
std::string known_by(Store& store, std::int64_t id) {
  const QueryResult row =
      store.query(fmt::format("SELECT hex(key) || finished FROM result WHERE id = {}", id));
  return row.rows.empty() ? std::string() : std::get<std::string>(row.rows[0].at(0));
}

}  // namespace

void check_results(const std::string& file) {
  Store store(file, OpenMode::read);
  store.scenarios();
  store.query(ResultBuilder::query(0, 1, {}));
}

/// What a job has read.
struct ResultFile::Piece {
  ResultSetPtr rows;  ///< null where none were new
  QStringList scenarios;
  bool more = false;
};

struct ResultFile::Reader {
  std::string file, scenario;
  ResultBuilder builder;
  std::size_t piece = kFirstPiece;
  std::optional<std::size_t> shown = 0;  ///< rows; nothing: those of another file
  std::string last_row = {};             ///< what the newest row is known by

  Piece read(const Progress& progress);
  void forget_another_file(Store& store);
};

// Rows never change, unless somebody has put another file in the place of theirs.
void ResultFile::Reader::forget_another_file(Store& store) {
  if (known_by(store, builder.last_id()) == last_row) return;
  builder = {};
  piece = kFirstPiece;
  shown.reset();
}

ResultFile::Piece ResultFile::Reader::read(const Progress& progress) {
  Store store(file, OpenMode::read);
  store.stop_when(progress.cancelled());
  Piece read;
  for (const std::string& name : store.scenarios()) read.scenarios << QString::fromStdString(name);
  forget_another_file(store);
  const QueryResult rows = store.query(ResultBuilder::query(builder.last_id(), piece, scenario));
  throw_if_cancelled(progress.cancelled());
  read.more = rows.rows.size() == piece;
  piece = std::min(2 * piece, kLargestPiece);
  builder.append(rows);
  last_row = known_by(store, builder.last_id());
  if (builder.rows() != shown) read.rows = builder.build();
  return read;
}

ResultFile::ResultFile(Jobs& jobs, QObject* parent) : QObject(parent), jobs_(jobs) {
  timer_.setInterval(kLookEvery);
  connect(&timer_, &QTimer::timeout, this, &ResultFile::look_if_changed);
  // One that was called off says nothing.
  connect(&jobs_, &Jobs::changed, this, [this] { reading_ = jobs_.busy(kResultsLane); });
}

void ResultFile::open(const std::string& file, const std::string& scenario) {
  jobs_.cancel(kResultsLane);
  file_ = file;
  scenario_ = scenario;
  reader_ = std::make_shared<Reader>(Reader{file, scenario, {}});
  reading_ = false;
  looking_.clear();
  seen_.clear();
  if (file.empty()) return timer_.stop();
  timer_.start();
  look();
}

// Beside a store in use lies its log; the store's own bytes change only now and then. A look at
// sizes and times opens neither.
QString ResultFile::stamp() const {
  QString stamp;
  for (const char* const suffix : kFiles) {
    const QFileInfo info(QString::fromStdString(file_ + suffix));
    if (!info.exists()) continue;
    stamp += QStringLiteral("%1 %2;").arg(info.size()).arg(info.lastModified().toMSecsSinceEpoch());
  }
  return stamp;
}

// A write in the tick of the one before leaves size and time of the log as they are.
std::int64_t ResultFile::newest_write() const {
  std::int64_t newest = 0;
  for (const char* const suffix : kFiles) {
    const QFileInfo info(QString::fromStdString(file_ + suffix));
    if (info.exists())
      newest = std::max<std::int64_t>(newest, info.lastModified().toMSecsSinceEpoch());
  }
  return newest;
}

void ResultFile::look_if_changed() {
  if (!reading_ && (!settled_ || stamp() != seen_)) look();
}

void ResultFile::look() {
  if (reading_) return;
  settled_ = newest_write() < QDateTime::currentMSecsSinceEpoch() - kTick;
  looking_ = stamp();
  if (looking_.isEmpty()) return;  // a sweep will make it
  read_on(reader_);
}

void ResultFile::read_on(const std::shared_ptr<Reader>& reader) {
  reading_ = true;
  jobs_.start(
      this, kResultsLane, tr("Reading %1").arg(QFileInfo(QString::fromStdString(file_)).fileName()),
      [this, reader](Progress& progress) -> Jobs::Show {
        const Piece piece = reader->read(progress);
        return [this, reader, piece] { take(reader, piece); };
      },
      [this, reader](const QString& message) {
        if (reader != reader_) return;
        seen_ = looking_;  // until it changes it cannot be read
        emit failed(message);
      });
}

void ResultFile::take(const std::shared_ptr<Reader>& reader, const Piece& piece) {
  if (reader != reader_) return;
  if (piece.rows) reader->shown = piece.rows->rows();
  reading_ = piece.more;
  if (piece.more) read_on(reader);
  if (piece.scenarios != scenarios_) {
    scenarios_ = piece.scenarios;
    emit scenarios_read();
  }
  if (piece.rows) emit rows_read(piece.rows);
  if (piece.more) return;
  seen_ = looking_;
  emit looked();
}

}  // namespace strata::gui
