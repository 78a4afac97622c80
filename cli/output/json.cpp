#include "cli/output/json.h"

#include "cli/output/output.h"

namespace strata {

void print_json(const nlohmann::ordered_json& document) {
  // Names of files need not be UTF-8, and JSON is.
  using Handler = nlohmann::ordered_json::error_handler_t;
  print("{}\n", document.dump(2, ' ', false, Handler::replace));
}

}  // namespace strata
