#include "tests/paths.h"

namespace strata {

std::string source_path(std::string_view name) {
  return std::string(STRATA_SOURCE_DIR "/").append(name);
}

}  // namespace strata
