// Amounts of what-ifs by their form.

#include "sim/text/what_if_key.h"

#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace strata {
namespace {

TEST(WhatIfKey, ReadsAmountsByTheirForm) {
  EXPECT_EQ(parse_amount(WhatIfForm::bandwidth, "25 GB/s"), 25e9);
  EXPECT_EQ(parse_amount(WhatIfForm::latency, "10 us"), 10e-6);
  EXPECT_EQ(parse_amount(WhatIfForm::duration, "80us"), 80e-6);
  EXPECT_EQ(parse_amount(WhatIfForm::size, "40 GB"), 40e9);
  EXPECT_EQ(parse_amount(WhatIfForm::speed, "0.5"), 0.5);
  EXPECT_THROW(parse_amount(WhatIfForm::word, "on"), InputError);
  EXPECT_THROW(parse_amount(WhatIfForm::latency, "25 GB/s"), InputError);
}

TEST(WhatIfKey, WhatIsPrintedReadsBack) {
  for (const auto& [form, amount] : {std::pair{WhatIfForm::bandwidth, 25e9},
                                     {WhatIfForm::latency, 12e-6},
                                     {WhatIfForm::duration, 80e-6},
                                     {WhatIfForm::size, 40e9},
                                     {WhatIfForm::speed, 0.25}}) {
    EXPECT_DOUBLE_EQ(parse_amount(form, print_amount(form, amount)), amount);
  }
}

}  // namespace
}  // namespace strata
