#include "tests/sim/record/listed_cases.h"

#include <array>
#include <span>

#include "sim/graph/zoo.h"

namespace strata::testing {
namespace {

using Texts = std::span<const std::string_view>;

struct Base {
  std::string_view text;  ///< model, cluster and batch
  CaseSize size = CaseSize::small;
};

constexpr std::array<std::string_view, 27> kOfAnyNetwork = {
    "strategy=data",
    "strategy=model",
    "strategy=owt",
    "strategy=owt sync=ps bucket=0",
    "strategy=data sync=ps",
    "strategy=data sync=tree",
    "strategy=data sync=hierarchical",
    "strategy=data sync=auto",
    "strategy=data bucket=0",
    "strategy=data bucket=4194304 optimizer=adam",
    "strategy=data zero=1 optimizer=adam",
    "strategy=data zero=2 optimizer=momentum micro_batch=8",
    "strategy=data zero=3",
    "strategy=owt zero=3 micro_batch=4",
    "strategy=data dtype=bf16 gradients=fp32 optimizer=adam",
    "strategy=data dtype=bf16 gradients=bf16",
    "strategy=data dtype=tf32 set.layout=nhwc steps=2",
    "strategy=data micro_batch=4",
    "strategy=data recompute=full",
    "strategy=data as=ddp-2017",
    "strategy=data as=fsdp optimizer=adam",
    "strategy=data as=megatron",
    "strategy=data set.overlap=off steps=6",
    "strategy=owt set.link.*.bandwidth=0.25x set.device.first:1.speed=0.5x",
    "strategy=hybrid:tp=2",
    "strategy=hybrid:tp=1,pp=2 micro_batch=4",
    "strategy=hybrid:tp=1,pp=2 micro_batch=4 schedule=gpipe recompute=full",
};

// On 8 devices; two rounds or more where there are stages.
constexpr std::array<std::string_view, 53> kOfTransformers = {
    "strategy=data",
    "strategy=model",
    "strategy=owt",
    "strategy=data sync=ps",
    "strategy=data sync=tree bucket=0",
    "strategy=data sync=hierarchical gradients=bf16 dtype=bf16",
    "strategy=data sync=auto gradients=fp32 dtype=bf16",
    "strategy=data zero=1 micro_batch=1 optimizer=adam",
    "strategy=data zero=2 micro_batch=2 optimizer=adam dtype=bf16",
    "strategy=data zero=3 micro_batch=1 optimizer=adam",
    "strategy=data zero=3 set.gather=once micro_batch=1 recompute=full",
    "strategy=data recompute=selective set.attention=unfused",
    "strategy=data recompute=full bucket=0",
    "strategy=data as=fsdp recompute=full dtype=bf16",
    "strategy=data as=fsdp micro_batch=1 optimizer=adam",
    "strategy=data as=ddp-2017",
    "strategy=data as=megatron dtype=fp16",
    "strategy=hybrid:tp=2",
    "strategy=hybrid:tp=2 zero=1 optimizer=adam",
    "strategy=hybrid:tp=2 zero=3 micro_batch=2",
    "strategy=hybrid:tp=4 sync=auto micro_batch=4",
    "strategy=hybrid:tp=8",
    "strategy=hybrid:tp=8,sp=1 recompute=selective",
    "strategy=hybrid:tp=4,sp=1 recompute=full micro_batch=4 optimizer=adam",
    "strategy=hybrid:tp=4,sp=1 as=megatron zero=1 dtype=bf16",
    "strategy=hybrid:tp=4 set.exchanges=collective set.products=merged",
    "strategy=hybrid:tp=4 set.products=apart set.communication.share=0.2",
    "strategy=hybrid:tp=1,cp=2",
    "strategy=hybrid:tp=2,cp=2 zero=2 optimizer=adam",
    "strategy=hybrid:tp=2,sp=1,cp=4 micro_batch=8",
    "strategy=hybrid:tp=1,cp=2,pp=2 micro_batch=2 recompute=full",
    "strategy=hybrid:tp=2,sp=1,cp=2,pp=2 micro_batch=4 as=megatron",
    "strategy=hybrid:tp=1,pp=2 micro_batch=2",
    "strategy=hybrid:tp=1,pp=4 micro_batch=1 zero=1 optimizer=adam",
    "strategy=hybrid:tp=1,pp=4 micro_batch=1 zero=3 schedule=1f1b",
    "strategy=hybrid:tp=1,pp=4 micro_batch=1 zero=2 schedule=gpipe optimizer=momentum",
    "strategy=hybrid:tp=2,pp=2 micro_batch=2 schedule=gpipe",
    "strategy=hybrid:tp=2,pp=2 micro_batch=2 schedule=1f1b recompute=full",
    "strategy=hybrid:tp=2,pp=2 micro_batch=1 schedule=zb-h1",
    "strategy=hybrid:tp=2,pp=2 micro_batch=1 schedule=zb-h1 zero=1 as=megatron",
    "strategy=hybrid:tp=2,pp=2,vp=2 micro_batch=2",
    "strategy=hybrid:tp=2,pp=2,vp=2 micro_batch=2 schedule=interleaved zero=1 optimizer=adam",
    "strategy=hybrid:tp=2,pp=2,vp=2 micro_batch=2 schedule=interleaved as=megatron",
    "strategy=hybrid:tp=2,sp=1,pp=2,vp=2 micro_batch=2 recompute=selective gradients=bf16 "
    "dtype=bf16",
    "strategy=hybrid:tp=2,pp=2,vp=v micro_batch=2",
    "strategy=hybrid:tp=2,pp=2,vp=v micro_batch=2 schedule=zb-v zero=1",
    "strategy=hybrid:tp=1,pp=2,vp=v micro_batch=1 schedule=zb-v recompute=full sync=auto",
    "strategy=hybrid:tp=1,pp=8 micro_batch=1",
    "strategy=hybrid:tp=2,pp=2 micro_batch=2 set.launch.stages=wait set.launch.passes=wait "
    "set.launch.forward=5us",
    "strategy=hybrid:tp=2,pp=2 micro_batch=2 set.overlap=off steps=3",
    "strategy=hybrid:tp=2,pp=2 micro_batch=2 sync=ps bucket=1000000",
    "strategy=hybrid:tp=2,pp=2 micro_batch=2 set.device.first:1.speed=0.5x set.dropout=masks",
    "strategy=hybrid:tp=3",
};

// Of members of the families as they are named.
constexpr std::array<std::string_view, 7> kOfLanguage = {
    "strategy=data dtype=bf16 zero=1 optimizer=adam micro_batch=1",
    "strategy=data dtype=bf16 zero=3 optimizer=adam as=fsdp",
    "strategy=hybrid:tp=8 dtype=bf16 recompute=selective micro_batch=1",
    "strategy=hybrid:tp=4,sp=1,pp=2 dtype=bf16 micro_batch=1 optimizer=adam",
    "strategy=hybrid:tp=2,cp=2,pp=2 dtype=bf16 micro_batch=1 recompute=full zero=1",
    "strategy=hybrid:tp=2,pp=4,vp=3 dtype=bf16 micro_batch=1 as=megatron",
    "strategy=hybrid:tp=2,pp=4 dtype=bf16 micro_batch=1 schedule=zb-h1",
};

// From one device to 1,024.
constexpr std::array<std::string_view, 7> kOfAnySize = {
    "strategy=data",
    "strategy=data zero=3 sync=hierarchical",
    "strategy=data sync=auto micro_batch=1",
    "strategy=hybrid:tp=2 optimizer=adam zero=1",
    "strategy=hybrid:tp=8,sp=1 micro_batch=4",
    "strategy=hybrid:tp=4,pp=4 micro_batch=1 zero=1",
    "strategy=hybrid:tp=2,cp=2,pp=2,vp=2 micro_batch=2",
};

constexpr std::array<Base, 13> kConvolutional = {{
    {"model=lenet5 cluster=p100-1x4 batch=64", CaseSize::tiny},
    {"model=alexnet cluster=p100-2x4 batch=256", CaseSize::tiny},
    {"model=vgg16 cluster=v100-1x4 batch=128", CaseSize::tiny},
    {"model=inception_v3 cluster=p100-1x4 batch=128"},
    {"model=resnet18 cluster=k80-2x2 batch=64"},
    {"model=resnet50 cluster=v100-1x8 batch=256"},
    {"model=resnet101 cluster=p100-2x2 batch=64"},
    {"model=resnet152 cluster=a100-1x2 batch=64"},
    {"model=googlenet cluster=p100-4x1 batch=128"},
    {"model=densenet121 cluster=p100-1x2 batch=64"},
    {"model=mobilenet_v2 cluster=dgx1-p100 batch=256"},
    {"model=r3d_18 cluster=a100-2x2 batch=32"},
    {"model=textcnn cluster=p100-3x2 batch=192", CaseSize::tiny},
}};

constexpr std::array<Base, 6> kSmallTransformers = {{
    {"model=gpt:layers=4,hidden=256,heads=8,seq=128,vocab=1000 cluster=a100-1x8 batch=32",
     CaseSize::tiny},
    {"model=gpt:layers=6,hidden=512,heads=8,seq=64,vocab=512,dropout=0.1 cluster=p100-2x4 "
     "batch=48"},
    {"model=llama:layers=4,hidden=256,heads=8,kv_heads=8,ffn=704,seq=256,vocab=2000 "
     "cluster=h100-2x4 batch=32"},
    {"model=llama:layers=8,hidden=512,heads=16,kv_heads=4,ffn=1376,seq=128,vocab=1600 "
     "cluster=b200-1x8 batch=32"},
    {"model=bert:layers=4,hidden=256,heads=8,seq=64,vocab=800 cluster=v100-1x8 batch=64"},
    {"model=vit:layers=4,hidden=192,heads=8,image=64,patch=8,classes=100 cluster=h200-4x2 "
     "batch=64"},
}};

// Of 4 blocks or more to each chunk.
constexpr std::array<Base, 5> kSizes = {{
    {"model=gpt2:seq=256 cluster=a100-1x1 batch=8", CaseSize::large},
    {"model=gpt2:seq=256 cluster=a100-1x2 batch=16", CaseSize::large},
    {"model=gpt2:seq=256 cluster=h100-2x8 batch=64", CaseSize::large},
    {"model=llama3-8b:seq=1024 cluster=h100-16x8 batch=512", CaseSize::large},
    {"model=llama3-8b:seq=1024 cluster=a100-128x8 batch=4096", CaseSize::large},
}};

constexpr std::array<std::string_view, 8> kLarge = {
    "model=gpt3-175b cluster=a100-64x8 batch=1536 micro_batch=1 strategy=hybrid:tp=8,pp=8,vp=3",
    "model=gpt3-175b cluster=a100-64x8 batch=1536 micro_batch=1 strategy=hybrid:tp=8,pp=8,vp=3 "
    "as=megatron recompute=full dtype=fp16",
    "model=gpt3-175b cluster=a100-64x8 batch=512 micro_batch=1 strategy=hybrid:tp=8,sp=1,pp=8 "
    "zero=1 optimizer=adam dtype=bf16 recompute=selective",
    "model=llama3-405b cluster=h100-256x8 batch=2048 micro_batch=1 strategy=hybrid:tp=8,pp=16",
    "model=llama3-405b cluster=h100-256x8 batch=2048 micro_batch=1 "
    "strategy=hybrid:tp=8,sp=1,pp=16 zero=1 optimizer=adam dtype=bf16",
    "model=llama3-70b cluster=h100-16x8 batch=128 micro_batch=1 strategy=hybrid:tp=8",
    "model=llama3-70b cluster=h100-16x8 batch=128 strategy=data zero=3 optimizer=adam dtype=bf16",
    "model=llama3-70b cluster=h100-16x8 batch=128 micro_batch=1 strategy=hybrid:tp=8,pp=4 "
    "schedule=zb-h1 dtype=bf16",
};

// "KEY=VALUE KEY=VALUE".
DrawnCase read_case(std::string_view text) {
  DrawnCase said;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = one.find('=');
    said.settings.push_back(
        {std::string(one.substr(0, equals)), std::string(one.substr(equals + 1))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return said;
}

void add(const Base& base, Texts variants, std::vector<ListedCase>& all) {
  for (const std::string_view variant : variants) {
    all.push_back({read_case(std::string(base.text) + " " + std::string(variant)), base.size});
  }
}

}  // namespace

std::vector<ListedCase> listed_cases() {
  std::vector<ListedCase> all;
  for (const Base& base : kConvolutional) add(base, kOfAnyNetwork, all);
  for (const Base& base : kSmallTransformers) add(base, kOfTransformers, all);
  for (const ZooEntry& entry : zoo().subspan(convolutional_zoo().size())) {
    const bool of_images = entry.name.starts_with("vit");
    const std::string text =
        "model=" + std::string(entry.name) +
        (of_images ? " cluster=a100-1x8 batch=64" : " cluster=h100-2x8 batch=32");
    add({text, CaseSize::large}, kOfLanguage, all);
  }
  for (const Base& base : kSizes) add(base, kOfAnySize, all);
  for (const std::string_view text : kLarge) all.push_back({read_case(text), CaseSize::large});
  return all;
}

}  // namespace strata::testing
