#pragma once

// Cases as lines to be read: "model=alexnet cluster=p100-4x4 strategy=data".

#include <string>

#include "sim/scenario/scenario.h"

namespace strata {

inline std::string case_line(const Sweep& sweep, std::size_t i) {
  std::string line;
  for (const auto& [key, value] : sweep.at(i)) {
    line += (line.empty() ? "" : " ") + key + "=" + value;
  }
  return line;
}

inline std::string case_lines(const Sweep& sweep) {
  std::string lines;
  for (std::size_t i = 0; i < sweep.count(); ++i) lines += case_line(sweep, i) + "\n";
  return lines;
}

}  // namespace strata
