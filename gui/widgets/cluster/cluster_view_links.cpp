// The picked link: what it carries for whom, another bandwidth for it; and other clusters.

#include <QFileDialog>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/text.h"
#include "gui/widgets/cluster/cluster_view.h"
#include "sim/base/error.h"
#include "sim/text/units.h"

namespace strata::gui {

void ClusterView::show_use() {
  if (!shown_) return;
  use_ = link_use(*shown_, *history_, selection().range());
  canvas_->show_use(use_);
  show_details();
}

void ClusterView::show_selection() {
  canvas_->select(selection().link(), selection().device());
  show_details();
}

std::optional<LinkId> ClusterView::picked_link() const {
  const auto link = selection().link();
  const bool known = shown_ && link && link->value < shown_->input.cluster.links().size();
  return known ? link : std::nullopt;
}

void ClusterView::show_details() {
  const auto link = picked_link();
  table_->setVisible(link.has_value());
  if (!link) {
    title_->setText(tr("No link is picked"));
    facts_->setText(
        tr("Click a link (or press Down) to see what crosses it, layer by layer; double click it "
           "(or press Enter) to give it another bandwidth."));
    return;
  }
  const Link& picked = shown_->input.cluster[*link];
  const QString rate = picked.bandwidth < kNoLimit ? human_rate(picked.bandwidth) : tr("no limit");
  const QString span = selection().range() ? tr("in the range") : tr("in a step");
  title_->setText(QString::fromStdString(picked.name));
  facts_->setText(tr("%1, latency %2%3\n%4 %5: %6 of what it could carry")
                      .arg(rate, human_seconds(picked.latency),
                           picked.kind.empty()
                               ? QString()
                               : tr(", kind %1").arg(QString::fromStdString(picked.kind)),
                           human_bytes({std::llround(use_.bytes[(*link)()])}), span,
                           human_share(use_.share[(*link)()])));
}

void ClusterView::show_transfers() {
  const auto link = picked_link();
  if (!link) {
    workspace().jobs().cancel(QStringLiteral("link"));
    return transfers_->show(nullptr, {});
  }
  workspace().jobs().start(
      this, QStringLiteral("link"), tr("Looking for what crosses a link"),
      [this, scene = shown_, link = *link, range = selection().range()](Progress&) -> Jobs::Show {
        return [this, scene, rows = link_transfers(*scene, link, range)] {
          transfers_->show(scene, rows);
        };
      },
      [this](const QString& message) { notify(message); }, WhenStale::show);
}

std::string ClusterView::bandwidth_key(LinkId link) const {
  return "link." + shown_->input.cluster[link].name + ".bandwidth";
}

void ClusterView::edit_bandwidth(LinkId link, const QPoint& at) {
  if (!shown_) return;
  edited_ = link;
  selection().select_link(link);
  const std::string set = workspace().document().what_if(bandwidth_key(link));
  field_->open(
      set.empty() ? human_rate(shown_->input.cluster[link].bandwidth) : QString::fromStdString(set),
      at);
}

// Of this direction alone: the other may be another. What is no bandwidth stays to be mended.
void ClusterView::take_bandwidth() try {
  if (!edited_ || !shown_) return;
  const std::string text = field_->text().trimmed().toStdString();
  if (!text.empty()) is_factor(text) ? void(parse_factor(text)) : void(parse_bandwidth(text));
  notify({});
  field_->close();
  workspace().set_what_if(bandwidth_key(*edited_), text);
} catch (const InputError& error) {
  notify(QString::fromStdString(error.message()));
  field_->selectAll();
}

void ClusterView::pick_row() {
  std::vector<LayerId> layers;
  for (const std::size_t row : table_->picked_rows()) {
    layers.push_back(transfers_->rows()[row].layer);
  }
  if (!layers.empty()) selection().select_layers(std::move(layers));
}

void ClusterView::choose_cluster() {
  auto* dialog =
      new QFileDialog(this, tr("Import a cluster"), {}, tr("Clusters (*.toml);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &View::file_chosen);
  dialog->open();
}

}  // namespace strata::gui
