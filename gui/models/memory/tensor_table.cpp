#include "gui/models/memory/tensor_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "gui/models/text.h"

namespace strata::gui {
namespace {

TableCell share_cell(const HeldTensors& held, const LiveTensor& live) {
  const double share = static_cast<double>(held.buffer(live).bytes.value) /
                       static_cast<double>(std::max<std::int64_t>(held.total.value, 1));
  return {human_share(share), share};
}
TableCell kind_cell(const HeldTensors& held, const LiveTensor& live) {
  const BufferKind kind = held.buffer(live).kind;
  const std::string_view what = name(kind);
  return {QString::fromUtf8(what.data(), static_cast<qsizetype>(what.size())),
          static_cast<int>(kind),
          {},
          static_cast<int>(use_of(kind))};
}
template <double LiveTensor::*time>
TableCell time_cell(const HeldTensors& held, const LiveTensor& live) {
  const bool lasts = held.buffer(live).lasts();
  return {lasts ? TensorTable::tr("always") : human_seconds({live.*time}), live.*time};
}

constexpr std::array<TensorTable::Spec, TensorTable::kColumns> kTensorColumns = {{
    {"Layer", "", "", false,
     [](auto& held, auto& live) {
       return TableCell{held.layer(live), static_cast<qlonglong>(held.buffer(live).layer())};
     }},
    {"Size", "", "", true,
     [](auto& held, auto& live) {
       const Bytes bytes = held.buffer(live).bytes;
       return TableCell{human_bytes(bytes), static_cast<qlonglong>(bytes.value)};
     }},
    {"What", "", "", false, kind_cell},
    {"Share", "Of all that the device holds at this moment", "", true, share_cell},
    {"From", "When it begins to be kept", "", true, time_cell<&LiveTensor::begin>},
    {"Until", "When it is let go", "", true, time_cell<&LiveTensor::end>},
    {"Shard", "Which of the layer's parts it is of", "", true,
     [](auto& held, auto& live) {
       const int shard = static_cast<int>(held.buffer(live).shard);
       return TableCell{QString::number(shard + 1), shard};
     }},
}};

}  // namespace

TensorTable::TensorTable(QObject* parent) : RowTable(kTensorColumns, parent) {}

void TensorTable::show(ScenePtr scene, DeviceId device, double at) {
  HeldTensors held{std::move(scene)};
  std::vector<LiveTensor> tensors;
  if (held.scene) {
    const Prediction& prediction = held.scene->prediction;
    tensors = live_tensors(prediction.plan, prediction.timeline, device, at);
  }
  for (const LiveTensor& live : tensors) held.total += held.buffer(live).bytes;
  RowTable::show(std::move(held), std::move(tensors));
}

// By shards from 0 and in seconds, whatever lasts.
std::string TensorTable::csv() const {
  std::string lines = "layer,what,shard,size_bytes,from_seconds,until_seconds\n";
  for (const LiveTensor& live : rows()) {
    const Buffer& tensor = context_.buffer(live);
    fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{}\n",
                   csv_cell(context_.layer(live).toStdString()), name(tensor.kind), tensor.shard,
                   tensor.bytes.value, live.begin, live.end);
  }
  return lines;
}

}  // namespace strata::gui
