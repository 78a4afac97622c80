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

}  // namespace strata::gui
