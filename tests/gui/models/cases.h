#pragma once

// The documents that tests open, predicted.

#include <string>

#include "gui/models/scene.h"
#include "tests/gui/document/documents.h"

namespace strata::gui {

inline ScenePtr scene_of(const Document& document) {
  CaseLoader loader;
  return make_scene(document, loader);
}

inline ScenePtr scene_of(const std::string& model, const std::string& cluster,
                         const std::string& strategy = "data") {
  return scene_of(document_of(model, cluster, strategy));
}

}  // namespace strata::gui
