#include "sim/train/dataset.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/graph/model_file.h"
#include "sim/importers/npy/npy.h"
#include "tests/folder.h"

namespace strata {
namespace {

using strata::testing::Folder;

// Pictures of 1 x 2, three classes.
Graph network(std::int64_t batch) {
  GraphBuilder net("net", batch);
  const LayerId data = net.add("data", Input{{{1, 1, 1, 1, 2}}}, {});
  const LayerId fc = net.add("fc", FullyConnected{.out_features = 3}, {data});
  net.add("loss", SoftmaxCrossEntropy{}, {fc});
  return std::move(net).build();
}

// Sample i has the values i and -i, and the label i modulo 3.
void write_samples(const Folder& folder, std::int64_t samples) {
  std::vector<float> values;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) {
    values.insert(values.end(), {static_cast<float>(i), static_cast<float>(-i)});
    labels.push_back(i % 3);
  }
  write_npy(folder.file("input.npy"), std::vector<std::int64_t>{samples, 1, 2}, values);
  write_npy(folder.file("labels.npy"), std::vector<std::int64_t>{samples}, labels);
}

// Which samples a batch holds, from its values; its labels and second values must agree.
std::vector<int> samples_of(const Batch& batch) {
  std::vector<int> samples;
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    samples.push_back(static_cast<int>(batch.inputs[0][2 * i]));
    EXPECT_EQ(batch.inputs[0][2 * i + 1], -batch.inputs[0][2 * i]);
    EXPECT_EQ(batch.labels[i], samples.back() % 3);
  }
  EXPECT_EQ(batch.inputs[0].size(), 2 * batch.labels.size());
  return samples;
}

TEST(Dataset, WrapsAroundAndNumbersBatchesByTheirSamples) {
  const Folder folder("wraps");
  write_samples(folder, 5);
  const Dataset data = load_dataset(folder.path(), network(2));
  const std::vector<std::vector<int>> expected = {{0, 1}, {2, 3}, {4, 0}, {1, 2}, {3, 4}, {0, 1}};
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_EQ(samples_of(data.batch(step)), expected[step]) << step;
    EXPECT_EQ(data.batch(step).number, expected[step].front()) << step;
  }
  EXPECT_EQ(samples_of(data.range(3, 1)), std::vector<int>{3});
}

TEST(Dataset, TakesStepsByTheFormulaWhateverTheSizes) {
  const Folder folder("formula");
  for (std::int64_t samples : {1, 2, 3, 7, 12}) {
    write_samples(folder, samples);
    for (std::int64_t batch : {1, 2, 5, 7, 12, 30}) {
      const Dataset data = load_dataset(folder.path(), network(batch));
      for (std::int64_t step = 0; step < 20; ++step) {
        const std::vector<int> held = samples_of(data.batch(step));
        ASSERT_EQ(held.size(), batch);
        for (std::int64_t i = 0; i < batch; ++i) {
          ASSERT_EQ(held[i], (step * batch + i) % samples) << samples << " " << batch;
        }
      }
    }
  }
}

std::string error_of(const std::string& folder) try {
  load_dataset(folder, network(2));
  return "none";
} catch (const InputError& error) {
  return error.message().substr(folder.size() + 1);
}

TEST(Dataset, RefusesWhatDoesNotFitTheNetwork) {
  const Folder folder("refuses");
  const std::string path = folder.path();
  EXPECT_EQ(error_of(path), "input.npy: cannot be read: No such file or directory");
  const std::string input = folder.file("input.npy"), labels = folder.file("labels.npy");
  const auto write_input = [&](std::vector<std::int64_t> shape, std::vector<float> values) {
    write_npy(input, shape, values);
  };
  const auto write_labels = [&](std::vector<std::int64_t> values) {
    write_npy(labels, std::vector{static_cast<std::int64_t>(values.size())}, values);
  };
  write_input({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(error_of(path), "input.npy: its shape is (2, 3); allowed: (N, 1, 2), N at least 1");
  write_input({0, 1, 2}, {});
  EXPECT_EQ(error_of(path), "input.npy: its shape is (0, 1, 2); allowed: (N, 1, 2), N at least 1");
  write_input({2, 1, 2}, {1, 2, std::numeric_limits<float>::infinity(), 4});
  EXPECT_EQ(error_of(path), "input.npy: sample 1 has the value inf; allowed: finite numbers");
  write_input({2, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(error_of(path), "labels.npy: cannot be read: No such file or directory");
  write_labels({0, 1, 2});
  EXPECT_EQ(error_of(path), "labels.npy: its shape is (3); allowed: (2), a label for every sample");
  write_labels({0, 3});
  EXPECT_EQ(error_of(path), "labels.npy: sample 1 has the label 3; allowed: 0 to 2");
  write_labels({-1, 0});
  EXPECT_EQ(error_of(path), "labels.npy: sample 0 has the label -1; allowed: 0 to 2");
  write_labels({2, 0});
  EXPECT_EQ(error_of(path), "none");
  write_input({2, 1, 1, 1, 2}, {1, 2, 3, 4});  // every dim written out
  EXPECT_EQ(error_of(path), "none");
}

TEST(Dataset, DrawsNormalValuesAndAllClasses) {
  const Graph graph = network(30000);
  const Dataset data = synthetic_dataset(graph, 1);
  const Batch batch = data.batch(0);
  double sum = 0, squares = 0;
  for (float value : batch.inputs[0]) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  // Four standard errors of 60,000 draws: 4 / sqrt(6e4) and 4 sqrt(2 / 6e4).
  EXPECT_NEAR(sum / 60000, 0, 0.017);
  EXPECT_NEAR(squares / 60000, 1, 0.023);
  for (std::int64_t label = 0; label < 3; ++label) {
    const auto drawn = std::count(batch.labels.begin(), batch.labels.end(), label);
    EXPECT_NEAR(static_cast<double>(drawn), 10000, 330);
  }
  EXPECT_EQ(data.batch(7).number, batch.number);
  EXPECT_NE(synthetic_dataset(graph, 2).batch(0).inputs[0][0], batch.inputs[0][0]);
}

// Three tokens of a vocabulary of four, and a label of five for each of them.
Graph token_network(std::int64_t batch) {
  GraphBuilder net("tokens", batch);
  const LayerId data = net.add("data", Input{{{1, 1, 1, 1, 3}}}, {});
  const LayerId vectors = net.add("vectors", Embedding{4, 2}, {data});
  net.add("loss", SoftmaxCrossEntropy{}, {net.add("head", Linear{5}, {vectors})});
  return std::move(net).build();
}

TEST(Dataset, HasALabelForEachPositionThatIsJudged) {
  const Folder folder("positions");
  write_npy(folder.file("input.npy"), std::vector<std::int64_t>{2, 1, 3},
            std::vector<float>{0, 1, 2, 3, 2, 1});
  write_npy(folder.file("labels.npy"), std::vector<std::int64_t>{2, 3},
            std::vector<std::int64_t>{0, 1, 2, 3, 4, 0});
  const Dataset data = load_dataset(folder.path(), token_network(1));
  const Batch second = data.batch(1);
  EXPECT_EQ(std::vector(second.inputs[0].begin(), second.inputs[0].end()),
            (std::vector<float>{3, 2, 1}));
  EXPECT_EQ(std::vector(second.labels.begin(), second.labels.end()),
            (std::vector<std::int64_t>{3, 4, 0}));
  const Dataset wrapped = load_dataset(folder.path(), token_network(3));
  EXPECT_EQ(wrapped.batch(0).labels.size(), 9);
  EXPECT_EQ(wrapped.batch(0).labels[8], 2);
}

// Tokens and what kind each is of.
TEST(Dataset, HasAFileForEachOfSeveralInputs) {
  GraphBuilder net("kinds", 1);
  const LayerId numbers = net.add("numbers", Input{{{1, 1, 1, 1, 2}}}, {});
  const LayerId kinds = net.add("kinds", Input{{{1, 1, 1, 1, 2}}}, {});
  const LayerId sum = net.add("sum", Add{},
                              {net.add("vectors", Embedding{4, 2}, {numbers}),
                               net.add("kind_vectors", Embedding{2, 2}, {kinds})});
  net.add("loss", SoftmaxCrossEntropy{}, {sum});
  const Graph graph = std::move(net).build();
  const Folder folder("kinds");
  const auto error = [&] {
    try {
      load_dataset(folder.path(), graph);
    } catch (const InputError& refused) {
      return refused.message().substr(folder.path().size() + 1);
    }
    return std::string("none");
  };
  write_npy(folder.file("numbers.npy"), std::vector<std::int64_t>{2, 1, 2},
            std::vector<float>{0, 1, 2, 3});
  write_npy(folder.file("labels.npy"), std::vector<std::int64_t>{2, 2},
            std::vector<std::int64_t>{0, 1, 0, 1});
  EXPECT_EQ(error(), "kinds.npy: cannot be read: No such file or directory");
  write_npy(folder.file("kinds.npy"), std::vector<std::int64_t>{1, 1, 2}, std::vector<float>{0, 1});
  EXPECT_EQ(error(),
            "kinds.npy: it has 1 samples; allowed: 2, as " + folder.file("numbers.npy") + " has");
  write_npy(folder.file("kinds.npy"), std::vector<std::int64_t>{2, 1, 2},
            std::vector<float>{0, 1, 2, 1});
  EXPECT_EQ(error(), "kinds.npy: sample 1 has the token 2; allowed: whole numbers, 0 to 1");
  write_npy(folder.file("kinds.npy"), std::vector<std::int64_t>{2, 1, 2},
            std::vector<float>{0, 1, 1, 0});
  const Dataset data = load_dataset(folder.path(), graph);
  const Batch second = data.batch(1);
  ASSERT_EQ(second.inputs.size(), 2U);
  EXPECT_EQ(second.inputs[0][1], 3);
  EXPECT_EQ(second.inputs[1][0], 1);
}

TEST(Dataset, RefusesTokensOfNoVocabularyAndLabelsOfSamplesAlone) {
  const Folder folder("tokens");
  const auto error = [&](std::vector<float> numbers, std::vector<std::int64_t> shape) {
    write_npy(folder.file("input.npy"), std::vector<std::int64_t>{2, 1, 3}, numbers);
    const std::int64_t labels = shape.size() == 1 ? 2 : 6;
    write_npy(folder.file("labels.npy"), shape,
              std::vector<std::int64_t>(static_cast<std::size_t>(labels)));
    try {
      load_dataset(folder.path(), token_network(1));
    } catch (const InputError& refused) {
      return refused.message().substr(folder.path().size() + 1);
    }
    return std::string("none");
  };
  EXPECT_EQ(error({0, 1, 2, 3, 4, 1}, {2, 3}),
            "input.npy: sample 1 has the token 4; allowed: whole numbers, 0 to 3");
  EXPECT_EQ(error({0, 1.5F, 2, 3, 0, 1}, {2, 3}),
            "input.npy: sample 0 has the token 1.5; allowed: whole numbers, 0 to 3");
  EXPECT_EQ(error({0, 1, 2, 3, 0, 1}, {2}),
            "labels.npy: its shape is (2); allowed: (2, 3), a label for every position of every "
            "sample");
}

TEST(SyntheticData, HasTokensOfTheVocabularyAndALabelForEach) {
  const Dataset data = synthetic_dataset(token_network(50), 3);
  const Batch batch = data.batch(0);
  std::vector<int> seen(4);
  for (float number : batch.inputs[0]) ++seen.at(static_cast<std::size_t>(number));
  for (int count : seen) EXPECT_GT(count, 15);
  EXPECT_EQ(batch.labels.size(), 150);
}

}  // namespace
}  // namespace strata
