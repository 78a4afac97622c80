#pragma once

// A file of the source tree whose text is compiled in (cmake/EmbedFiles.cmake).

#include <string_view>

namespace strata {

struct EmbeddedFile {
  std::string_view name;  ///< without folder and extension
  std::string_view text;
};

}  // namespace strata
