// NCCL on one GPU, which is all of its set: what is summed and gathered over it is its own. So the
// calls, their streams and their recording are tried where there is no second GPU.

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/device/recording.h"
#include "exec/cuda/peers/peers.h"
#include "sim/base/error.h"
#include "tests/exec/cuda/gpu_array.h"

namespace strata::cuda {
namespace {

using Values = std::vector<float>;

class OneOfNccl : public ::testing::Test {
 protected:
  void SetUp() override try {
    peers_ = std::make_unique<Peers>(std::vector<int>{0}, nullptr);
    peers_->meet(set_);
  } catch (const EnvironmentError& error) {
    if (error.message().find("libnccl") == std::string::npos) throw;
    GTEST_SKIP() << error.message();
  }

  void sum_and_gather() {
    const PeerPart part{set_.front(), &stream_, own_.data(), all_.data()};
    peers_->sum(set_, {&part, 1}, 3);
    peers_->gather(set_, {&part, 1}, 3);
  }

  const DeviceSet set_{DeviceId(0)};
  Stream stream_{0};
  GpuArray<float> own_{stream_, Values{1, 2, 3}}, all_{stream_, Values(3)};
  std::unique_ptr<Peers> peers_;
};

TEST_F(OneOfNccl, SumsAndGathersItsOwn) {
  sum_and_gather();
  EXPECT_EQ(own_.get(), (Values{1, 2, 3}));
  EXPECT_EQ(all_.get(), (Values{1, 2, 3}));
  EXPECT_NO_THROW(peers_->check());
}

TEST_F(OneOfNccl, IsPlayedFromARecording) {
  sum_and_gather();
  stream_.finish();
  Recording recording(stream_);
  sum_and_gather();
  Recorded recorded = recording.end();
  const Values more{4, 5, 6};
  copy(own_.data(), more.data(), 12, stream_);
  recorded.play(stream_);
  EXPECT_EQ(all_.get(), more);
}

TEST_F(OneOfNccl, IsLeftByWhoFails) {
  sum_and_gather();
  peers_->abandon();
  stream_.finish();
}

}  // namespace
}  // namespace strata::cuda
