#pragma once

// The cases that tests open: a network of the zoo on a cluster of the box, under a strategy.

#include <string>

#include "gui/models/document.h"
#include "gui/models/scene.h"

namespace strata::gui {

inline Document document_of(const std::string& model, const std::string& cluster,
                            const std::string& strategy = "data") {
  Document document;
  document.input.model = model;
  document.input.cluster = cluster;
  document.strategy.source = strategy;
  return document;
}

inline ScenePtr scene_of(const Document& document) {
  CaseLoader loader;
  return make_scene(document, loader);
}

inline ScenePtr scene_of(const std::string& model, const std::string& cluster,
                         const std::string& strategy = "data") {
  return scene_of(document_of(model, cluster, strategy));
}

}  // namespace strata::gui
