#pragma once

// What an action's InputError says; "" if it throws none.

#include <string>

#include "sim/base/error.h"

namespace strata {

template <class Action>
std::string said(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

}  // namespace strata
