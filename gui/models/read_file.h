#pragma once

// A file that somebody opens: what it is, read and checked, and what it makes of the desk. A part
// of a case (a network, a cluster, a strategy, a profile) becomes a part of the document. Pure but
// for the file; thread-safe.

#include <optional>
#include <string>

#include "gui/models/document.h"
#include "gui/models/file_kind.h"

namespace strata::gui {

struct ReadFile {
  std::string file;
  FileKind kind = FileKind::unknown;
  Unsupported unsupported = Unsupported::refuse;  ///< of an ONNX network: opaque where it must be
  std::optional<Document> session = {};

  /// A network, a cluster, a strategy or a profile.
  bool is_part() const;
};

/// What is wrong with a part it says now: `desk` is what it is to become a part of. Databases,
/// scenarios and traces are read by the views that show them. Throws InputError.
ReadFile read_for(const std::string& file, const Document& desk);

/// The desk with that part. On an empty desk a strategy lies on the case that it says it is for,
/// and other parts beside usual_document()'s. Throws InputError for a strategy that is for another
/// network or cluster than those that come with Strata.
Document with_part(const Document& desk, const ReadFile& part);

}  // namespace strata::gui
