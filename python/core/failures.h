#pragma once

// What is no error of the library's but an exception of Python's: an answer without what was asked.

#include "sim/base/error.h"

namespace strata::python {

/// No strategy fits in the devices' memory. The command ends with exit code 1 then.
class Infeasible : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 1; }
};

}  // namespace strata::python
