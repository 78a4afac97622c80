// Which ops are read as parts of networks of tokens, and by what.

#include <array>
#include <map>

#include "sim/base/error.h"
#include "sim/importers/onnx/node_readers.h"

namespace strata {
namespace {

using Readers = std::multimap<std::string_view, TokenReader>;

Readers all_readers() {
  Readers all;
  for (const TokenOps ops :
       {attention_ops(), rotary_ops(), embedding_ops(), spelled_ops(), view_ops()}) {
    for (const TokenOp& op : ops) all.emplace(op.op, op.read);
  }
  return all;
}

void refuse(OnnxNode&) {
  throw InputError("allowed: in attentions, norms and activations of tokens that are spelled out");
}

}  // namespace

bool read_tokens(OnnxNode& node) {
  static const Readers kReaders = all_readers();
  if (!is_onnx_domain(node.proto().domain())) return false;
  const auto [first, last] = kReaders.equal_range(node.proto().op_type());
  for (auto at = first; at != last; ++at) {
    if (at->second(node)) return true;
  }
  return false;
}

KnownOps token_readers() {
  static constexpr std::array kOps = {
      KnownOp{"Attention", refuse},
      KnownOp{"IsNaN", refuse},
      KnownOp{"Neg", refuse},
      KnownOp{"Pow", refuse},
      KnownOp{"RMSNormalization", refuse},
      KnownOp{"Reciprocal", refuse},
      KnownOp{"SequenceAt", refuse},
      KnownOp{"Split", refuse},
      KnownOp{"SplitToSequence", refuse},
      KnownOp{"Sqrt", refuse},
      KnownOp{"Where", refuse},
  };
  return kOps;
}

}  // namespace strata
