#include "gui/models/file_kind.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"
#include "sim/profile/profile.h"
#include "sim/search/asked_strategy.h"
#include "sim/search/solve.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"

namespace strata::gui {
namespace {

constexpr std::size_t kLookedAt = std::size_t{1} << 18;
constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::string_view kBlanks = " \t\r\n";

using Mark = std::pair<std::string_view, FileKind>;

// A file may have several of them (a report's `kind` behind its [[report]]): the first that begins
// a line decides. Of one that nobody closed it is for its reader to say where.
constexpr std::array<Mark, 13> kTomlMarks = {{{"[[layer", FileKind::model},
                                              {"[[sweep", FileKind::scenario},
                                              {"[[report", FileKind::scenario},
                                              {"[sweep", FileKind::scenario},
                                              {"[[device", FileKind::cluster},
                                              {"[[switch", FileKind::cluster},
                                              {"[[link", FileKind::cluster},
                                              {"[[route", FileKind::cluster},
                                              {"[grid", FileKind::cluster},
                                              {"[provenance", FileKind::profile},
                                              {"[peak", FileKind::profile},
                                              {"[device", FileKind::profile},
                                              {"kind =", FileKind::profile}}};

constexpr std::array<Mark, 7> kJsonMarks = {{{"\"strata_document\"", FileKind::session},
                                             {"\"strata_session\"", FileKind::session},
                                             {"\"traceEvents\"", FileKind::trace},
                                             {"\"ph\"", FileKind::trace},
                                             {"\"strategy\"", FileKind::strategy},
                                             {"\"layers\"", FileKind::strategy},
                                             {"\"default\"", FileKind::strategy}}};

// Names count where the content says nothing. A database that somebody has open is known by its
// name alone: to close any descriptor of it would drop the locks of this process's connections.
constexpr std::array<Mark, 4> kSuffixes = {{{".db", FileKind::database},
                                            {".sqlite", FileKind::database},
                                            {".sqlite3", FileKind::database},
                                            {".onnx", FileKind::onnx}}};

FileKind kind_by_name(std::string_view file) {
  for (const auto& [suffix, kind] : kSuffixes) {
    if (file.ends_with(suffix)) return kind;
  }
  return FileKind::unknown;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

FileKind kind_of_toml(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = without_blanks(text.substr(0, end + 1));
    for (const auto& [mark, kind] : kTomlMarks) {
      if (line.starts_with(mark)) return kind;
    }
    text.remove_prefix(end + 1);
  }
  return FileKind::unknown;
}

FileKind kind_of_json(std::string_view text) {
  for (const auto& [mark, kind] : kJsonMarks) {
    if (text.find(mark) != std::string_view::npos) return kind;
  }
  return FileKind::unknown;
}

// A protobuf message whose first field is the version of ONNX's IR, a small number.
bool looks_like_onnx(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 32 && bytes[2] == 0x12;
}

std::string beginning_of(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  std::ifstream in(file, std::ios::binary);
  if (std::filesystem::is_directory(status)) errno = EISDIR;
  if (!in || std::filesystem::is_directory(status)) {
    throw InputError(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  }
  std::string bytes(kLookedAt, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

bool is_preset(const std::string& cluster) try {
  preset_cluster(cluster);
  return true;
} catch (const InputError&) {
  return false;
}

// On an empty desk it lies on what it says that it is for. What does not come with Strata is known
// to it by its name, and not by its file.
Document case_of_strategy(const std::string& file) {
  const auto [model, cluster] = read_strategy_names(file);
  const auto check = [&](bool known, std::string_view what, const std::string& name) {
    if (known || name.empty()) return;
    throw InputError(fmt::format("{}: it is for the {} {}; allowed: open the file of that first",
                                 file, what, name));
  };
  check(in_zoo(model), "network", model);
  check(is_preset(cluster), "cluster", cluster);
  Document document = usual_document();
  if (!model.empty()) document.input.model = model;
  return cluster.empty() ? document : document.with_cluster(cluster);
}

// Opaque ops where there must be some: the table of layers names them. Throws InputError where not
// even that helps.
Unsupported needed_by(const std::string& file) try {
  load_model(file, 1);
  return Unsupported::refuse;
} catch (const InputError&) {
  load_model(file, 1, Unsupported::opaque);
  return Unsupported::opaque;
}

SavedDesk read_session(const std::string& file) {
  SavedDesk desk = parse_desk(read_file(file), file);
  load_case(desk.document.input);
  return desk;
}

Document with_profile(Document document, const std::string& file) {
  document.input.profiles.push_back(file);
  return document;
}

}  // namespace

std::string_view name(FileKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {
      "a network", "a cluster", "a scenario", "a profile",       "a strategy",
      "a trace",   "a session", "a database", "an ONNX network", "of no known kind"};
  return kNames.at(static_cast<std::size_t>(kind));
}

FileKind kind_of_bytes(std::string_view beginning, std::string_view file) {
  if (beginning.starts_with(kSqliteMagic)) return FileKind::database;
  if (looks_like_onnx(beginning)) return FileKind::onnx;
  const std::string_view text = without_blanks(beginning);
  // TOML has no line that begins as a list of objects does.
  const bool list = text.starts_with('[') && without_blanks(text.substr(1)).starts_with('{');
  const bool json =
      text.starts_with('{') || list || (text.starts_with('[') && file.ends_with(".json"));
  const FileKind marked = json ? kind_of_json(text) : kind_of_toml(text);
  return marked != FileKind::unknown ? marked : kind_by_name(file);
}

FileKind kind_of_file(const std::string& file) {
  const bool there = std::filesystem::is_regular_file(file);
  if (there && kind_by_name(file) == FileKind::database) return FileKind::database;
  return kind_of_bytes(beginning_of(file), file);
}

std::string unknown_file(const std::string& file) {
  return fmt::format(
      "{}: what it is cannot be told from what is in it; allowed: a network ([[layer]], or ONNX), "
      "a "
      "cluster ([[device]] or [grid]), a scenario ([[sweep]]), a strategy or a trace (.json), a "
      "database of a sweep",
      file);
}

bool ReadFile::is_part() const {
  switch (kind) {
    case FileKind::model:
    case FileKind::onnx:
    case FileKind::cluster:
    case FileKind::profile:
    case FileKind::strategy:
      return true;
    default:
      return false;
  }
}

bool is_named(const std::string& name) {
  return !std::filesystem::exists(name) && (in_zoo(name) || is_preset(name));
}

ReadFile read_for(const std::string& file, const Document& desk) {
  if (is_named(file)) return {file, in_zoo(file) ? FileKind::model : FileKind::cluster};
  ReadFile read{file, kind_of_file(file)};
  switch (read.kind) {
    case FileKind::model:
      read_model(file, 1);
      break;
    case FileKind::onnx:
      read.unsupported = needed_by(file);
      break;
    case FileKind::cluster:
      read_cluster(file);
      break;
    case FileKind::profile:
      read_profile(file);
      break;
    case FileKind::strategy:
      load_strategy(file, load_case(with_part(desk, read).input));
      break;
    case FileKind::session:
      read.session = read_session(file);
      break;
    case FileKind::unknown:
      throw InputError(unknown_file(file));
    default:
      break;
  }
  return read;
}

Document with_part(const Document& desk, const ReadFile& part) {
  const bool strategy = part.kind == FileKind::strategy;
  Document next = !desk.empty() ? desk : strategy ? case_of_strategy(part.file) : usual_document();
  if (strategy) {
    next.strategy = {part.file};
    return next;
  }
  if (part.kind == FileKind::cluster) return next.with_cluster(part.file);
  if (part.kind == FileKind::profile) return with_profile(std::move(next), part.file);
  next = next.with_model(part.file);
  next.input.unsupported = part.unsupported;
  return next;
}

}  // namespace strata::gui
