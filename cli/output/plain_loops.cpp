#include "cli/output/plain_loops.h"

#include <fmt/format.h>

namespace strata {

nlohmann::ordered_json plain_loops_json(const PlainLoops& loops) {
  nlohmann::ordered_json json = {{"products", loops.products}, {"first_status", nullptr}};
  if (loops.products > 0) json["first_status"] = loops.first_status;
  return json;
}

std::string plain_loops_text(const PlainLoops& loops) {
  if (loops.products == 0) return "";
  return fmt::format(
      "{} of the convolutions' products are plain loops, which are slow: cuDNN runs no engine for "
      "them; the first: {}\n",
      loops.products, loops.first_status);
}

}  // namespace strata
