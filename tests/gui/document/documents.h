#pragma once

// The documents that tests open: a network of the zoo on a cluster of the box, under a strategy.

#include <string>

#include "gui/document/document.h"

namespace strata::gui {

inline Document document_of(const std::string& model, const std::string& cluster,
                            const std::string& strategy = "data") {
  Document document;
  document.input.model = model;
  document.input.cluster = cluster;
  document.strategy.source = strategy;
  return document;
}

}  // namespace strata::gui
