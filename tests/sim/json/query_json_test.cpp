// The rows of a query become objects.

#include "sim/json/query_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"

namespace strata {
namespace {

TEST(QueryJson, ARowIsAnObjectInTheOrderOfTheColumns) {
  const QueryResult result{{"strategy", "batch", "step_seconds", "error"},
                           {{std::string("data"), std::int64_t{64}, 0.5, Field{}}}};
  EXPECT_EQ(query_json(result).dump(),
            R"({"columns":["strategy","batch","step_seconds","error"],)"
            R"("rows":[{"strategy":"data","batch":64,"step_seconds":0.5,"error":null}]})");
}

TEST(QueryJson, WithoutRowsItHasAnEmptyList) {
  EXPECT_EQ(query_json({{"batch"}, {}}).dump(), R"({"columns":["batch"],"rows":[]})");
}

TEST(QueryJson, TwoColumnsOfOneNameAreRefused) {
  try {
    query_json({{"batch", "model", "batch"}, {}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), "two columns are named batch; allowed: other names, by AS");
  }
}

}  // namespace
}  // namespace strata
