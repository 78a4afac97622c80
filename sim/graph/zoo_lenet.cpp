// LeNet-5 of LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document
// recognition", 1998, in the form in which it is taught today: C3 connects every map (the paper
// left some connections out), the subsampling layers are plain average pooling (theirs had two
// trainable numbers per map), and softmax cross-entropy stands for the radial basis functions.

#include "sim/graph/zoo_net.h"

namespace strata {

Graph build_lenet5(std::string_view name, std::int64_t batch) {
  const Activation tanh{ActivationKind::tanh};
  Net net(name, batch);
  LayerId at = net.input(1, 32, 32);
  at = net.conv("conv1", at, 6, windows2d(5));
  at = net.add("tanh1", tanh, at);
  at = net.average_pool("pool1", at, windows2d(2, 2));
  at = net.conv("conv2", at, 16, windows2d(5));
  at = net.add("tanh2", tanh, at);
  at = net.average_pool("pool2", at, windows2d(2, 2));
  at = net.add("flatten", Flatten{}, at);
  at = net.fc("fc1", at, 120);
  at = net.add("tanh3", tanh, at);
  at = net.fc("fc2", at, 84);
  at = net.add("tanh4", tanh, at);
  at = net.fc("fc3", at, 10);
  return std::move(net).with_loss(at);
}

}  // namespace strata
