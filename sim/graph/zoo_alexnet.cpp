// The single-tower AlexNet of Krizhevsky, "One weird trick for parallelizing convolutional neural
// networks", 2014, with torchvision's details and layer names.

#include "sim/graph/zoo_net.h"

namespace strata {

Graph build_alexnet(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  LayerId at = net.input(3, 224, 224);
  at = net.relu("features_1", net.conv("features_0", at, 64, windows2d(11, 4, 2)));
  at = net.max_pool("features_2", at, windows2d(3, 2));
  at = net.relu("features_4", net.conv("features_3", at, 192, windows2d(5, 1, 2)));
  at = net.max_pool("features_5", at, windows2d(3, 2));
  at = net.relu("features_7", net.conv("features_6", at, 384, windows2d(3, 1, 1)));
  at = net.relu("features_9", net.conv("features_8", at, 256, windows2d(3, 1, 1)));
  at = net.relu("features_11", net.conv("features_10", at, 256, windows2d(3, 1, 1)));
  at = net.max_pool("features_12", at, windows2d(3, 2));
  at = net.add("flatten", Flatten{}, net.average_to("avgpool", at, 6));
  at = net.fc("classifier_1", net.add("classifier_0", Dropout{}, at), 4096);
  at = net.relu("classifier_2", at);
  at = net.fc("classifier_4", net.add("classifier_3", Dropout{}, at), 4096);
  at = net.relu("classifier_5", at);
  at = net.fc("classifier_6", at, 1000);
  return std::move(net).with_loss(at);
}

}  // namespace strata
