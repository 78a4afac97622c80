#include "sim/graph/zoo.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/graph/zoo_families.h"
#include "sim/graph/zoo_net.h"
#include "sim/text/near_names.h"

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
    Network{{"resnet18", "ResNet-18, 3x224x224 (He et al. 2016)"}, build_resnet18},
    Network{{"resnet50", "ResNet-50, 3x224x224 (He et al. 2016; stride on the 3x3, \"v1.5\")"},
            build_resnet50},
    Network{{"resnet101", "ResNet-101, 3x224x224 (He et al. 2016; stride on the 3x3, \"v1.5\")"},
            build_resnet101},
    Network{{"resnet152", "ResNet-152, 3x224x224 (He et al. 2016; stride on the 3x3, \"v1.5\")"},
            build_resnet152},
    Network{{"googlenet", "GoogLeNet, 3x224x224, no auxiliary heads (Szegedy et al. 2015)"},
            build_googlenet},
    Network{{"densenet121", "DenseNet-121, 3x224x224 (Huang et al. 2017)"}, build_densenet121},
    Network{{"mobilenet_v2", "MobileNetV2, 3x224x224 (Sandler et al. 2018)"}, build_mobilenet_v2},
    Network{{"r3d_18", "3-D ResNet-18 over video, 3x16x112x112 (Tran et al. 2018)"}, build_r3d_18},
    Network{{"textcnn", "1-D convolutions over 64 word vectors of 300 (Kim 2014)"}, build_textcnn},
};

std::vector<ZooEntry> entries() {
  const auto members = family_members();
  std::vector<ZooEntry> entries;
  entries.reserve(kNetworks.size() + members.size());
  for (const Network& network : kNetworks) entries.push_back(network.entry);
  entries.insert(entries.end(), members.begin(), members.end());
  return entries;
}

const Network* find(std::string_view name) {
  const auto it = std::find_if(kNetworks.begin(), kNetworks.end(),
                               [&](const Network& network) { return network.entry.name == name; });
  return it == kNetworks.end() ? nullptr : &*it;
}

}  // namespace

std::span<const ZooEntry> zoo() {
  static const std::vector<ZooEntry> kEntries = entries();
  return kEntries;
}

std::span<const ZooEntry> convolutional_zoo() {
  return zoo().first(kNetworks.size());
}

bool in_zoo(std::string_view name) {
  return find(name) != nullptr || in_family(name);
}

namespace {

/// "; near it: vgg16", or nothing.
std::string near_it(std::string_view name, std::span<const std::string_view> known) {
  const auto near = near_names(name.substr(0, name.find(':')), known);
  return near.empty() ? "" : fmt::format("; near it: {}", fmt::join(near, ", "));
}

[[noreturn]] void fail_unknown(std::string_view name) {
  std::vector<std::string_view> known;
  for (const ZooEntry& entry : zoo()) known.push_back(entry.name);
  throw InputError(
      fmt::format("unknown model '{}'{}; allowed: {}, a size of a family ({}; as gpt2:seq=256), or "
                  "a file ending in .toml or .onnx",
                  name, near_it(name, known), fmt::join(known, ", "), family_names()));
}

}  // namespace

Graph build_zoo(std::string_view name, std::int64_t batch) {
  if (const Network* network = find(name)) return network->build(name, batch);
  if (in_family(name)) return build_of_family(name, batch);
  fail_unknown(name);
}

}  // namespace strata
