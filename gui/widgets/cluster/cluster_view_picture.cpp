// What of a scene is drawn, and when it is drawn anew.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "gui/models/timeline/plan_recording.h"
#include "gui/widgets/cluster/cluster_view.h"

namespace strata::gui {
namespace {

constexpr std::size_t kBins = 400;  // of the strip: about a pixel each

}  // namespace

// The map and the history are made elsewhere: a thousand devices take a while.
void ClusterView::on_scene() {
  notify({});
  const ScenePtr scene = workspace().scene();
  for (QWidget* shown : std::initializer_list<QWidget*>{canvas_, bar_, colour_}) {
    shown->setEnabled(scene != nullptr);
  }
  if (!scene) {
    shown_.reset();
    canvas_->show_map({}, nullptr);
    bar_->show_time({}, {}, std::nullopt);
    show_selection();
    show_transfers();
    if (workspace().error().isEmpty()) notify(tr("Open a cluster to see what its links carry."));
    return;
  }
  when_seen([this] { draw_scene(); });
}

void ClusterView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  when_seen([this] { draw_scene(); });
}

// Nothing is drawn for nobody: while a slider is dragged there are better things to do. In a window
// of another shape hosts stand otherwise.
void ClusterView::draw_scene() {
  const ScenePtr scene = workspace().scene();
  if (!isVisible() || !scene) return;
  const double aspect = double(std::max(1, canvas_->width())) / std::max(1, canvas_->height());
  if (scene == shown_ && std::abs(std::log(aspect / drawn_aspect_)) < 0.1) return;
  drawn_aspect_ = aspect;
  workspace().jobs().start(
      this, QStringLiteral("cluster"), tr("Drawing the cluster"),
      [this, scene, aspect](Progress&) -> Jobs::Show {
        return [this, picture = picture_of(scene, aspect)] { on_picture(picture); };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

ClusterView::Picture ClusterView::picture_of(const ScenePtr& scene, double aspect) {
  const Cluster& cluster = scene->input.cluster;
  auto history = std::make_shared<const LinkHistory>(
      scene->prediction.plan, scene->prediction.timeline, cluster.links().size());
  std::vector<double> busiest = history->busiest(cluster, kBins);
  const bool folded = cluster.device_count() > kMostDrawn;
  return {scene, map_of(cluster, folded, aspect), std::move(history), std::move(busiest)};
}

void ClusterView::on_picture(const Picture& picture) {
  shown_ = picture.scene;
  history_ = picture.history;
  canvas_->show_map(picture.map, shown_);
  const Timeline& timeline = shown_->prediction.timeline;
  bar_->show_time(timeline.makespan(), picture.busiest, steady_range(timeline));
  bar_->show_range(selection().range());
  show_use();
  show_selection();
  show_transfers();
}

}  // namespace strata::gui
