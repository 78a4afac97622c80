#include "gui/models/network/layer_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "gui/models/network/network_nodes.h"
#include "gui/models/text.h"

namespace strata::gui {
namespace {

const Layer& layer_of(const SceneLayers& of, const LayerRow& row) {
  return of.scene->input.graph[row.layers.front()];
}
template <Seconds LayerTerms::*term>
TableCell term_of(const SceneLayers& of, const LayerRow& row) {
  Seconds seconds;
  for (const LayerId layer : row.layers) seconds += of.scene->prediction.terms[layer()].*term;
  return {human_seconds(seconds), seconds.value};
}
template <std::vector<Bytes> SceneLayers::*sizes>
TableCell size_of(const SceneLayers& of, const LayerRow& row) {
  Bytes bytes;
  for (const LayerId layer : row.layers) bytes += (of.*sizes)[layer()];
  return {human_bytes(bytes), static_cast<qlonglong>(bytes.value)};
}
TableCell name_of(const SceneLayers& /*of*/, const LayerRow& row) {
  const QString name = QString::fromStdString(row.name);
  if (row.layers.size() == 1) return {name};
  return {QStringLiteral("%1  ×%2").arg(name).arg(row.layers.size()), name};
}
TableCell output_of(const SceneLayers& of, const LayerRow& row) {
  const QString text = human_output(of.scene->input.graph, row.layers.front());
  return {text,
          static_cast<qlonglong>(volume(layer_of(of, row).output)),
          {},
          {},
          QString(text).remove(QStringLiteral(" tokens"))};
}
// A file has letters.
TableCell cut_of(const SceneLayers& of, const LayerRow& row) {
  const std::vector<NamedCut> cuts = cuts_of(*of.scene, row.layers);
  if (cuts.empty()) return {};
  TableCell cell;
  cell.text = cuts.size() == 1 ? QString::fromStdString(cuts.front().text)
                               : LayerTable::tr("%1 cuts").arg(cuts.size());
  cell.csv = QString::fromStdString(config_text(cuts.front().config));
  return cell;
}

constexpr std::array<LayerTable::Spec, LayerTable::column_count> kLayerColumns = {{
    {"layer", "its name; of layers in blocks that repeat, with how many there are", "layer", false,
     name_of},
    {"op", "what it computes", "op", false,
     [](auto& of, auto& row) {
       return TableCell{QString::fromStdString(title(layer_of(of, row).op))};
     }},
    {"output", "the extents of its output: samples, channels, then space or tokens", "output",
     false, output_of},
    {"cut", "in how many parts each dim is cut", "config", false, cut_of},
    {"compute", "Eq. 1: the slowest shard, forward, backward and update", "compute_seconds", true,
     term_of<&LayerTerms::compute>},
    {"transfer", "Eq. 1: what its inputs and their gradients take to move", "transfer_seconds",
     true, term_of<&LayerTerms::transfer>},
    {"sync", "Eq. 1: its parameters over their replicas", "sync_seconds", true,
     term_of<&LayerTerms::sync>},
    {"moved", "what devices fetch of others for it, in one forward pass", "moved_bytes", true,
     size_of<&SceneLayers::moved>},
    {"memory", "all that is kept for it, on the device that keeps most", "memory_bytes", true,
     size_of<&SceneLayers::memory>},
}};

SceneLayers layers_of(ScenePtr scene) {
  SceneLayers of{std::move(scene)};
  if (!of.scene) return of;
  const Plan& plan = of.scene->prediction.plan;
  for (const auto& inputs : moved_forward(of.scene->input.graph, plan)) {
    Bytes sum;
    for (const Bytes bytes : inputs) sum += bytes;
    of.moved.push_back(sum);
  }
  of.memory = memory_by_layer(plan, of.scene->input.graph.size());
  return of;
}

constexpr double kGutter = 56;      // between columns; connectors run in it
constexpr double kFrame = 14;       // of an open block
constexpr double kFrameTitle = 20;  // above its nodes
constexpr double kMargin = 24;
constexpr std::size_t kMostColumns = 64;

struct Column {
  std::size_t first = 0, last = 0;  ///< stretches; `last` is the next column's first
  double left = 0, right = 0;       ///< of the line on which the chain runs
  double height = 0;
};

double left_of(const Stretch& stretch) {
  return stretch.drawing->entry.x() + (stretch.framed ? kFrame : 0);
}
double right_of(const Stretch& stretch) {
  const Drawing& drawing = *stretch.drawing;
  return drawing.size.width() - drawing.entry.x() + (stretch.framed ? kFrame : 0);
}
double height_of(const Stretch& stretch) {
  return stretch.drawing->size.height() + (stretch.framed ? kFrameTitle + kFrame : 0);
}

/// The exit need not be below the entry: the chain then goes on beside it.
double shift_of(const Stretch& stretch) {
  return stretch.drawing->centres.at(stretch.exit).x() - stretch.drawing->entry.x();
}

std::vector<Column> columns_of(std::span<const Stretch> stretches, double most) {
  std::vector<Column> columns;
  double x = 0;  // of the chain, from the column's line
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const double height = height_of(stretches[i]);
    if (columns.empty() || columns.back().height + height > most) {
      columns.push_back({i, i, 0, 0, 0});
      x = 0;
    }
    Column& column = columns.back();
    column.last = i + 1;
    column.height += height;
    column.left = std::max(column.left, left_of(stretches[i]) - x);
    column.right = std::max(column.right, right_of(stretches[i]) + x);
    x += shift_of(stretches[i]);
  }
  return columns;
}

QSizeF size_of(const std::vector<Column>& columns) {
  QSizeF size(-kGutter, 0);
  for (const Column& column : columns) {
    size.rwidth() += column.left + column.right + kGutter;
    size.rheight() = std::max(size.height(), column.height);
  }
  return size + QSizeF(2 * kMargin, 2 * kMargin);
}

// Into so many columns or fewer, the tallest of them as low as can be.
std::vector<Column> even_columns(std::span<const Stretch> stretches, std::size_t count) {
  double total = 0, low = 0;
  for (const Stretch& stretch : stretches) {
    total += height_of(stretch);
    low = std::max(low, height_of(stretch));
  }
  double high = total;
  while (high - low > 1) {
    const double middle = (low + high) / 2;
    (columns_of(stretches, middle).size() <= count ? high : low) = middle;
  }
  return columns_of(stretches, high);
}

// As many columns as show the most: the sheet, made to fit the window, is the least reduced.
std::vector<Column> best_columns(std::span<const Stretch> stretches, double aspect) {
  std::vector<Column> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t count = 1; count <= std::min(kMostColumns, stretches.size()); ++count) {
    std::vector<Column> columns = even_columns(stretches, count);
    const QSizeF size = size_of(columns);
    const double reduction = std::max(size.width() / aspect, size.height());
    if (reduction < least) {
      least = reduction;
      best = std::move(columns);
    }
    if (size.width() > 3 * aspect * size.height()) break;
  }
  return best;
}

QPainterPath connector(QPointF from, QPointF to, double gutter) {
  constexpr double kReach = 12, kRound = 8;
  const double below = from.y() + kReach, above = to.y() - kReach;
  QPainterPath path(from);
  path.lineTo(from.x(), below - kRound);
  path.quadTo(from.x(), below, from.x() + kRound, below);
  path.lineTo(gutter - kRound, below);
  path.quadTo(gutter, below, gutter, below - kRound);
  path.lineTo(gutter, above + kRound);
  path.quadTo(gutter, above, gutter + kRound, above);
  path.lineTo(to.x() - kRound, above);
  path.quadTo(to.x(), above, to.x(), above + kRound);
  path.lineTo(to);
  return path;
}

PlacedStretch placed(const Stretch& stretch, QPointF entry) {
  const Drawing& drawing = *stretch.drawing;
  const QPointF move = entry - drawing.entry;
  PlacedStretch result;
  for (const QPointF& centre : drawing.centres) {
    QRectF node(QPointF(), kNodeSize);
    node.moveCenter(centre + move);
    result.nodes.push_back(node);
    if (stretch.framed) result.frame |= node;
  }
  if (stretch.framed) {
    result.frame.adjust(-kFrame, -kFrameTitle, kFrame, kFrame);
  }
  for (const QPainterPath& curve : drawing.curves) {
    result.curves.push_back(curve.translated(move));
  }
  return result;
}

QPointF foot_of(const Stretch& stretch, const PlacedStretch& placed) {
  const QRectF& exit = placed.nodes.at(stretch.exit);
  const double bottom = stretch.framed ? placed.frame.bottom() : exit.bottom();
  return {exit.center().x(), std::max(bottom, exit.bottom())};
}

}  // namespace

std::vector<Bytes> memory_by_layer(const Plan& plan, std::size_t layers) {
  std::vector<std::vector<Bytes>> kept(layers, std::vector<Bytes>(plan.device_count()));
  for (const Buffer& buffer : plan.buffers()) kept[buffer.layer()][buffer.device()] += buffer.bytes;
  std::vector<Bytes> most(layers);
  std::transform(kept.begin(), kept.end(), most.begin(), [](const std::vector<Bytes>& devices) {
    return *std::max_element(devices.begin(), devices.end());
  });
  return most;
}

LayerTable::LayerTable(QObject* parent) : RowTable(kLayerColumns, parent) {}

// What is picked stays where the rows are the same.
void LayerTable::set_scene(ScenePtr scene, std::shared_ptr<const Parts> parts) {
  SceneLayers layers = layers_of(std::move(scene));
  if (layers.scene && this->scene() && parts == parts_) {
    context_ = std::move(layers);
    emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
    return;
  }
  std::vector<LayerRow> rows;
  if (layers.scene) {
    for (const std::size_t part : parts->visible(parts->all_open())) {
      rows.push_back({(*parts)[part].name, (*parts)[part].layers});
    }
  }
  parts_ = std::move(parts);
  show(std::move(layers), std::move(rows));
}

Sheet place(std::span<const Stretch> stretches, double aspect) {
  Sheet sheet;
  const std::vector<Column> columns = best_columns(stretches, aspect);
  sheet.columns = columns.size();
  double line = kMargin;
  QPointF foot;
  for (const Column& column : columns) {
    line += column.left;
    QPointF entry(line, kMargin);
    for (std::size_t i = column.first; i < column.last; ++i) {
      const Stretch& stretch = stretches[i];
      if (i == column.first && i > 0) {
        sheet.connectors.push_back(connector(foot, entry, line - column.left - kGutter / 2));
      }
      if (stretch.framed) {
        // The title has room between the entry and the first nodes.
        QPainterPath lead(entry);
        entry.ry() += kFrameTitle;
        lead.lineTo(entry);
        sheet.connectors.push_back(lead);
      }
      sheet.stretches.push_back(placed(stretch, entry));
      const PlacedStretch& there = sheet.stretches.back();
      const QRectF& exit = there.nodes.at(stretch.exit);
      foot = foot_of(stretch, there);
      if (stretch.framed) {
        QPainterPath lead({exit.center().x(), exit.bottom()});
        lead.lineTo(foot);
        sheet.connectors.push_back(lead);
      }
      entry = foot;
    }
    line += column.right + kGutter;
  }
  sheet.bounds = QRectF(QPointF(), size_of(columns));
  return sheet;
}

}  // namespace strata::gui
