#!/usr/bin/env python3
"""Decoders of the zoo's families compute what transformers' modules of the same sizes do: the loss of
one step and the gradient of every parameter, on one device and on two that share heads.

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

    def source(self, layer):
        """The module that holds a layer's parameters, and what part of them is the layer's."""
        if not layer.startswith("block"):
            return {"embedding": "model.embed_tokens", "norm": "model.norm", "head": "lm_head",
                    **self.ends}[layer], self.takes.get(layer, lambda tensor: tensor)
        number, part_of_block = layer.removeprefix("block").split("_", 1)
        name = {**NAMES, **self.names}[part_of_block]
        take = self.takes.get(part_of_block, lambda tensor: tensor)
        return self.block.format(int(number) - 1) + name, take


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
    return {
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
    import transformers
    torch.manual_seed(3)
    kind = "Gemma3Text" if decoder.module == "Gemma3" else decoder.module
    config = getattr(transformers, kind + "Config")(**{
        "vocab_size": VOCAB, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "max_position_embeddings": SEQ, "rms_norm_eps": 1e-5,
        "pad_token_id": None, "bos_token_id": None, "eos_token_id": None,
        "tie_word_embeddings": decoder.family == "gpt", "attn_implementation": "eager",
        **decoder.config})
    module = getattr(transformers, decoder.module + "ForCausalLM")(config).float().eval()
    for name, tensor in module.named_parameters():
        spread = 0.2 if tensor.ndim == 1 or "embed" in name else tensor.shape[-1] ** -0.5
        start = 1.0 if tensor.ndim == 1 and name.endswith("weight") and not decoder.one_more else 0.0
        torch.nn.init.normal_(tensor, start, spread)
    return module


class Step:
    """A folder with the data and the weights of a decoder, and its gradients by PyTorch."""

    def __init__(self, decoder, folder):
        import numpy
        import torch
        self.decoder, self.folder, self.model = decoder, folder, (
            f"{decoder.family}:{SIZES},{decoder.keys}")
        module = build(decoder)
        tokens = torch.randint(VOCAB, (BATCH, SEQ))
        labels = torch.randint(VOCAB, (BATCH, SEQ))
        logits = module(input_ids=tokens).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        self.loss, self.gradients, self.before = loss.item(), {}, {}
        (folder / "weights").mkdir()
        numpy.save(folder / "input.npy", tokens.float().numpy()[:, None])
        numpy.save(folder / "labels.npy", labels.numpy())
        self.used = set()
        for name in self.files():
            layer, kind = name.rsplit(".", 1)
            source, take = decoder.source(layer)
            tensor = module.get_parameter(f"{source}.{kind}")
            self.used.add(id(tensor))
            more = decoder.one_more and kind == "weight" and "norm" in layer
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
                                          (2, "hybrid:cp=2"), (4, "hybrid:tp=4")):
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
