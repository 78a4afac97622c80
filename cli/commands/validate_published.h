#pragma once

// `strata validate --published`: predictions beside what others published.

#include <string>
#include <vector>

#include "sim/case/predict.h"

namespace strata {

struct PublishedFlags {
  std::vector<std::string> figures;  ///< names or .toml files; all that ship for none
  WhatIfs sets;
  std::string output;  ///< a .md file, with its pictures beside it, or an .html file
  bool json = false;
  std::string typed;  ///< the command line
};

void validate_published(const PublishedFlags& flags);

}  // namespace strata
