// How a plan is chosen among cuDNN's own for an H200, whose runs are made up: which statuses leave
// an engine out, which end it all, what is timed, and how seldom the heuristics are asked.

#include "exec/cuda/products/tuned_plan.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/cuda/device/launch.h"
#include "exec/cuda/kernels/kernels.h"
#include "exec/cuda/products/direct_convolution.h"
#include "sim/base/error.h"
#include "sim/graph/regions.h"
#include "sim/graph/zoo.h"
#include "tests/exec/cuda/fake_runs.h"
#include "tests/exec/cuda/host_device.h"
#include "tests/exec/cuda/plans.h"

namespace strata::cuda {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

ConvolutionShape shape_of(std::int64_t samples) {
  const ConvolutionAxis h{Dim::h, 14, 14, 3, 1, 1, 1, 1}, w{Dim::w, 14, 14, 3, 1, 1, 1, 1};
  return {samples, 16, 32, {h, w}, {1, 16, 32, 16, 32, 0}, false};
}

class TunedPlans : public Plans {
 protected:
  void SetUp() override {
    Plans::SetUp();
    reset_fake_runs();
    if (!IsSkipped()) seat_ = seat_with_fake_runs(Precision::bf16);
  }

  TunedPlan tune() { return tuned_plan(*seat_, shape_, Direction::forward); }

  /// The engine that is kept for it; empty where none is.
  std::string choice() {
    CudnnSeat& cudnn = cudnn_of(*seat_);
    return cudnn.choices().find(product_ + " checked on " + cudnn.title());
  }

  const ConvolutionShape shape_ = shape_of(8);
  const std::string product_ = show(shape_, Direction::forward, Precision::bf16);
  std::unique_ptr<Seat> seat_;
};

class StatusOfARun : public TunedPlans, public testing::WithParamInterface<cudnnStatus_t> {};
using StatusThatLeavesOut = StatusOfARun;
using StatusThatEnds = StatusOfARun;

TEST_P(StatusThatLeavesOut, LeavesTheProductToOtherEngines) {
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    return plan == 0 ? GetParam() : CUDNN_STATUS_SUCCESS;
  };
  EXPECT_TRUE(tune().plan);
  ASSERT_GT(fake_runs().runs.size(), 1);
  EXPECT_EQ(fake_runs().runs[0], 1);
  EXPECT_EQ(fake_runs().runs[1], fake_runs().runs.back());
  EXPECT_GT(fake_runs().runs[1], 1);
}

TEST_P(StatusThatLeavesOut, OfAllEnginesLeavesTheProductToPlainLoops) {
  fake_runs().run = [&](std::size_t, std::size_t) { return GetParam(); };
  const ConvolutionProduct product(*seat_, shape_, Direction::forward);
  EXPECT_GT(fake_runs().runs.size(), 1);
  EXPECT_THAT(fake_runs().runs, Each(1));
  EXPECT_EQ(product.workspace(), 0);
  const std::string status = Cudnn().error_string(GetParam());
  EXPECT_THAT(seat_->plain_loops(),
              ElementsAre(AllOf(StartsWith(status + " (engine "), EndsWith(") for " + product_))));
}

INSTANTIATE_TEST_SUITE_P(Status, StatusThatLeavesOut,
                         testing::Values(CUDNN_STATUS_NOT_SUPPORTED,
                                         CUDNN_STATUS_NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT,
                                         CUDNN_STATUS_EXECUTION_FAILED,
                                         CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER,
                                         CUDNN_STATUS_EXECUTION_FAILED_CUDART));

TEST_P(StatusThatEnds, SaysWhichEngineAndWhat) {
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    return plan == 1 ? GetParam() : CUDNN_STATUS_SUCCESS;
  };
  try {
    tune();
    ADD_FAILURE() << "tuned";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.message(), HasSubstr("trying engine "));
    EXPECT_THAT(error.message(), HasSubstr(Cudnn().error_string(GetParam())));
  }
  EXPECT_TRUE(seat_->plain_loops().empty());
}

INSTANTIATE_TEST_SUITE_P(Status, StatusThatEnds,
                         testing::Values(CUDNN_STATUS_NOT_INITIALIZED,
                                         CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED,
                                         CUDNN_STATUS_BAD_PARAM,
                                         CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                                         CUDNN_STATUS_INTERNAL_ERROR,
                                         CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED));

// cuDNN says that it went well.
TEST_F(TunedPlans, AreNotOfAnEngineWhoseKernelIsNotLaunched) {
  fake_runs().run = [](std::size_t plan, std::size_t) {
    if (plan == 0) host::refuse_launch("cudaErrorInvalidClusterSize");
    return CUDNN_STATUS_SUCCESS;
  };
  EXPECT_TRUE(tune().plan);
  ASSERT_GT(fake_runs().runs.size(), 1);
  EXPECT_EQ(fake_runs().runs[0], 1);
  EXPECT_GT(fake_runs().runs[1], 1);
}

// Work on the stream takes a microsecond a piece, by the clock of the host that stands for a GPU.

void put_pieces(Stream& stream, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) each(stream, 1, [](std::int64_t) {});
}

TEST_F(TunedPlans, AreTheFastest) {
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    put_pieces(seat_->stream(), plan == 2 ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  ASSERT_GT(fake_runs().runs.size(), 2);
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + kRounds));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[2], kWarmUps + kRounds + 1);
}

// In the first rounds the stream goes on while the host still asks for runs: the slowest plan then
// seems to take no time, since its run was done before its end was marked.
TEST_F(TunedPlans, AreNotTimedWhileTheHostIsBehind) {
  std::size_t behind = 8;
  fake_runs().run = [&](std::size_t plan, std::size_t run) {
    const bool hurried = run >= kWarmUps && run < kWarmUps + behind;
    if (hurried) seat_->stream().finish();
    put_pieces(seat_->stream(), plan == 2 ? 2 : hurried ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + behind + kRounds));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[2], kWarmUps + behind + kRounds + 1);
}

TEST_F(TunedPlans, AreTheHeuristicsFirstAndNotKeptWhereTheHostIsAlwaysBehind) {
  fake_runs().run = [&](std::size_t plan, std::size_t run) {
    if (run >= kWarmUps) seat_->stream().finish();
    put_pieces(seat_->stream(), plan == 2 ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + 3 * kRounds));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[0], kWarmUps + 3 * kRounds + 1);
  EXPECT_EQ(choice(), "");
}

TEST_F(TunedPlans, AreSharedWhileSomebodyHasThem) {
  const TunedPlan first = tune();
  const std::size_t planned = fake_runs().planned;
  EXPECT_EQ(tune().plan, first.plan);
  EXPECT_EQ(fake_runs().planned, planned);
}

TEST_F(TunedPlans, AreMadeAgainFromEngineAndKnobs) {
  const std::int64_t workspace = tune().plan->workspace();
  const std::string chosen = choice();
  EXPECT_NE(chosen, "");
  const FakeRuns before = fake_runs();
  EXPECT_EQ(tune().plan->workspace(), workspace);
  EXPECT_EQ(fake_runs().asked, before.asked);
  EXPECT_EQ(fake_runs().planned, before.planned + 1);
  EXPECT_EQ(fake_runs().runs, before.runs);
  EXPECT_EQ(choice(), chosen);
}

// Each that the library proposes, in each direction and precision.
TEST_F(TunedPlans, AreThoseOfTheirNames) {
  std::size_t with_knobs = 0;
  for (Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    for (Direction direction : {Direction::forward, Direction::data, Direction::weights}) {
      const ConvolutionGraph graph(cudnn_of(*seat_).target(), shape_, direction, precision);
      for (PlanCandidate& proposed : graph.proposals(CUDNN_HEUR_MODE_A).candidates) {
        SCOPED_TRACE(show(shape_, direction, precision) + ": " + proposed.name);
        auto named = graph.candidate(proposed.name);
        ASSERT_TRUE(named);
        with_knobs += proposed.name.find('=') == std::string::npos ? 0 : 1;
        const Planned one = graph.plan(std::move(proposed)), other = graph.plan(std::move(*named));
        EXPECT_EQ(one.status, other.status);
        ASSERT_EQ(one.plan.has_value(), other.plan.has_value());
        if (!one.plan) continue;
        EXPECT_EQ(one.plan->workspace(), other.plan->workspace());
      }
    }
  }
  EXPECT_GT(with_knobs, 0);
}

TEST_F(TunedPlans, ThatNobodyHasAnEngineForAreAskedForOnce) {
  fake_runs().run = [](std::size_t, std::size_t) { return CUDNN_STATUS_NOT_SUPPORTED; };
  const std::string refusal = tune().refusal;
  const std::size_t asked = fake_runs().asked;
  EXPECT_EQ(tune().refusal, refusal);
  EXPECT_EQ(fake_runs().asked, asked);
}

// Where their own choice is enough, as it is on tensor cores.
TEST_F(TunedPlans, AskTheHeuristicsForNoFallback) {
  tune();
  EXPECT_EQ(fake_runs().asked, 1);
}

// Engines compute the product here, all but the first, which is wrong without a word.

class EnginesOfTheEnvironment : public TunedPlans {
 protected:
  ~EnginesOfTheEnvironment() override { set(nullptr, nullptr); }

  /// Null leaves a variable out.
  void set(const char* engines, const char* progress) {
    set_variable("STRATA_CUDA_ENGINES", engines);
    set_variable("STRATA_CUDA_PROGRESS", progress);
  }
  /// On a seat that knows the choices of the file.
  void sit_down() {
    reset_fake_runs();
    seat_ = seat_with_fake_runs(Precision::bf16, file_);
  }

  const std::string file_ = testing::TempDir() + "engines-of-the-environment.tsv";

 private:
  static void set_variable(const char* variable, const char* value) {
    if (value == nullptr)
      ::unsetenv(variable);
    else
      ::setenv(variable, value, 1);
  }
};

TEST_F(EnginesOfTheEnvironment, MayBeTheFirstThatRun) {
  set("first", nullptr);
  seat_ = seat_with_fake_runs(Precision::bf16);
  fake_runs().run = [](std::size_t plan, std::size_t) {
    return plan < 2 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
  };
  const TunedPlan tuned = tune();
  EXPECT_THAT(fake_runs().runs, ElementsAre(1, 1, 1));
  tuned.plan->run(nullptr, {});
  EXPECT_EQ(fake_runs().runs[2], 2);
}

TEST_F(EnginesOfTheEnvironment, TellOfEnginesThatAreWrong) {
  set("first", "1");
  fake_runs().compute = [this](std::size_t plan, const ConvolutionMemory& memory) {
    convolve_directly(shape_, Direction::forward, memory, seat_->type(), seat_->stream());
    if (plan == 0)
      clear(memory.output, written_elements(shape_, Direction::forward), seat_->stream());
  };
  seat_ = seat_with_fake_runs(Precision::bf16);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(tune().plan);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("cuDNN: a result that is off by "), EndsWith(" for " + product_ + "\n")));
  EXPECT_THAT(fake_runs().runs, ElementsAre(1, 1));
}

TEST_F(EnginesOfTheEnvironment, LeaveProductsToPlainLoopsWhereNoneRuns) {
  set("first", nullptr);
  seat_ = seat_with_fake_runs(Precision::bf16);
  fake_runs().run = [](std::size_t, std::size_t) { return CUDNN_STATUS_NOT_SUPPORTED; };
  EXPECT_THAT(tune().refusal, StartsWith("CUDNN_STATUS_NOT_SUPPORTED (engine "));
  EXPECT_THAT(fake_runs().runs, AllOf(SizeIs(testing::Gt(1)), Each(1)));
  EXPECT_EQ(fake_runs().asked, 2);
}

// Untimed choices are good for those alone who want no better ones; timed ones for all.
TEST_F(EnginesOfTheEnvironment, KeepUntimedChoicesApart) {
  std::filesystem::remove(file_);
  set("first", nullptr);
  sit_down();
  tune();
  sit_down();
  tune();
  EXPECT_THAT(fake_runs().runs, testing::IsEmpty());
  EXPECT_EQ(choice(), "");
  set("timed", nullptr);
  sit_down();
  fake_runs().run = [&](std::size_t plan, std::size_t) {
    put_pieces(seat_->stream(), plan == 1 ? 1 : 5);
    return CUDNN_STATUS_SUCCESS;
  };
  tune();
  EXPECT_THAT(fake_runs().runs, Each(kWarmUps + kRounds));
  const std::string fastest = choice();
  set("first", nullptr);
  sit_down();
  tune();
  EXPECT_EQ(fake_runs().asked, 0);
  EXPECT_NE(fastest, cudnn_of(*seat_).choices().find(product_ + " checked on " +
                                                     cudnn_of(*seat_).title() + ", untimed"));
  std::filesystem::remove(file_);
}

TEST_F(EnginesOfTheEnvironment, AreToldOfOnceForEachProduct) {
  for (const auto& [engines, words] :
       {std::pair{"timed", "the fastest engine"}, std::pair{"first", "an engine"}}) {
    set(engines, "1");
    seat_ = seat_with_fake_runs(Precision::bf16);
    testing::internal::CaptureStderr();
    tune();
    tune();
    tuned_plan(*seat_, shape_of(4), Direction::weights);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "cuDNN: " + std::string(words) + " for " + product_ + "\ncuDNN: " + words + " for " +
                  show(shape_of(4), Direction::weights, Precision::bf16) + "\n");
  }
  set("timed", "0");
  seat_ = seat_with_fake_runs(Precision::bf16);
  testing::internal::CaptureStderr();
  tune();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(EnginesOfTheEnvironment, HaveVariablesOfTwoValues) {
  set("fast", nullptr);
  EXPECT_THROW(engine_search(), InputError);
  set(nullptr, "yes");
  EXPECT_THROW(engine_search(), InputError);
}

class ChoiceOfNoUse : public TunedPlans, public testing::WithParamInterface<std::string> {};

TEST_P(ChoiceOfNoUse, IsMadeAnew) {
  cudnn_of(*seat_).choices().add(product_ + " checked on " + cudnn_of(*seat_).title(), GetParam());
  EXPECT_TRUE(tune().plan);
  EXPECT_GE(fake_runs().asked, 1);
  EXPECT_NE(choice(), GetParam());
}

TEST_P(ChoiceOfNoUse, IsReplacedInTheFile) {
  const std::string file = testing::TempDir() + "choice-of-no-use.tsv";
  std::filesystem::remove(file);
  const std::string key = product_ + " checked on " + cudnn_of(*seat_).title();
  ChoiceFile(file).add(key, GetParam());
  seat_ = seat_with_fake_runs(Precision::bf16, file);
  EXPECT_TRUE(tune().plan);
  const std::size_t asked = fake_runs().asked;
  seat_ = seat_with_fake_runs(Precision::bf16, file);
  EXPECT_TRUE(tune().plan);
  EXPECT_EQ(fake_runs().asked, asked);
  std::filesystem::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Name, ChoiceOfNoUse,
                         testing::Values("99999", "-1", "0 99999=1", "0 2=-7", "x", "0 2",
                                         "0 2=1=1", "0  2=1", "1.5", " "));

class ResNet50 : public TunedPlans {
 protected:
  // Of a small batch: shapes are as many.
  using Kernels = std::vector<std::unique_ptr<Kernel>>;
  Kernels kernels(Seat& seat) const {
    Kernels all;
    for (LayerId layer(0); layer() < graph_.size(); layer = LayerId(layer() + 1)) {
      if (is_input(graph_[layer].op)) continue;
      ShardSpec spec{&graph_, layer, whole(graph_[layer].output), {}};
      for (std::size_t i = 0; i < graph_[layer].inputs.size(); ++i) {
        spec.inputs.push_back(needed_input(graph_, layer, i, spec.output));
      }
      all.push_back(make_kernel(seat, spec));
    }
    return all;
  }
  /// Products that are not the same, by their names.
  std::size_t products(Seat& seat) const { return cudnn_of(seat).plans().size(); }

  Graph graph_ = build_zoo("resnet50", 2);
  const std::string choices_ = testing::TempDir() + "resnet50-choices.tsv";
};

TEST_F(ResNet50, AsksTheHeuristicsOnceHoweverOftenItsKernelsAreMade) {
  std::filesystem::remove(choices_);
  const auto seat = seat_with_fake_runs(Precision::bf16, choices_);
  {
    const Kernels first = kernels(*seat);
    EXPECT_GT(products(*seat), 60);
    EXPECT_EQ(fake_runs().asked, products(*seat));
    const FakeRuns before = fake_runs();
    const Kernels beside_them = kernels(*seat);
    EXPECT_EQ(fake_runs().asked, before.asked);
    EXPECT_EQ(fake_runs().planned, before.planned);
  }
  const FakeRuns before = fake_runs();
  const Kernels after_them = kernels(*seat);
  EXPECT_EQ(fake_runs().planned, before.planned + products(*seat));
  const auto other = seat_with_fake_runs(Precision::bf16, choices_);
  const Kernels on_another_seat = kernels(*other);
  EXPECT_EQ(fake_runs().planned, before.planned + 2 * products(*seat));
  EXPECT_EQ(fake_runs().asked, before.asked);
  EXPECT_EQ(fake_runs().runs, before.runs);
  EXPECT_TRUE(seat->plain_loops().empty() && other->plain_loops().empty());
  std::filesystem::remove(choices_);
}

// The first tells most: what comes after may only follow from it.
TEST_F(TunedPlans, TellOfTheFirstStatusOfAll) {
  fake_runs().run = [](std::size_t plan, std::size_t) {
    return plan == 0 ? CUDNN_STATUS_EXECUTION_FAILED_CUDART : CUDNN_STATUS_NOT_SUPPORTED_PADDING;
  };
  const TunedPlan tuned = tune();
  EXPECT_FALSE(tuned.plan);
  EXPECT_THAT(tuned.refusal, StartsWith("CUDNN_STATUS_EXECUTION_FAILED_CUDART (engine "));
}

}  // namespace
}  // namespace strata::cuda
