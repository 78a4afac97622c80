#include "tests/metamorphic/drawn_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/case/framework.h"
#include "sim/case/what_ifs.h"
#include "sim/cluster/cluster_file.h"
#include "sim/cluster/presets.h"
#include "sim/graph/finetuning.h"
#include "sim/graph/model_file.h"
#include "sim/graph/zoo.h"
#include "sim/scenario/settings.h"
#include "sim/strategy/hybrid.h"
#include "sim/strategy/schedule.h"
#include "sim/strategy/strategy_file.h"
#include "sim/text/file.h"
#include "sim/text/split.h"

namespace strata::testing {
namespace {

constexpr std::array<const char*, 6> kKinds = {"p100", "k80", "v100", "a100", "h200", "p100-pcie"};
constexpr std::array<const char*, 4> kSpeeds = {"speed = 0.25\n", "speed = 0.5\n", "speed = 0.9\n",
                                                "speed = 2\n"};

// Evenly on a logarithmic scale.
double drawn_size(Random& random, double least, double most) {
  const double share = static_cast<double>(pick(random, 0, 1000)) / 1000;
  return least * std::pow(most / least, share);
}

class ClusterText {
 public:
  explicit ClusterText(Random& random)
      : random_(random), kind_(kKinds[random() % kKinds.size()]), mixed_(pick(random, 0, 3) == 0) {}

  std::string draw() {
    const std::int64_t hosts = pick(random_, 1, 3), most = hosts == 1 ? 6 : 3;
    for (std::int64_t host = 0; host < hosts; ++host) add_host(host, pick(random_, 1, most));
    if (hosts > 1) add_switch("core");
    for (std::int64_t host = 0; hosts > 1 && host < hosts; ++host) {
      add_link(fmt::format("s{}", host), "core", "inter");
    }
    if (devices_ > 1 && pick(random_, 0, 2) == 0) add_link("d0", "d1", "side");
    return text_;
  }

 private:
  // On a switch, or one behind another: then all but the last pass on what is for others.
  void add_host(std::int64_t host, std::int64_t count) {
    const bool chain = pick(random_, 0, 3) == 0;
    const std::string hub = fmt::format("s{}", host);
    add_switch(hub);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string before = chain && i > 0 ? fmt::format("d{}", devices_ - 1) : hub;
      add_device(host);
      add_link(fmt::format("d{}", devices_ - 1), before, "intra");
    }
  }

  void add_switch(const std::string& name) {
    text_ += fmt::format("[[switch]]\nname = \"{}\"\n", name);
  }

  void add_device(std::int64_t host) {
    const char* kind = mixed_ ? kKinds[random_() % kKinds.size()] : kind_;
    text_ += fmt::format("[[device]]\nname = \"d{}\"\nkind = \"{}\"\nhost = \"h{}\"\n", devices_++,
                         kind, host);
    if (pick(random_, 0, 4) == 0) text_ += kSpeeds[random_() % kSpeeds.size()];
    if (pick(random_, 0, 4) == 0) text_ += "copy_engine = false\n";
    if (pick(random_, 0, 4) == 0) text_ += "assembles = true\n";
  }

  void add_link(const std::string& from, const std::string& to, const char* kind) {
    const double bandwidth = drawn_size(random_, 1e6, 1e12);
    const double latency = pick(random_, 0, 2) == 0 ? 0.0 : drawn_size(random_, 1e-8, 1e-3);
    text_ += fmt::format(
        "[[link]]\nfrom = \"{}\"\nto = \"{}\"\nkind = \"{}\"\nduplex = true\nbandwidth = \"{:.3e} "
        "B/s\"\nlatency = \"{:.3e} s\"\n",
        from, to, kind, bandwidth, latency);
  }

  Random& random_;
  const char* kind_;
  bool mixed_;
  std::int64_t devices_ = 0;
  std::string text_ = "name = \"drawn\"\n";
};

constexpr std::string_view kWhatIf = "set.";

// Half of the settings and a quarter of the what-ifs that a case may have are said.
bool is_said(Random& random) {
  return pick(random, 0, 1) == 0;
}
bool changes(Random& random) {
  return pick(random, 0, 3) == 0;
}

template <class Words>
std::string one_of(Random& random, const Words& words) {
  return std::string(words[random() % std::size(words)]);
}

std::string factor(Random& random) {
  return fmt::format("{:.3g}x", drawn_size(random, 0.05, 20));
}

class CaseDrawer {
 public:
  CaseDrawer(Random& random, const std::string& folder, std::uint64_t number)
      : random_(random), folder_(folder), number_(number) {}

  DrawnCase draw() {
    draw_cluster();
    draw_network();
    draw_strategy();
    for (const SettingSpec& setting : settings()) {
      if (goes_with(setting, Job::predict) && !is_drawn(setting.key)) draw(setting);
    }
    for (const WhatIfSpec& what_if : what_ifs()) {
      if (changes(random_) && suits(what_if)) draw(what_if);
    }
    return std::move(drawn_);
  }

 private:
  void add(std::string_view key, std::string value) {
    drawn_.settings.push_back({std::string(key), std::move(value)});
  }
  bool is_drawn(std::string_view key) const { return !drawn_.value(key).empty(); }

  std::string file(const char* ending) const {
    return fmt::format("{}/drawn{}{}", folder_, number_, ending);
  }

  void draw_cluster() {
    static constexpr std::array kNames = {
        "p100-1x2", "p100-1x4", "p100-2x2", "p100-4x1", "p100-3x2",     "p100-2x4",
        "k80-2x2",  "v100-1x4", "a100-1x4", "a100-2x2", "h100-2x4",     "h200-2x2",
        "b200-1x4", "a100-4x2", "p100-5x3", "h100-2x1", "gb200-2xNVL4", "gb300-1xNVL8"};
    if (pick(random_, 0, 2) == 0) {
      const std::string text = strata::testing::drawn_cluster(random_);
      write_file_whole(file(".cluster.toml"), text);
      add("cluster", file(".cluster.toml"));
      cluster_ = parse_cluster(text, "cluster.toml");
    } else {
      const std::string name = one_of(random_, kNames);
      add("cluster", name);
      cluster_ = preset_cluster(name);
    }
  }

  int devices() const { return static_cast<int>(cluster_.device_count()); }

  // By name, by the sizes of a family, or in a file.
  void draw_network() {
    const std::int64_t batch = draw_batch();
    switch (pick(random_, 0, 9)) {
      case 0:
        return name_network("lenet5", batch);
      case 1:
      case 2:
      case 3:
        return name_network(family(), batch);
      case 4:
      case 5:
        return write_network(random_transformer(random_).with_batch(batch));
      case 6:
        return write_network(random_graph(random_).with_batch(batch));
      default:
        return write_network(random_network(random_, pick(random_, 3, 9)).with_batch(batch));
    }
  }

  void name_network(const std::string& name, std::int64_t batch) {
    add("model", name);
    graph_ = build_zoo(name, batch);
  }
  void write_network(Graph graph) {
    graph_ = std::move(graph);
    write_file_whole(file(".toml"), print_model(*graph_));
    add("model", file(".toml"));
  }

  // Tokens, heads and layers that several devices can share.
  std::string family() {
    const std::int64_t heads = std::int64_t{1} << pick(random_, 1, 3), layers = pick(random_, 1, 3),
                       hidden = heads * 2 * pick(random_, 1, 4), ffn = 8 * pick(random_, 1, 4),
                       seq = 4 * pick(random_, 1, 4), vocab = pick(random_, 8, 40);
    const std::string sizes =
        fmt::format("layers={},hidden={},heads={},ffn={}", layers, hidden, heads, ffn);
    const std::string tokens = fmt::format("{},seq={},vocab={}", sizes, seq, vocab);
    const char* const drops = pick(random_, 0, 3) == 0 ? ",dropout=0.1" : "";
    switch (pick(random_, 0, 3)) {
      case 0:
        return fmt::format("llama:{},kv_heads={}", tokens, heads / 2);
      case 1:
        return fmt::format("bert:{}{}", tokens, drops);
      case 2:
        return fmt::format("vit:{},image=8,patch=4,classes=7", sizes);
      default:
        return fmt::format("gpt:{}{}", tokens, drops);
    }
  }

  /// The samples of a round; those of a step and of a micro-batch become settings.
  std::int64_t draw_batch() {
    if (pick(random_, 0, 1) == 0) {
      const std::int64_t each = pick(random_, 1, 3);
      if (is_said(random_)) {
        add("batch_per_device", fmt::format("{}", each));
      } else {
        add("batch", fmt::format("{}", each * devices()));
      }
      return each * devices();
    }
    const std::int64_t samples = pick(random_, 1, 2);
    const bool many = pick(random_, 0, 5) == 0;
    const std::int64_t rounds = many ? pick(random_, 9, 20) : pick(random_, 1, 6);
    add("batch", fmt::format("{}", samples * devices() * rounds));
    add("micro_batch", fmt::format("{}", samples));
    return samples * devices();
  }

  void draw_strategy() {
    switch (pick(random_, 0, 7)) {
      case 0:
      case 1:
        return add("strategy", "data");
      case 2:
        return add("strategy", pick(random_, 0, 1) == 0 ? "model" : "owt");
      case 3:
      case 4:
      case 5:
        return add("strategy", hybrid());
      default:
        return write_strategy();
    }
  }

  // Sizes that divide the network and the devices, or data parallelism.
  std::string hybrid() {
    for (int attempt = 0; attempt < 8; ++attempt) {
      std::string name = fmt::format("hybrid:tp={}", std::int64_t{1} << pick(random_, 0, 3));
      if (is_said(random_)) name += ",sp=1";
      if (changes(random_)) name += ",cp=2";
      if (is_said(random_)) name += fmt::format(",pp={}", pick(random_, 2, 4));
      if (name.find("pp") != std::string::npos && changes(random_)) {
        name += pick(random_, 0, 1) == 0 ? ",vp=v" : ",vp=2";
      }
      try {
        hybrid_parallel(*graph_, devices(), name);
        return name;
      } catch (const InputError&) {  // it does not divide
      }
    }
    return "data";
  }

  void write_strategy() {
    const Strategy strategy = random_strategy(random_, *graph_, cluster_.device_count());
    write_file_whole(file(".json"), print_strategy(strategy, *graph_, cluster_));
    add("strategy", file(".json"));
  }

  // What names files, or has nothing to say of a prediction from its settings alone.
  static bool is_left_out(std::string_view key) {
    static const std::set<std::string_view> kKeys = {
        "dim", "seq", "batch", "batch_per_device", "micro_batch", "profile", "jitter"};
    return kKeys.contains(key);
  }

  // Types of products alone are four, and trained alike: together as often as two others.
  DType drawn_type() {
    constexpr int kOthers = static_cast<int>(DType::fp8);
    const auto drawn = static_cast<int>(pick(random_, 0, kOthers + 1));
    if (drawn < kOthers) return static_cast<DType>(drawn);
    return static_cast<DType>(pick(random_, kOthers, kDTypeNames.size() - 1));
  }

  void draw(const SettingSpec& setting) {
    if (is_left_out(setting.key) || !is_said(random_)) return;
    if (setting.key == "schedule") return add("schedule", drawn_schedule());
    if (setting.key == "zero_group") return draw_zero_group();
    if (setting.key == "dtype") return add("dtype", std::string(name(drawn_type())));
    if (setting.key == "as") return add("as", one_of(random_, framework_names()));
    if (setting.key == "train") return draw_finetuning();
    switch (setting.form) {
      case ValueForm::choice:
      case ValueForm::flag:
        return add(setting.key, one_of(random_, setting.choices));
      case ValueForm::size:
        return add(setting.key, fmt::format("{:.0f}", drawn_size(random_, 100, 1e9)));
      case ValueForm::positive:
      case ValueForm::natural:
        return add(setting.key, fmt::format("{}", pick(random_, 1, 6)));
      case ValueForm::rate:
      case ValueForm::seconds:
        return add(setting.key, fmt::format("{:.3g}", drawn_size(random_, 1e-3, 1)));
      default:
        throw InternalError(fmt::format("nothing says how `{}` is drawn", setting.key));
    }
  }

  void draw_zero_group() {
    const std::string zero = drawn_.value("zero");
    if (!zero.empty() && zero != "0") add("zero_group", fmt::format("{}", pick(random_, 2, 6)));
  }

  // Adapters are layers of their own, that a drawn strategy file says nothing of.
  void draw_finetuning() {
    const bool adapts = !drawn_.value("strategy").ends_with(".json") && is_said(random_);
    const std::string how =
        adapts ? drawn_adapters() : "frozen:" + (*graph_)[LayerId(random_() % graph_->size())].name;
    try {
      finetuned(*graph_, parse_finetuning(how));
      add("train", how);
    } catch (const InputError&) {  // it has no such products, or no other parameters
    }
  }

  std::string drawn_adapters() {
    const std::int64_t rank = pick(random_, 1, 8);
    return fmt::format("lora:r={},targets={}", rank, is_said(random_) ? "all" : "attention");
  }

  std::string drawn_schedule() {
    std::vector<std::string> names = split_at_commas(schedule_names());
    for (std::string& name : names) name.erase(0, name.find_first_not_of(' '));
    return one_of(random_, names);
  }

  // Few networks have experts, and few profiles say what a device computes at which power.
  bool suits(const WhatIfSpec& what_if) const {
    if (what_if.form == WhatIfForm::power) return false;
    return !what_if.key.starts_with("experts.") ||
           std::ranges::any_of(graph_->layers(), [](const Layer& layer) {
             return std::holds_alternative<Dispatch>(layer.op);
           });
  }

  void draw(const WhatIfSpec& what_if) {
    const std::string key = with_selector(std::string(what_if.key));
    add(std::string(kWhatIf) + key, value_of(what_if));
  }

  std::string with_selector(std::string key) {
    constexpr std::string_view kSelector = "SELECTOR";
    const std::size_t at = key.find(kSelector);
    if (at == std::string::npos) return key;
    return key.replace(at, kSelector.size(), selector_of(key.substr(0, at - 1)));
  }
  std::string selector_of(const std::string& family) {
    if (is_said(random_)) return "*";
    if (family == "link") return one_of_links();
    if (family == "device") return pick(random_, 0, 1) == 0 ? "first:1" : "last:1";
    return (*graph_)[LayerId(random_() % graph_->size())].name;
  }
  std::string one_of_links() {
    if (cluster_.links().empty()) return "*";
    const Link& link = cluster_.links()[random_() % cluster_.links().size()];
    return link.kind.empty() || is_said(random_) ? link.name : link.kind;
  }

  // Most kinds of devices know few implementations of an attention, but all have the first and the
  // last. Servers update as gradients arrive, and wait for none.
  std::string word_of(const WhatIfSpec& what_if) {
    const bool waits = what_if.key == "gradient.clip" || what_if.key == "gradient.unscale";
    if (waits && drawn_.value("sync") == "ps") return std::string(what_if.words.back());
    if (what_if.key != "attention" || is_said(random_)) return one_of(random_, what_if.words);
    return std::string(pick(random_, 0, 1) == 0 ? what_if.words.front() : what_if.words.back());
  }

  std::string value_of(const WhatIfSpec& what_if) {
    if (what_if.key == "communication.network_share") {
      return fmt::format("{:.2f}", 0.05 * static_cast<double>(pick(random_, 1, 20)));
    }
    switch (what_if.form) {
      case WhatIfForm::bandwidth:
        return is_said(random_) ? factor(random_)
                                : fmt::format("{:.3g} GB/s", drawn_size(random_, 1e-3, 1e3));
      case WhatIfForm::latency:
        return is_said(random_) ? factor(random_)
                                : fmt::format("{:.3g} s", drawn_size(random_, 1e-8, 1e-3));
      case WhatIfForm::speed:
        return is_said(random_) ? factor(random_)
                                : fmt::format("{:.3g}", drawn_size(random_, 0.1, 10));
      case WhatIfForm::size:
        return fmt::format("{:.3g} GB", drawn_size(random_, 1e-2, 1e2));
      case WhatIfForm::duration:
        return fmt::format("{:.3g} s", drawn_size(random_, 1e-7, 1e-4));
      case WhatIfForm::share:
        if (!what_if.words.empty() && is_said(random_)) return one_of(random_, what_if.words);
        return fmt::format("{:.2f}", 0.01 * static_cast<double>(pick(random_, 0, 90)));
      case WhatIfForm::ratio:
        return std::to_string(pick(random_, 1, 8));
      case WhatIfForm::load:
        return fmt::format("zipf:{:.1f}", 0.1 * static_cast<double>(pick(random_, 0, 20)));
      case WhatIfForm::power:
        return fmt::format("{} W", 50 * pick(random_, 3, 8));
      case WhatIfForm::word:
        return word_of(what_if);
    }
    throw InternalError("a what-if of no form");
  }

  Random& random_;
  const std::string& folder_;
  std::uint64_t number_;
  Cluster cluster_;
  std::optional<Graph> graph_;  ///< of one round
  DrawnCase drawn_;
};

}  // namespace

std::string drawn_cluster(Random& random) {
  return ClusterText(random).draw();
}

std::string DrawnCase::value(std::string_view key) const {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? "" : found->value;
}

DrawnCase DrawnCase::with(std::vector<Setting> changes) const {
  DrawnCase changed = *this;
  for (Setting& change : changes) {
    std::erase_if(changed.settings, [&](const Setting& old) { return old.key == change.key; });
    if (!change.value.empty()) changed.settings.push_back(std::move(change));
  }
  return changed;
}

std::string DrawnCase::text() const {
  std::vector<std::string> said;
  for (const Setting& setting : settings) {
    said.push_back(fmt::format("{}={}", setting.key, setting.value));
  }
  return fmt::format("{}", fmt::join(said, " "));
}

DrawnCase drawn_case(Random& random, const std::string& folder, std::uint64_t number) {
  return CaseDrawer(random, folder, number).draw();
}

}  // namespace strata::testing
