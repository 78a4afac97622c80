// Memory over time, by purpose, against the simulator's own curves, and the tensors at a moment.

#include "sim/timeline/memory.h"

#include <QAbstractItemModelTester>
#include <numeric>

#include <gmock/gmock.h>

#include "gui/models/memory/memory_stack.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MemoryTest : public ::testing::Test {
 protected:
  static ScenePtr scene() {
    Document document;
    document.input.model = "alexnet";
    document.input.cluster = "p100-1x2";
    document.strategy.source = "owt";
    CaseLoader loader;
    return make_scene(document, loader);
  }
  const Plan& plan() const { return scene_->prediction.plan; }
  const Timeline& timeline() const { return scene_->prediction.timeline; }

  ScenePtr scene_ = scene();
  std::shared_ptr<const MemoryPicture> picture_ = picture_memory(scene_);
};

TEST_F(MemoryTest, TheStackIsAsHighAsTheCurve) {
  const auto curves = memory_curves(plan(), timeline());
  for (std::size_t device = 0; device < 2; ++device) {
    const MemoryStack& stack = *picture_->stacks[device];
    EXPECT_EQ(stack.peak_bytes(), scene_->prediction.peak_memory[device]);
    EXPECT_GE(stack.levels[stack.peak].at, picture_->steady.begin.value);
    EXPECT_LE(stack.levels[stack.peak].at, picture_->steady.end.value);
    const auto& curve = curves[device];
    for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
      if (curve[i + 1].at == curve[i].at) continue;  // on the way at one instant
      EXPECT_EQ(stack.level_at(curve[i].at.value).total(), curve[i].bytes.value);
    }
    EXPECT_EQ(stack.capacity, memory_capacity(scene_->input, DeviceId(device)));
  }
}

TEST_F(MemoryTest, TheTensorsOfAMomentAreItsLevel) {
  const MemoryStack& stack = *picture_->stacks[1];
  for (std::size_t i = 0; i < stack.levels.size(); i += 7) {
    const MemoryStack::Level& level = stack.levels[i];
    std::array<std::int64_t, kMemoryUseKinds> bytes{};
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (const LiveTensor& tensor : live_tensors(plan(), timeline(), DeviceId(1), level.at)) {
      const Buffer& buffer = plan().buffers()[tensor.buffer];
      bytes[static_cast<std::size_t>(use_of(buffer.kind))] += buffer.bytes.value;
      EXPECT_LE(buffer.bytes.value, before);
      before = buffer.bytes.value;
    }
    EXPECT_EQ(bytes, level.bytes) << level.at;
  }
}

TEST_F(MemoryTest, FindsTheHighestLevelOfAStretch) {
  const MemoryStack& stack = *picture_->stacks[0];
  const double peak = stack.levels[stack.peak].at;
  EXPECT_EQ(stack.highest(0, picture_->end).total(), stack.peak_bytes().value);
  EXPECT_EQ(stack.highest(peak, peak).total(), stack.peak_bytes().value);
  EXPECT_EQ(stack.highest(0, 0).at, 0);
  const std::size_t i = stack.levels.size() / 2;
  EXPECT_EQ(&stack.level_at(stack.levels[i].at), &stack.levels[i]);
  EXPECT_EQ(&stack.level_at(1e9), &stack.levels.back());
}

MemoryPicture two_devices(std::int64_t first_peak, std::int64_t second_peak) {
  MemoryPicture picture;
  for (const std::int64_t peak : {first_peak, second_peak}) {
    MemoryStack stack;
    stack.levels.push_back({0, {peak}});
    stack.capacity = Bytes{100};
    picture.highest = std::max(picture.highest, peak);
    picture.stacks.push_back(std::make_shared<const MemoryStack>(stack));
  }
  picture.capacity = 100;
  return picture;
}

TEST(MemoryPictureTest, ShowsTheCapacityWhereAPeakComesNearIt) {
  EXPECT_EQ(two_devices(14, 60).fitting_scale(), MemoryScale::peak);
  EXPECT_EQ(two_devices(14, 61).fitting_scale(), MemoryScale::capacity);
  EXPECT_EQ(two_devices(130, 14).fitting_scale(), MemoryScale::capacity);
  EXPECT_EQ(two_devices(14, 60).top(MemoryScale::peak), 60);
  EXPECT_EQ(two_devices(14, 60).top(MemoryScale::capacity), 100);
  EXPECT_EQ(two_devices(130, 14).top(MemoryScale::capacity), 130);
}

TEST(MemoryPictureTest, TicksAreRoundNumbersOfBytes) {
  EXPECT_THAT(byte_ticks(240, 5), ElementsAre(50, 100, 150, 200));
  EXPECT_THAT(byte_ticks(240, 2), ElementsAre(200));
  EXPECT_THAT(byte_ticks(9, 10), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_TRUE(byte_ticks(1, 3).empty());
}

TEST_F(MemoryTest, TheTableListsTheTensorsOfThePeak) {
  TensorTable table;
  const QAbstractItemModelTester tester(&table,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_EQ(table.rowCount(), 0);
  const MemoryStack& stack = *picture_->stacks[0];
  table.show(scene_, DeviceId(0), stack.levels[stack.peak].at);
  EXPECT_EQ(table.total(), stack.peak_bytes());
  double share = 0;
  for (int row = 0; row < table.rowCount(); ++row) {
    share += table.index(row, TensorTable::kShare).data(Qt::UserRole).toDouble();
    const auto layer = table.index(row, TensorTable::kLayer).data().toString().toStdString();
    EXPECT_EQ(layer, scene_->input.graph[table.layer(row)].name);
    const auto use = table.index(row, TensorTable::kWhat).data(TensorTable::kUseRole);
    EXPECT_LT(use.toUInt(), kMemoryUseKinds);
  }
  EXPECT_NEAR(share, 1, 1e-9);
  const auto bytes = [&](int row) {
    return table.index(row, TensorTable::kBytes).data(Qt::UserRole).toDouble();
  };
  const int last = table.rowCount() - 1;
  ASSERT_GT(bytes(0), bytes(last)) << "the largest first, until it is sorted";
  table.sort(TensorTable::kBytes, Qt::AscendingOrder);
  EXPECT_LT(bytes(0), bytes(last));
  for (int row = 0; row < last; ++row) EXPECT_LE(bytes(row), bytes(row + 1)) << row;
  EXPECT_THAT(table.csv(), HasSubstr("layer,what,shard,size_bytes"));
  for (const int section : {-1, int{TensorTable::kColumns}}) {
    EXPECT_FALSE(table.headerData(section, Qt::Horizontal).isValid());
  }
  table.show(nullptr, {}, 0);
  EXPECT_EQ(table.rowCount(), 0);
}

}  // namespace
}  // namespace strata::gui
