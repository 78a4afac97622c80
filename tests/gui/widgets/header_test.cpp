// The case and what comes of it, above the views: fields, what-ifs, the step, its gap and warnings.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolBar>
#include <QToolButton>

#include <gmock/gmock.h>

#include "gui/models/network/solve_rest.h"
#include "sim/text/file.h"
#include "tests/gui/widgets/window_test.h"

namespace strata::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HeaderTest : public WindowTest {};

TEST_F(HeaderTest, ShowsEachWhatIfAndTakesItBack) {
  Document document = lenet();
  document.input.sets = {{"link.*.bandwidth", "2x"}, {"overlap", "off"}};
  window_->open_document(document);
  settle();
  const auto* bar = window_->findChild<WhatIfBar*>();
  const auto chips = [&] {
    QStringList texts;
    for (const QToolButton* chip : bar->findChildren<QToolButton*>()) {
      if (chip->isVisible() && chip->text().endsWith(QStringLiteral("✕"))) texts << chip->text();
    }
    return texts;
  };
  EXPECT_THAT(chips(), ElementsAre("bandwidth of all links 2x  ✕", "no overlap  ✕"));
  EXPECT_THAT(window_->windowTitle().toStdString(), HasSubstr("bandwidth of all links 2x"));
  for (QToolButton* chip : bar->findChildren<QToolButton*>()) {
    if (chip->text().startsWith("no overlap")) QTest::mouseClick(chip, Qt::LeftButton);
  }
  EXPECT_THAT(chips(), ElementsAre("bandwidth of all links 2x  ✕"));
  const int height = bar->height();
  click("reset_what_ifs");
  EXPECT_THAT(chips(), IsEmpty());
  EXPECT_EQ(bar->height(), height) << "nothing below it moves";
  EXPECT_EQ(workspace_->document(), lenet());
  action("Undo")->trigger();
  EXPECT_THAT(chips(), ElementsAre("bandwidth of all links 2x  ✕"));
}

TEST_F(HeaderTest, AClusterThatIsNoneIsSaidOnceAndChangesNothing) {
  window_->open_document(lenet());
  settle();
  workspace_->set_config({LayerId(1)}, config_on_first_devices(kWhole));
  settle();
  const Document before = workspace_->document();
  auto* const field = window_->findChild<QComboBox*>("cluster")->lineEdit();
  field->setFocus();
  field->selectAll();
  QTest::keyClicks(field, "q100-4x4");
  QTest::keyClick(field, Qt::Key_Return);
  settle();
  EXPECT_FALSE(field->hasFocus());
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("q100-4x4"));
  for (const View* view : window_->views()) {
    EXPECT_THAT(view->notice().toStdString(), Not(HasSubstr("q100"))) << view->id().toStdString();
  }
  EXPECT_EQ(workspace_->document(), before) << "cuts by hand, too";
  EXPECT_EQ(field->text(), "p100-1x2");
}

// A slip is not completed to another name, and what the list has not is not marked in it.
TEST_F(HeaderTest, AClustersNameIsTakenAsItIsTyped) {
  window_->open_document(lenet());
  settle();
  auto* const box = window_->findChild<QComboBox*>("cluster");
  const auto type = [&](const char* name) {
    box->lineEdit()->setFocus();
    box->lineEdit()->selectAll();
    QTest::keyClicks(box->lineEdit(), name);
    QTest::keyClick(box->lineEdit(), Qt::Key_Return);
    settle();
  };
  type("p100-4x");
  EXPECT_EQ(workspace_->document(), lenet());
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("p100-4x"));
  type("p100-3x2");
  EXPECT_EQ(workspace_->document().input.cluster, "p100-3x2");
  EXPECT_EQ(box->currentText(), "p100-3x2");
  EXPECT_EQ(box->currentIndex(), -1);
}

// Enter is the end of typing: the next Ctrl+Z takes back the cluster, and not a letter.
TEST_F(HeaderTest, UndoInAFieldIsTheWindows) {
  window_->open_document(lenet());
  settle();
  auto* const field = window_->findChild<QComboBox*>("cluster")->lineEdit();
  field->setFocus();
  field->selectAll();
  QTest::keyClicks(field, "p100-1x4");
  QTest::keyClick(field, Qt::Key_Return);
  settle();
  EXPECT_EQ(workspace_->document().input.cluster, "p100-1x4");
  EXPECT_FALSE(field->hasFocus());
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(workspace_->document(), lenet());
  field->setFocus();
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_EQ(workspace_->document().input.cluster, "p100-1x4");
}

TEST_F(HeaderTest, WarnsBesideTheStepOfWhatDoesNotFit) {
  Document vgg16 = lenet();
  vgg16.input.model = "vgg16";
  vgg16.input.cluster = "p100-4x4";
  vgg16.strategy.source = "model";
  window_->open_document(vgg16);
  settle();
  const auto* result = window_->findChild<QLabel*>("result");
  EXPECT_THAT(result->text().toStdString(), HasSubstr("does not fit: 21.49 GB of 17.18 GB"));
  action("Pin as the baseline")->trigger();
  action("Data parallelism")->trigger();
  settle();
  EXPECT_THAT(result->text().toStdString(), Not(HasSubstr("does not fit:")));
  EXPECT_THAT(result->text().toStdString(), HasSubstr("of model, which does not fit"));
}

TEST_F(HeaderTest, SaysWhatMakesAStepDoubtful) {
  const auto* notes = window_->findChild<QLabel*>("eq1");
  Document wide = lenet();
  window_->open_document(wide);
  settle();
  EXPECT_THAT(notes->text().toStdString(), Not(HasSubstr("implausible")));
  wide.input.model = "gpt:layers=1,hidden=8192,heads=64,seq=2048,vocab=1000";
  wide.input.cluster = "a100-1x1";
  wide.input.training.batch = 4;
  wide.input.training.dtype = DType::bf16;
  window_->open_document(wide);
  settle();
  EXPECT_THAT(notes->text().toStdString(), HasSubstr("implausible"));
  EXPECT_THAT(notes->toolTip().toStdString(),
              HasSubstr("is above any published figure for a100 in bf16 (64 %)"));

  const QString file = path("lost.toml");
  write_file_whole(file.toStdString(), R"(name = "lost"
[[layer]]
name = "x"
op = "input"
shape = [8, 1, 16]
[[layer]]
name = "mix"
op = "opaque"
kind = "Einsum"
shape = [8, 1, 16]
uncosted = true
)");
  wide.input.model = file.toStdString();
  window_->open_document(wide);
  settle();
  EXPECT_THAT(notes->text().toStdString(), HasSubstr("1 layer not costed"));
  EXPECT_THAT(notes->toolTip().toStdString(), HasSubstr("how much Einsum computes is not known"));
}

TEST_F(HeaderTest, SaysHowFarFromTheFastestAStepIs) {
  const auto text = [&](const char* name) {
    return window_->findChild<QLabel*>(name)->text().toStdString();
  };
  Document alexnet = lenet();
  alexnet.input.model = "alexnet";
  alexnet.input.cluster = "p100-1x4";
  window_->open_document(alexnet);
  settle();
  EXPECT_THAT(text("result"), HasSubstr("a step"));
  EXPECT_EQ(text("gap_to_fastest"), "") << "nothing is proved";
  EXPECT_THAT(text("eq1"), HasSubstr("Eq. 1: "));
  click("find_fastest");
  settle();
  EXPECT_THAT(text("result"), HasSubstr("of data"));
  EXPECT_THAT(text("gap_to_fastest"), HasSubstr("from the fastest"));
  EXPECT_THAT(text("eq1"), HasSubstr("Eq. 1: "));
  const std::string gap = text("gap_to_fastest");
  action("Data parallelism")->trigger();
  settle();
  EXPECT_THAT(text("gap_to_fastest"), HasSubstr("from the fastest"));
  EXPECT_NE(text("gap_to_fastest"), gap) << "the bound is of the case: it tells of every strategy";
  workspace_->set_what_if("device.*.speed", "2");
  settle();
  EXPECT_EQ(text("gap_to_fastest"), "");
}

// The figures of the case before are dimmed in all views and above them.
TEST_F(HeaderTest, IsDimmedUntilANewCaseIsPredicted) {
  window_->open_document(lenet());
  settle();
  const auto* result = window_->findChild<QLabel*>("result");
  View* const what_if = window_->view("what_if");
  std::shared_ptr<void> held = hold_predictions();
  workspace_->edit("cluster", lenet().with_cluster("p100-1x4"));
  ASSERT_TRUE(testing::wait_until([&] { return workspace_->is_outdated(); }));
  EXPECT_FALSE(result->isEnabled());
  EXPECT_TRUE(what_if->is_dimmed());
  held.reset();
  settle();
  EXPECT_TRUE(result->isEnabled());
  EXPECT_FALSE(what_if->is_dimmed());
}

// The step of one case does not stand above what a search found for another.
TEST_F(HeaderTest, ASearchOfAnotherCaseIsCalledSo) {
  Document resnet = lenet();
  resnet.input.model = "resnet50";
  resnet.input.cluster = "p100-4x4";
  window_->open_document(resnet);
  settle();
  const auto* gap = window_->findChild<QLabel*>("gap_to_fastest");
  click("find_fastest");
  ASSERT_TRUE(testing::wait_until([&] { return gap->text().contains("so far"); }));
  resnet.input.training.batch_per_device = 64;
  workspace_->edit("batch", resnet);
  ASSERT_TRUE(testing::wait_until([&] { return !gap->text().contains("so far"); }));
  EXPECT_THAT(gap->text().toStdString(), HasSubstr("the case before the edit"));
  click("find_fastest");
  settle();
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("undo that (Ctrl+Z)"));
  EXPECT_EQ(workspace_->document(), resnet);
}

// A lock that the answer keeps is no reason to leave it.
TEST_F(HeaderTest, LayersCanBeLockedDuringASearch) {
  Document alexnet = lenet();
  alexnet.input.model = "alexnet";
  alexnet.input.cluster = "p100-1x4";
  window_->open_document(alexnet);
  settle();
  click("find_fastest");
  const Graph& graph = workspace_->scene()->input.graph;
  workspace_->edit("lock",
                   with_locks_turned(workspace_->document(), graph, {graph.find("features_0")}));
  settle();
  EXPECT_EQ(window_->shown_error(), "");
  EXPECT_EQ(workspace_->document().strategy.label(), "best");
  EXPECT_THAT(workspace_->document().locked, ElementsAre("features_0"));
}

TEST_F(HeaderTest, AFieldIsAnEdit) {
  window_->open_document(lenet());
  settle();
  auto* batch = window_->findChild<QSpinBox*>("batch_per_device");
  batch->setValue(64);
  EXPECT_EQ(workspace_->document().input.training.batch_per_device, 64);
  workspace_->undo_stack().undo();
  EXPECT_EQ(batch->value(), 32);
}

TEST_F(HeaderTest, AHybridIsTyped) {
  window_->open_document(lenet());
  settle();
  auto* strategy = window_->findChild<QComboBox*>("strategy");
  const auto type = [&](const char* text) {
    strategy->setEditText(text);
    QTest::keyClick(strategy->lineEdit(), Qt::Key_Return);
    settle();
  };
  type("hybrid:tp=2");
  EXPECT_EQ(workspace_->document().strategy.source, "hybrid:tp=2");
  EXPECT_EQ(strategy->currentText(), "hybrid:tp=2");
  type("hybrid:tp=three");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("tp=three"));
  EXPECT_EQ(strategy->currentText(), "hybrid:tp=2");
  const int width = strategy->width();
  action("Data parallelism")->trigger();
  QCoreApplication::processEvents();
  EXPECT_EQ(strategy->width(), width) << "nothing beside it moves";
}

// What is below it stays where it is.
TEST_F(HeaderTest, IsAsHighWhereNothingIsPredicted) {
  window_->open_document(lenet());
  settle();
  QCoreApplication::processEvents();
  const View* const network = window_->view("network");
  const auto top = [&] { return network->mapTo(window_.get(), QPoint()).y(); };
  const int before = top(), bar = window_->findChild<QToolBar*>("answer_bar")->height();
  workspace_->set_strategy({"nothing.json"});
  settle();
  QCoreApplication::processEvents();
  ASSERT_FALSE(workspace_->error().isEmpty());
  EXPECT_EQ(window_->findChild<QToolBar*>("answer_bar")->height(), bar);
  EXPECT_EQ(top(), before);
}

TEST_F(HeaderTest, SaysThatANameIsUnknown) {
  window_->open_document(lenet());
  settle();
  auto* model = window_->findChild<QComboBox*>("model");
  model->setEditText("foo");
  QTest::keyClick(model->lineEdit(), Qt::Key_Return);
  settle();
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("'foo'"));
  EXPECT_EQ(model->currentText(), "lenet5");
  EXPECT_EQ(workspace_->document(), lenet());
  window_->findChild<QSpinBox*>("batch_per_device")->setValue(64);
  EXPECT_EQ(window_->shown_error(), "") << "it is of what was asked for before";
}

TEST_F(HeaderTest, TheNetworksFieldIsTypedOver) {
  window_->open_document(lenet());
  settle();
  action("Go to the network's field")->trigger();
  const auto* field = window_->findChild<QComboBox*>("model")->lineEdit();
  EXPECT_TRUE(field->hasFocus());
  EXPECT_EQ(field->selectedText(), "lenet5");
}

TEST_F(HeaderTest, SumsGradientsInBucketsOfAnySize) {
  window_->open_document(lenet());
  settle();
  auto* bucket = window_->findChild<QComboBox*>("bucket");
  const auto type = [&](const char* text) {
    bucket->setEditText(text);
    QTest::keyClick(bucket->lineEdit(), Qt::Key_Return);
    settle();
  };
  EXPECT_EQ(bucket->currentText(), "25 MiB");
  type("2 kB");
  EXPECT_EQ(workspace_->document().input.training.sync.bucket, Bytes{2000});
  EXPECT_EQ(bucket->currentText(), "2000");
  type("lots");
  EXPECT_EQ(workspace_->document().input.training.sync.bucket, Bytes{2000});
  EXPECT_EQ(bucket->currentText(), "2000");
  EXPECT_THAT(window_->shown_error().toStdString(), HasSubstr("bucket: 'lots' is not a size"));
  Document ps = lenet();
  ps.input.training.sync.algorithm = SyncAlgorithm::ps;
  window_->open_document(ps);
  settle();
  EXPECT_FALSE(bucket->isEnabled());
}

// What has colours in its text, too, and without another answer.
TEST_F(HeaderTest, ChangesTheColoursOfItsResult) {
  action("Light colours")->trigger();
  window_->open_document(lenet());
  settle();
  action("Model parallelism")->trigger();
  settle();
  const QString light = window_->findChild<QLabel*>("result")->text();
  action("Dark colours")->trigger();
  QCoreApplication::processEvents();
  EXPECT_NE(window_->findChild<QLabel*>("result")->text(), light);
  action("Light colours")->trigger();
  QCoreApplication::processEvents();
  EXPECT_EQ(window_->findChild<QLabel*>("result")->text(), light);
}

}  // namespace
}  // namespace strata::gui
