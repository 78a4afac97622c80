// A pipeline in the window: the fields that make one, and what the views show of it.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include <gmock/gmock.h>

#include "gui/widgets/network/network_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/why/why_view.h"
#include "tests/gui/widgets/window_test.h"

namespace strata::gui {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PipelineWindowTest : public WindowTest {
 protected:
  PipelineWindowTest() {
    window_->resize(1024, 700);
    Document document;
    document.input.model = "llama:layers=4,hidden=64,heads=4,seq=32,vocab=100";
    document.input.cluster = "p100-1x4";
    document.input.training.batch = 16;
    document.input.training.micro_batch = 2;
    document.strategy.source = "hybrid:tp=1,pp=4";
    window_->open_document(document);
    settle();
  }
  const CaseRequest& input() const { return workspace_->document().input; }
  QToolButton& more() { return *window_->findChild<QToolButton*>("more"); }
  template <class ViewType>
  ViewType& shown(const char* id) {
    View* const view = window_->view(QLatin1String(id));
    window_->bring_to_front(view);
    settle();
    return dynamic_cast<ViewType&>(*view);
  }
  void choose(const char* field, const char* text) {
    auto* const box = window_->findChild<QComboBox*>(field);
    const int at = box->findText(QLatin1String(text));
    ASSERT_GE(at, 0) << text;
    box->setCurrentIndex(at);
    emit box->textActivated(box->currentText());
    settle();
  }
  void type(QLineEdit& field, const char* text) {
    field.setFocus();
    field.selectAll();
    QTest::keyClicks(&field, text);
    QTest::keyClick(&field, Qt::Key_Return);
    settle();
  }
};

TEST_F(PipelineWindowTest, EachFieldIsAnEditThatCanBeUndone) {
  const Document before = workspace_->document();
  EXPECT_EQ(more().text(), "More: 2") << "the batch and the micro-batch";
  QTest::mouseClick(&more(), Qt::LeftButton);
  choose("optimizer", "adam");
  EXPECT_EQ(input().training.optimizer, Optimizer::adam);
  choose("zero", "1");
  EXPECT_EQ(input().training.sync.zero, Zero::state);
  choose("recompute", "full");
  EXPECT_EQ(input().training.recompute, Recompute::full);
  choose("schedule", "gpipe");
  EXPECT_EQ(input().training.schedule, "gpipe");
  type(*window_->findChild<QLineEdit*>("micro_batch"), "4");
  EXPECT_EQ(input().training.micro_batch, 4);
  EXPECT_EQ(more().text(), "More: 6");
  EXPECT_THAT(more().toolTip().toStdString(), HasSubstr("--schedule gpipe"));
  EXPECT_EQ(workspace_->error(), QString());
  EXPECT_EQ(workspace_->scene()->prediction.plan.rounds(), 4U);
  for (int i = 0; i < 5; ++i) action("Undo")->trigger();
  EXPECT_EQ(workspace_->document(), before);
  EXPECT_EQ(window_->findChild<QLineEdit*>("micro_batch")->text(), "2");
}

TEST_F(PipelineWindowTest, AnEmptyMicroBatchIsOneRound) {
  type(*window_->findChild<QLineEdit*>("micro_batch"), " ");
  EXPECT_EQ(input().training.micro_batch, std::nullopt);
  EXPECT_EQ(more().text(), "More: 1");
}

TEST_F(PipelineWindowTest, WhatIsNoneIsSaidAndChangesNothing) {
  const Document before = workspace_->document();
  QTest::mouseClick(&more(), Qt::LeftButton);
  type(*window_->findChild<QComboBox*>("schedule")->lineEdit(), "sideways");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("sideways"));
  EXPECT_EQ(window_->findChild<QComboBox*>("schedule")->currentText(), "usual");
  type(*window_->findChild<QLineEdit*>("micro_batch"), "0");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("micro_batch"));
  EXPECT_EQ(workspace_->document(), before);
}

// zb-v wants two chunks a stage: the case stays, and the line above the views says why.
TEST_F(PipelineWindowTest, AScheduleThatDoesNotSuitIsAnErrorOfTheCase) {
  QTest::mouseClick(&more(), Qt::LeftButton);
  choose("schedule", "zb-v");
  EXPECT_EQ(input().training.schedule, "zb-v");
  EXPECT_NE(workspace_->error(), QString());
  EXPECT_NE(window_->shown_error(), QString());
  choose("schedule", "usual");
  EXPECT_EQ(workspace_->error(), QString());
}

TEST_F(PipelineWindowTest, TheTimelineHasStagesRoundsAndBubbles) {
  const auto& view = shown<TimelineView>("timeline");
  const TimelineCanvas& canvas = view.canvas();
  std::vector<std::string> stages;
  for (const RowGroup& group : canvas.groups()) {
    if (group.is_stage) stages.push_back(group.name.substr(0, 12));
  }
  EXPECT_THAT(stages, ElementsAre("stage 1 of 4", "stage 2 of 4", "stage 3 of 4", "stage 4 of 4"));
  QStringList legend;
  for (const LegendEntry& entry : timeline_legend(canvas)) legend << entry.text;
  EXPECT_THAT(legend, Contains("bubble"));
  EXPECT_THAT(legend, Contains("every other round"));
  std::size_t bubbles = 0;
  for (int y = 0; y < canvas.viewport()->height(); y += 4) {
    for (int x = 0; x < canvas.viewport()->width(); x += 4) {
      const auto idle = canvas.idle_at({x, y});
      if (!idle) continue;
      EXPECT_GT(idle->bubble, Seconds{});
      EXPECT_LE(idle->bubble.value, idle->whole.value * (1 + 1e-9));
      EXPECT_FALSE(canvas.slice_at({x, y}));
      ++bubbles;
    }
  }
  EXPECT_GT(bubbles, 0U);
}

TEST_F(PipelineWindowTest, TheNetworkHasAColourForEachStage) {
  auto& view = shown<NetworkView>("network");
  EXPECT_EQ(view.canvas().colours(), NetworkColours::config);
  for (int i = 0; i < 3; ++i) QTest::keyClick(&view.canvas(), Qt::Key_C);
  EXPECT_EQ(view.canvas().colours(), NetworkColours::stage);
  const Graph& graph = workspace_->scene()->input.graph;
  workspace_->selection().select_layers({LayerId(graph.size() - 1)});
  QStringList texts;
  for (const QLabel* label : view.findChildren<QLabel*>()) texts << label->text();
  EXPECT_THAT(texts.join(' ').toStdString(), HasSubstr("stage 4 of 4"));
}

TEST_F(PipelineWindowTest, TheStoryHasABarForEachStage) {
  const auto& view = shown<WhyView>("why");
  ASSERT_NE(view.parts().parts(), nullptr);
  EXPECT_TRUE(view.parts().isVisible());
  EXPECT_EQ(view.parts().parts()->bars.size(), 5U);
  EXPECT_GT(view.parts().box_of(4, StepPart::bubble).width(), 0);
  QStringList legend;
  for (const LegendEntry& entry : view.parts().legend().entries()) {
    legend << entry.text.section(' ', 0, 0);
  }
  EXPECT_THAT(legend, Contains("bubble"));
  EXPECT_THAT(legend, Contains("compute"));
  workspace_->selection().select_layers({LayerId(1)});
  settle();
  EXPECT_FALSE(view.parts().isVisible()) << "what is asked of a layer has the room";
}

}  // namespace
}  // namespace strata::gui
