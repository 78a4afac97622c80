// The sentence classifier of Kim, "Convolutional neural networks for sentence classification",
// 2014: windows of 3, 4 and 5 words with 100 feature maps each, the maximum over the sentence,
// dropout, two classes. Its input is the word vectors (300 numbers each, as word2vec's) of a
// sentence of 64 words: they are data here, as in the paper's "static" variant.

#include <fmt/format.h>

#include "sim/graph/zoo_net.h"

namespace strata {

Graph build_textcnn(std::string_view name, std::int64_t batch) {
  Net net(name, batch);
  const LayerId words = net.input(300, 1, 64);
  std::vector<LayerId> branches;
  for (std::int64_t kernel : {3, 4, 5}) {
    Windows windows;
    windows.w.kernel = kernel;
    LayerId at =
        net.add(fmt::format("conv{}", kernel), Convolution{1, 100, windows, 1, true}, words);
    at = net.relu(fmt::format("relu{}", kernel), at);
    const AdaptivePooling over_sentence{1, PoolMode::max, 1, 1, 1};
    branches.push_back(net.add(fmt::format("pool{}", kernel), over_sentence, at));
  }
  LayerId at = net.join("concat", Concat{}, branches);
  at = net.add("dropout", Dropout{}, net.add("flatten", Flatten{}, at));
  at = net.fc("fc", at, 2);
  return std::move(net).with_loss(at);
}

}  // namespace strata
