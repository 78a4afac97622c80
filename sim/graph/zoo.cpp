#include "sim/graph/zoo.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/graph/zoo_net.h"

namespace strata {
namespace {

using Build = Graph (*)(std::string_view, std::int64_t);

struct Network {
  ZooEntry entry;
  Build build;
};

constexpr std::array kNetworks = {
    Network{{"lenet5", "LeNet-5, 1x32x32 (LeCun et al. 1998; C3 fully connected, tanh)"},
            build_lenet5},
    Network{{"alexnet", "AlexNet, one tower, 3x224x224 (Krizhevsky 2014, \"one weird trick\")"},
            build_alexnet},
    Network{{"vgg16", "VGG-16, 3x224x224 (Simonyan and Zisserman 2015, configuration D)"},
            build_vgg16},
    Network{{"inception_v3", "Inception-v3, 3x299x299, no auxiliary head (Szegedy et al. 2016)"},
            build_inception_v3},
};

std::string known_names() {
  std::string names;
  for (const Network& network : kNetworks) {
    names += names.empty() ? "" : ", ";
    names += network.entry.name;
  }
  return names;
}

const Network* find(std::string_view name) {
  const auto it = std::find_if(kNetworks.begin(), kNetworks.end(),
                               [&](const Network& network) { return network.entry.name == name; });
  return it == kNetworks.end() ? nullptr : &*it;
}

}  // namespace

std::span<const ZooEntry> zoo() {
  static const auto kEntries = [] {
    std::array<ZooEntry, kNetworks.size()> entries;
    std::transform(kNetworks.begin(), kNetworks.end(), entries.begin(),
                   [](const Network& network) { return network.entry; });
    return entries;
  }();
  return kEntries;
}

bool in_zoo(std::string_view name) {
  return find(name) != nullptr;
}

Graph build_zoo(std::string_view name, std::int64_t batch) {
  if (const Network* network = find(name)) return network->build(name, batch);
  throw InputError(fmt::format("unknown model {}; the zoo has {}", name, known_names()));
}

}  // namespace strata
