#!/usr/bin/env python3
"""Decoders and encoder-decoders of the zoo's families compute what transformers' modules of the same
sizes do: the loss of one step and the gradient of every parameter, on one device and on two that share heads.

    STRATA=build/dev/bin/strata python3 tests/cli/decoders_test.py

Exits with 77 where PyTorch or transformers are not installed. STRATA_TORCH_PYTHON names a Python that
has them, and that then runs this test.
"""

import dataclasses
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

import cases

NEEDED = ("numpy", "torch", "transformers")
LAYERS, HIDDEN, HEADS, FFN, SEQ, VOCAB, BATCH = 2, 32, 4, 48, 12, 50, 4
SIZES = f"layers={LAYERS},hidden={HIDDEN},heads={HEADS},seq={SEQ},vocab={VOCAB},epsilon=1e-5"
TOLERANCE = 1e-4

# What transformers call the layers of a block, where a case has no other name.
NAMES = {
    "query": "self_attn.q_proj", "key": "self_attn.k_proj", "value": "self_attn.v_proj",
    "attention_out": "self_attn.o_proj", "query_norm": "self_attn.q_norm",
    "key_norm": "self_attn.k_norm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_out": "mlp.down_proj", "attention_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm"}
BEHIND = {"attention_post_norm": "post_attention_layernorm",
          "ffn_post_norm": "post_feedforward_layernorm"}


def part(begin, end):
    """Rows of a tensor that several layers have in one."""
    return lambda tensor: tensor[begin:end]


def rows_of_heads(which, size):
    """Those of query, key or value (0, 1, 2), which stand side by side in each head."""
    return lambda tensor: tensor.unflatten(0, (HEADS, 3, size))[:, which].flatten(0, 1)


def pairs_apart(size, turned):
    """Rows whose rotary pairs (2i, 2i + 1) come to lie half of what is turned apart."""
    order = [*range(0, turned, 2), *range(1, turned, 2), *range(turned, size)]
    return lambda tensor: tensor.unflatten(0, (HEADS, size))[:, order].flatten(0, 1)


@dataclasses.dataclass
class Decoder:
    """A module of transformers, its config beside the sizes, and the same in keys of a family."""
    module: str
    config: dict
    keys: str
    names: dict = dataclasses.field(default_factory=dict)
    takes: dict = dataclasses.field(default_factory=dict)   # by layer: what of the named tensor
    family: str = "llama"
    block: str = "model.layers.{}."
    ends: dict = dataclasses.field(default_factory=dict)
    one_more: bool = False                                  # norms multiply by 1 + w
    # By LAYER.weight or LAYER.bias of a block, where the parameter has another name than these.
    parameters: dict = dataclasses.field(default_factory=dict)
    strategies: tuple = ()                                  # more of them, each with its devices

    def source(self, file):
        """The parameter that a file of weights is of, and what part of it."""
        layer, kind = file.rsplit(".", 1)
        if not layer.startswith("block"):
            ends = {"embedding": "model.embed_tokens", "norm": "model.norm", "head": "lm_head",
                    **self.ends}
            return f"{ends[layer]}.{kind}", self.takes.get(layer, lambda tensor: tensor)
        number, part_of_block = layer.removeprefix("block").split("_", 1)
        block = self.block.format(int(number) - 1)
        if f"{part_of_block}.{kind}" in self.parameters:
            name, take = self.parameters[f"{part_of_block}.{kind}"]
            return block + name, take
        name = {**NAMES, **self.names}[part_of_block]
        take = self.takes.get(part_of_block, lambda tensor: tensor)
        return f"{block}{name}.{kind}", take


    def sizes(self):
        return SIZES

    def build(self):
        """The module, with its first values."""
        import transformers
        kind = "Gemma3Text" if self.module == "Gemma3" else self.module
        config = getattr(transformers, kind + "Config")(**{
            "vocab_size": VOCAB, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "max_position_embeddings": SEQ, "rms_norm_eps": 1e-5,
            "pad_token_id": None, "bos_token_id": None, "eos_token_id": None,
            "tie_word_embeddings": self.family == "gpt", "attn_implementation": "eager",
            **self.config})
        return getattr(transformers, self.module + "ForCausalLM")(config).float().eval()

    def data(self):
        """What the module reads, by the name of the file that a run reads it from."""
        import torch
        return {"input": torch.randint(VOCAB, (BATCH, SEQ))}

    def logits(self, module, data):
        return module(input_ids=data["input"]).logits


@dataclasses.dataclass
class EncoderDecoder(Decoder):
    """Of T5's kind; the decoder has fewer tokens than the encoder, and one layer more."""
    family: str = "t5"
    tied: bool = True
    target_seq = 7

    def sizes(self):
        return (f"layers={LAYERS},decoder_layers={LAYERS + 1},hidden={HIDDEN},heads={HEADS},"
                f"head_dim=6,ffn={FFN},seq={SEQ},target_seq={self.target_seq},vocab={VOCAB},"
                f"epsilon=1e-5,buckets=8,max_distance=10,tied={int(self.tied)}")

    def build(self):
        import torch
        import transformers
        config = transformers.T5Config(
            vocab_size=VOCAB, d_model=HIDDEN, d_kv=6, d_ff=FFN, num_layers=LAYERS,
            num_decoder_layers=LAYERS + 1, num_heads=HEADS, relative_attention_num_buckets=8,
            relative_attention_max_distance=10, layer_norm_epsilon=1e-5, dropout_rate=0.0,
            tie_word_embeddings=self.tied, attn_implementation="eager", **self.config)
        if config.is_gated_act:
            config.dense_act_fn = "gelu"
        module = transformers.T5ForConditionalGeneration(config).float().eval()
        if not self.tied:
            module.lm_head.weight = torch.nn.Parameter(module.lm_head.weight.detach().clone())
        return module

    def data(self):
        import torch
        return {"input": torch.randint(VOCAB, (BATCH, SEQ)),
                "target": torch.randint(VOCAB, (BATCH, self.target_seq))}

    def logits(self, module, data):
        return module(input_ids=data["input"], decoder_input_ids=data["target"],
                      use_cache=False).logits

    def source(self, file):
        layer, kind = file.rsplit(".", 1)
        same = lambda tensor: tensor
        ends = {"embedding": "shared", "encoder_norm": "encoder.final_layer_norm",
                "decoder_norm": "decoder.final_layer_norm", "head": "lm_head"}
        if layer in ends:
            return f"{ends[layer]}.{kind}", same
        stack, block, part_of_block = layer.split("_", 2)
        at = f"{stack}.block.{int(block.removeprefix('block')) - 1}.layer."
        last = 1 if stack == "encoder" else 2
        products = {"query": "q", "key": "k", "value": "v", "attention_out": "o"}
        inner = {"ffn_in": "wi", "ffn_gate": "wi_0", "ffn_up": "wi_1", "ffn_out": "wo"}
        if part_of_block == "attention":
            return at + "0.SelfAttention.relative_attention_bias.weight", lambda tensor: tensor.T
        if part_of_block.startswith("cross_") and part_of_block != "cross_attention_norm":
            return f"{at}1.EncDecAttention.{products[part_of_block[6:]]}.{kind}", same
        if part_of_block in products:
            return f"{at}0.SelfAttention.{products[part_of_block]}.{kind}", same
        if part_of_block in inner:
            return f"{at}{last}.DenseReluDense.{inner[part_of_block]}.{kind}", same
        norms = {"attention_norm": 0, "cross_attention_norm": 1, "ffn_norm": last}
        return f"{at}{norms[part_of_block]}.layer_norm.{kind}", same


@dataclasses.dataclass
class Whisper(EncoderDecoder):
    """Frames of sound, of which convolutions leave half."""
    family: str = "whisper"
    mels = 6

    def sizes(self):
        return (f"layers={LAYERS},decoder_layers={LAYERS + 1},hidden={HIDDEN},heads={HEADS},"
                f"ffn={FFN},seq={2 * SEQ},target_seq={self.target_seq},positions=9,"
                f"mels={self.mels},vocab={VOCAB}")

    def build(self):
        import transformers
        config = transformers.WhisperConfig(
            vocab_size=VOCAB, d_model=HIDDEN, num_mel_bins=self.mels, encoder_layers=LAYERS,
            decoder_layers=LAYERS + 1, encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS, encoder_ffn_dim=FFN, decoder_ffn_dim=FFN, dropout=0.0,
            max_source_positions=SEQ, max_target_positions=9, pad_token_id=0, bos_token_id=0,
            eos_token_id=0, decoder_start_token_id=0, attn_implementation="eager")
        module = transformers.WhisperForConditionalGeneration(config).float().eval()
        module.model.encoder.embed_positions.requires_grad_(True)
        return module

    def data(self):
        import torch
        return {"input": torch.randn(BATCH, self.mels, 2 * SEQ),
                "target": torch.randint(VOCAB, (BATCH, self.target_seq))}

    def logits(self, module, data):
        return module(input_features=data["input"], decoder_input_ids=data["target"],
                      use_cache=False).logits

    def source(self, file):
        layer, kind = file.rsplit(".", 1)
        same = lambda tensor: tensor
        ends = {"embedding": ("decoder.embed_tokens", same),
                "positions": ("decoder.embed_positions", lambda tensor: tensor.T),
                "sound_positions": ("encoder.embed_positions", lambda tensor: tensor.T),
                "encoder_norm": ("encoder.layer_norm", same),
                "decoder_norm": ("decoder.layer_norm", same),
                "conv1": ("encoder.conv1", same), "conv2": ("encoder.conv2", same)}
        if layer in ends:
            name, take = ends[layer]
            return f"model.{name}.{kind}", take
        stack, block, part_of_block = layer.split("_", 2)
        at = f"model.{stack}.layers.{int(block.removeprefix('block')) - 1}."
        products = {"query": "q_proj", "key": "k_proj", "value": "v_proj",
                    "attention_out": "out_proj"}
        others = {"ffn_in": "fc1", "ffn_out": "fc2", "attention_norm": "self_attn_layer_norm",
                  "cross_attention_norm": "encoder_attn_layer_norm",
                  "ffn_norm": "final_layer_norm"}
        if part_of_block in others:
            return f"{at}{others[part_of_block]}.{kind}", same
        kind_of_attention = "encoder_attn" if part_of_block.startswith("cross_") else "self_attn"
        product = products[part_of_block.removeprefix("cross_")]
        return f"{at}{kind_of_attention}.{product}.{kind}", same


def of_gpt_oss():
    """The parameters of its experts, whose weights are transposed, gates and factors in turn."""
    experts = "mlp.experts."
    found = {"attention.weight": ("self_attn.sinks", lambda tensor: tensor),
             "ffn_expert_out.weight": (experts + "down_proj", lambda tensor: tensor.mT),
             "ffn_expert_out.bias": (experts + "down_proj_bias", lambda tensor: tensor.flatten())}
    for begin, name in enumerate(("gate", "up")):
        found[f"ffn_expert_{name}.weight"] = (
            experts + "gate_up_proj", lambda tensor, begin=begin: tensor[..., begin::2].mT)
        found[f"ffn_expert_{name}.bias"] = (
            experts + "gate_up_proj_bias", lambda tensor, begin=begin: tensor[:, begin::2].flatten())
    return found


def decoders():
    size = HIDDEN // HEADS
    grouped = {"num_key_value_heads": 2, "intermediate_size": FFN}
    gated = f"kv_heads=2,ffn={FFN}"
    gemma = {**grouped, "head_dim": 12, "hidden_act": "gelu_python",
             "hidden_activation": "gelu_python", "tie_word_embeddings": True}
    of_gemma = f"{gated},head_dim=12,act=geglu,tied=1,scale_embedding=1"
    windows = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 5,
               "query_pre_attn_scalar": 7}
    of_windows = f"norms=both,window=5,global_every=2,score_scale={7 ** -0.5}"
    behind = {"ffn_norm": "pre_feedforward_layernorm", **BEHIND}
    neox = {"query": "attention.query_key_value", "key": "attention.query_key_value",
            "value": "attention.query_key_value", "attention_out": "attention.dense",
            "ffn_in": "mlp.dense_h_to_4h", "ffn_out": "mlp.dense_4h_to_h"}
    wide = {"num_key_value_heads": HEADS, "intermediate_size": FFN}
    pair = pairs_apart(size, 4)
    in_stages = ((2, "hybrid:pp=2"), (4, "hybrid:tp=2,sp=1,pp=2"))
    return {
        "t5": EncoderDecoder("T5", {"feed_forward_proj": "relu"}, "", strategies=in_stages),
        "t5_v1.1": EncoderDecoder("T5", {"feed_forward_proj": "gated-gelu"}, "act=geglu",
                                  tied=False, strategies=in_stages),
        "whisper": Whisper("Whisper", {}, "", strategies=in_stages),
        "qwen2": Decoder("Qwen2", {**grouped, "tie_word_embeddings": True},
                         f"{gated},bias=qkv,tied=1"),
        "qwen3": Decoder("Qwen3", {**grouped, "head_dim": 12}, f"{gated},head_dim=12,qk_norm=head"),
        "mistral": Decoder("Mistral", {**grouped, "sliding_window": 5}, f"{gated},window=5"),
        "gemma": Decoder("Gemma", gemma, of_gemma, one_more=True),
        "gemma2": Decoder(
            "Gemma2", {**gemma, **windows, "attn_logit_softcapping": 2.0,
                       "final_logit_softcapping": 3.0},
            f"{of_gemma},{of_windows},softcap=2,logit_softcap=3", behind, one_more=True),
        "gemma3": Decoder(
            "Gemma3", {**gemma, **windows, "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                "full_attention": {"rope_type": "default", "rope_theta": 1000.0}}},
            f"{of_gemma},{of_windows},qk_norm=head,rope_base=1000,window_rope_base=100", behind,
            one_more=True),
        "olmo2": Decoder("Olmo2", wide, f"ffn={FFN},norms=after,qk_norm=full", BEHIND),
        "phi3": Decoder(
            "Phi3", {**grouped, "sliding_window": 5}, f"{gated},window=5",
            {"query": "self_attn.qkv_proj", "key": "self_attn.qkv_proj",
             "value": "self_attn.qkv_proj", "ffn_gate": "mlp.gate_up_proj",
             "ffn_up": "mlp.gate_up_proj"},
            {"query": part(0, 32), "key": part(32, 48), "value": part(48, 64),
             "ffn_gate": part(0, FFN), "ffn_up": part(FFN, 2 * FFN)}),
        "stablelm": Decoder(
            "StableLm", {**wide, "use_qkv_bias": True, "layer_norm_eps": 1e-5,
                         "partial_rotary_factor": 0.5},
            f"ffn={FFN},norm=layer,bias=qkv,rope_share=0.5"),
        "nemotron": Decoder(
            "Nemotron", {**grouped, "norm_eps": 1e-5, "partial_rotary_factor": 0.5},
            f"{gated},norm=layer,act=relu2,rope_share=0.5", {"ffn_in": "mlp.up_proj"},
            one_more=True),
        "gptj": Decoder(
            "GPTJ", {"n_embd": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "n_positions": SEQ,
                     "rotary_dim": 4, "activation_function": "gelu", "n_inner": FFN,
                     "tie_word_embeddings": False},
            f"ffn={FFN},norm=layer,act=gelu,parallel=shared,bias=ffn,head_bias=1,rope_share=0.5",
            {"query": "attn.q_proj", "key": "attn.k_proj", "value": "attn.v_proj",
             "attention_out": "attn.out_proj", "ffn_in": "mlp.fc_in", "ffn_out": "mlp.fc_out",
             "norm": "ln_1"},
            {"query": pair, "key": pair}, block="transformer.h.{}.",
            ends={"embedding": "transformer.wte", "norm": "transformer.ln_f"}),
        "neox": Decoder(
            "GPTNeoX", {"intermediate_size": FFN, "hidden_act": "gelu_python",
                        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                                            "partial_rotary_factor": 0.5},
                        "tie_word_embeddings": False},
            f"ffn={FFN},norm=layer,act=gelu,parallel=separate,bias=all,rope_share=0.5", neox,
            {name: rows_of_heads(which, size) for which, name in
             enumerate(("query", "key", "value"))},
            block="gpt_neox.layers.{}.",
            ends={"embedding": "gpt_neox.embed_in", "norm": "gpt_neox.final_layer_norm"}),
        "falcon": Decoder(
            "Falcon", {"multi_query": True, "parallel_attn": True, "alibi": False, "bias": False,
                       "new_decoder_architecture": False, "tie_word_embeddings": True},
            "kv_heads=1,norm=layer,act=gelu,parallel=shared,tied=1",
            {"query": "self_attention.query_key_value", "key": "self_attention.query_key_value",
             "value": "self_attention.query_key_value", "attention_out": "self_attention.dense",
             "ffn_in": "mlp.dense_h_to_4h", "ffn_out": "mlp.dense_4h_to_h",
             "norm": "input_layernorm"},
            {"query": part(0, 32), "key": part(32, 40), "value": part(40, 48)},
            block="transformer.h.{}.",
            ends={"embedding": "transformer.word_embeddings", "norm": "transformer.ln_f"}),
        "phi": Decoder(
            "Phi", {"intermediate_size": FFN, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
                    "partial_rotary_factor": 0.5, "tie_word_embeddings": False},
            f"ffn={FFN},norm=layer,act=gelu,parallel=shared,bias=all,head_bias=1,rope_share=0.5",
            {"attention_out": "self_attn.dense", "ffn_in": "mlp.fc1", "ffn_out": "mlp.fc2",
             "norm": "input_layernorm"},
            ends={"norm": "model.final_layernorm"}),
        # Some values lie beyond the limit.
        "gpt_oss": Decoder(
            "GptOss", {**grouped, "head_dim": 12, "sliding_window": 5, "num_local_experts": 4,
                       "num_experts_per_tok": 2, "tie_word_embeddings": False, "swiglu_limit": 7.0,
                       "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
            f"kv_heads=2,head_dim=12,window=5,global_every=2,sinks=1,bias=attention,"
            f"act=clamped_swiglu,experts=4,topk=2,moe_ffn={FFN},expert_bias=1,router_bias=1,"
            f"capacity=2", {"ffn_router": "mlp.router"}, parameters=of_gpt_oss(),
            strategies=((2, "hybrid:ep=2"), (2, "hybrid:tp=2,sp=1,ep=2,etp=1"))),
        "opt": Decoder(
            "OPT", {"ffn_dim": FFN, "word_embed_proj_dim": HIDDEN, "dropout": 0.0,
                    "max_position_embeddings": SEQ},
            f"ffn={FFN},act=relu",
            {"attention_out": "self_attn.out_proj", "attention_norm": "self_attn_layer_norm",
             "ffn_norm": "final_layer_norm", "ffn_in": "fc1", "ffn_out": "fc2"},
            {"positions": lambda tensor: tensor[2:].T}, family="gpt",
            block="model.decoder.layers.{}.",
            ends={"embedding": "model.decoder.embed_tokens",
                  "positions": "model.decoder.embed_positions",
                  "norm": "model.decoder.final_layer_norm"}),
    }


def build(decoder):
    """The module, with parameters far enough from zero that each matters."""
    import torch
    torch.manual_seed(3)
    module = decoder.build()
    for name, tensor in module.named_parameters():
        table = any(word in name for word in ("embed", "shared", "relative"))
        spread = 0.2 if tensor.ndim == 1 or table else tensor.shape[-1] ** -0.5
        start = 1.0 if tensor.ndim == 1 and name.endswith("weight") and not decoder.one_more else 0.0
        torch.nn.init.normal_(tensor, start, spread)
    return module


class Step:
    """A folder with the data and the weights of a decoder, and its gradients by PyTorch."""

    def __init__(self, decoder, folder):
        import numpy
        import torch
        self.decoder, self.folder, self.model = decoder, folder, (
            f"{decoder.family}:{decoder.sizes()},{decoder.keys}".removesuffix(","))
        module = build(decoder)
        data = decoder.data()
        logits = decoder.logits(module, data)
        labels = torch.randint(VOCAB, logits.shape[:2])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        self.loss, self.gradients, self.before = loss.item(), {}, {}
        (folder / "weights").mkdir()
        for name, tokens in data.items():
            values = tokens.float().numpy()
            numpy.save(folder / f"{name}.npy", values if values.ndim > 2 else values[:, None])
        numpy.save(folder / "labels.npy", labels.numpy())
        self.used = set()
        for name in self.files():
            source, take = decoder.source(name)
            tensor = module.get_parameter(source)
            self.used.add(id(tensor))
            more = decoder.one_more and name.endswith("norm.weight")
            self.before[name] = take(tensor.detach()).contiguous().numpy() + (1 if more else 0)
            self.gradients[name] = take(tensor.grad).contiguous().numpy()
            numpy.save(folder / "weights" / f"{name}.npy", self.before[name])
        self.left_out = [name for name, each in module.named_parameters()
                         if id(each) not in self.used]

    def files(self):
        """Those of a run's weights: LAYER.weight and LAYER.bias."""
        outcome = cases.run(f"strata run {self.model} --devices cpu:1 --strategy data --batch "
                            f"{BATCH} --steps 1 --save-weights names --json", self.folder)
        if outcome.exit_code != 0:
            raise AssertionError(outcome.stderr)
        return sorted(path.stem for path in (self.folder / "names").glob("*.npy"))

    def run(self, devices, strategy):
        """The loss, and the gradients by what a step of plain SGD changed."""
        import numpy
        after = f"after{devices}{strategy.replace(':', '-')}"
        outcome = cases.run(
            f"strata run {self.model} --devices cpu:{devices} --strategy {strategy} --batch {BATCH} "
            f"--steps 1 --lr 1 --data . --weights weights --save-weights {after} --json",
            self.folder)
        if outcome.exit_code != 0:
            raise AssertionError(outcome.stderr)
        changes = {name: self.before[name] - numpy.load(self.folder / after / f"{name}.npy")
                   for name in self.before}
        return json.loads(outcome.stdout)["losses"][0], changes


class Decoders(unittest.TestCase):
    def test_a_step_is_that_of_transformers(self):
        import numpy
        for name, decoder in decoders().items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                step = Step(decoder, pathlib.Path(folder))
                self.assertEqual(step.left_out, [])
                for devices, strategy in ((1, "data"), (2, "data"), (2, "hybrid:tp=2,sp=1"),
                                          (2, "hybrid:cp=2"), (4, "hybrid:tp=4"),
                                          *decoder.strategies):
                    loss, changes = step.run(devices, strategy)
                    where = f"{name} {strategy} {devices}"
                    self.assertLessEqual(abs(loss - step.loss), TOLERANCE * step.loss, where)
                    for parameter, gradient in step.gradients.items():
                        off = numpy.abs(changes[parameter] - gradient).max()
                        self.assertLessEqual(off, TOLERANCE * max(1e-2, numpy.abs(gradient).max()),
                                             f"{where}: {parameter}")


if __name__ == "__main__":
    other = os.environ.pop("STRATA_TORCH_PYTHON", "")
    if other:
        os.execv(other, [other, "-B", *sys.argv])
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print(f"skipped: {', '.join(absent)}: not installed; "
              f"pip install {' '.join(NEEDED)}, or STRATA_TORCH_PYTHON names a Python that has them")
        sys.exit(77)
    unittest.main()
