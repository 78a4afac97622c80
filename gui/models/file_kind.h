#pragma once

// What a file is, by what is in it and not by what it is called: a network, a cluster and a
// scenario all end in .toml. Only its beginning is looked at, and nothing is checked: the reader of
// its kind says what is wrong with it. Pure but for the file; thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gui/document/document.h"

namespace strata::gui {

enum class FileKind : std::uint8_t {
  model,     ///< TOML with layers
  cluster,   ///< TOML with devices, links or a grid
  scenario,  ///< TOML with sweeps or a report
  profile,   ///< TOML of a kind of device
  strategy,  ///< JSON with the configs of layers
  trace,     ///< trace-event JSON
  session,   ///< a SavedDesk
  database,  ///< SQLite
  onnx,
  unknown
};

/// For people: "a network", "a database".
std::string_view name(FileKind kind);

/// Throws InputError for a file that is missing, a folder, or not to be read.
FileKind kind_of_file(const std::string& file);
/// Of its first bytes, all of them where it is short. `file` helps where they say nothing: it is
/// empty, or its kind has no marks.
FileKind kind_of_bytes(std::string_view beginning, std::string_view file);

/// "FILE: what it is cannot be told; allowed: ...": for a file of no kind.
std::string unknown_file(const std::string& file);

// A file that somebody opens: what it is, read and checked, and what it makes of the desk. A part
// of a case (a network, a cluster, a strategy, a profile) becomes a part of the document. Pure but
// for the file; thread-safe.

struct ReadFile {
  std::string file;
  FileKind kind = FileKind::unknown;
  Unsupported unsupported = Unsupported::refuse;  ///< of an ONNX network: opaque where it must be
  std::optional<SavedDesk> session = {};

  /// A network, a cluster, a strategy or a profile.
  bool is_part() const;
};

/// A network of the zoo or a cluster of the box by its name, where no file is called so.
bool is_named(const std::string& name);

/// What is wrong with a part it says now: `desk` is what it is to become a part of. Databases,
/// scenarios and traces are read by the views that show them. Throws InputError.
ReadFile read_for(const std::string& file, const Document& desk);

/// The desk with that part. On an empty desk a strategy lies on the case that it says it is for,
/// and other parts beside usual_document()'s. Throws InputError for a strategy that is for another
/// network or cluster than those that come with Strata.
Document with_part(const Document& desk, const ReadFile& part);

}  // namespace strata::gui
