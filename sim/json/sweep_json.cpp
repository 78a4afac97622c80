#include "sim/json/sweep_json.h"

#include <nlohmann/json.hpp>

namespace strata {

nlohmann::ordered_json sweep_json(const SweepRequest& request, const SweepCount& count) {
  return {{"scenario", request.scenario.name},
          {"database", request.store},
          {"shard", request.shard},
          {"shards", request.shards},
          {"cases", count.cases},
          {"before", count.before},
          {"done", count.done},
          {"failed", count.failed},
          {"elsewhere", count.elsewhere},
          {"unanswered", count.unanswered}};
}

}  // namespace strata
