#include "cli/output/json.h"

#include "cli/output/output.h"
#include "sim/json/fields.h"

namespace strata {

void print_json(const nlohmann::ordered_json& document) {
  print("{}\n", json_text(document));
}

}  // namespace strata
