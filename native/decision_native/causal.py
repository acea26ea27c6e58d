"""gemma3-text-joint: a gemma3_text decoder with a scoring head, over paths that are read from left to right.

Residual sums, normalizations and rotations are float32; the linear layers and attention are of the chosen precision.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

from .attention import attend, fused, written_out
from .layout import on_path
from .refusal import invalid_model
from .tensors import Tensors, read_file, read_json

FIXED = {
    "model_type": ("gemma3_text",),
    "hidden_activation": ("gelu_pytorch_tanh",),
    "attention_bias": (False,),
    "attn_logit_softcapping": (None,),
    "use_bidirectional_attention": (False, None),
    "rope_scaling": (None,),
}
USUAL_PATTERN = 6
HEAD_NORM_EPSILON = 1e-5
SMALLEST_SQUARE = 1e-24  # added to the squared length before the division


def load(package, settings):
    folder, files = package["folder"], package["manifest"]["files"]
    config = read_json(folder, files, "config.json")
    model, head = (Tensors(name, read_file(folder, files, name)) for name in ("model.safetensors", "joint_head.safetensors"))
    return Causal(config, model, head, settings)


class Causal:
    def __init__(self, config, model, head, settings):
        shape = read_shape(config)
        hidden, size, inner = shape["hidden"], shape["size"], shape["inner"]
        heads, key_heads = shape["heads"], shape["key_heads"]
        self.vocab, self.width, self.heads, self.key_shape = shape["vocab"], hidden, heads, (key_heads, size)
        self.epsilon, self.window, self.scale = shape["epsilon"], shape["window"], shape["scale"]
        self.layer_kinds = shape["layers"]
        self.kinds = tuple(dict.fromkeys(self.layer_kinds))
        self.layer_count, self.longest = len(self.layer_kinds), shape["positions"]
        self.dtype = settings.dtype
        self.product = written_out if settings.is_strict else fused
        prefix = prefix_of(model)

        def get(key, *tensor_size, dtype=settings.dtype):
            return model.get(f"{prefix}{key}.weight", tensor_size).to(settings.device, dtype)

        def gain(key, length=hidden):  # stored relative to 1
            return 1 + get(key, length, dtype=torch.float32)

        self.word = model.get(f"{prefix}embed_tokens.weight", (self.vocab, hidden)).to(settings.device)  # only looked up
        self.layers = [
            {
                "input": gain(f"layers.{n}.input_layernorm"),
                "q": get(f"layers.{n}.self_attn.q_proj", heads * size, hidden),
                "kv": torch.cat(
                    [get(f"layers.{n}.self_attn.{part}_proj", key_heads * size, hidden) for part in ("k", "v")]
                ),
                "o": get(f"layers.{n}.self_attn.o_proj", hidden, heads * size),
                "q_norm": gain(f"layers.{n}.self_attn.q_norm", size),
                "k_norm": gain(f"layers.{n}.self_attn.k_norm", size),
                "attended": gain(f"layers.{n}.post_attention_layernorm"),
                "middle": gain(f"layers.{n}.pre_feedforward_layernorm"),
                "up": torch.cat([get(f"layers.{n}.mlp.{part}_proj", inner, hidden) for part in ("gate", "up")]),
                "down": get(f"layers.{n}.mlp.down_proj", hidden, inner),
                "outer": gain(f"layers.{n}.post_feedforward_layernorm"),
            }
            for n in range(self.layer_count)
        ]
        self.norm = gain("norm")
        self.head = read_head(head, hidden, settings.device)
        self.embedding_scale = float(torch.tensor(math.sqrt(hidden), dtype=torch.float32))
        self.rotations = {
            kind: rotation(shape["theta"][kind], size, self.longest, settings.device) for kind in self.kinds
        }

    def positions_of(self, node):
        """Of its tokens: along the path."""
        return np.arange(node.begin, node.begin + len(node.tokens))

    def read_offset(self, node):
        """Of a candidate's tokens the one that is scored."""
        return len(node.tokens) - 1

    def visible(self, sees, places, key_nodes, key_places):
        """sees [rows, queries, 3], places [rows, queries], key_nodes, key_places [rows, keys] -> bool [rows, queries, keys] each"""
        places, key_places = places[..., None], key_places[:, None, :]
        full = on_path(sees, key_nodes) & (key_places <= places)
        # compared, not subtracted: numbers of 8 bytes for each query and key would be gigabytes
        both = {"full": full, "sliding": full & (key_places > places - self.window)}
        return {kind: both[kind] for kind in self.kinds}

    def forward(self, layout, past, keep):
        """See encoder.py."""
        x = self.word[layout.ids].float() * self.embedding_scale
        turns = {kind: tuple(table[layout.positions] for table in tables) for kind, tables in self.rotations.items()}
        for n, layer in enumerate(self.layers):
            asked = layout.read if n == self.layer_count - 1 else layout.all
            x = self.layer(n, layer, x, layout, asked, turns[self.layer_kinds[n]], past, keep)
        return x

    def layer(self, n, layer, x, layout, asked, turns, past, keep):
        given = self.normalise(x, layer["input"]).to(self.dtype)
        k, v = F.linear(given, layer["kv"]).chunk(2, -1)
        asked_turns = turns
        if asked is layout.read:
            x, given = x[layout.read_at], given[layout.read_at]
            asked_turns = tuple(table[layout.read_at] for table in turns)
        q = F.linear(given, layer["q"]).reshape(-1, self.heads, self.key_shape[1])
        k, v = (each.reshape(-1, *self.key_shape) for each in (k, v))
        q = rotated(self.normalise(q, layer["q_norm"]), asked_turns).to(self.dtype)
        k = rotated(self.normalise(k, layer["k_norm"]), turns).to(self.dtype)
        keep(n, k, v)
        if past is not None:
            k, v = torch.cat((past[n, 0], k)), torch.cat((past[n, 1], v))
        seen = attend(self.product, q, k, v, asked, self.layer_kinds[n], layout.keys, self.scale)
        x = x + self.normalise(F.linear(seen, layer["o"]), layer["attended"])
        gate, up = F.linear(self.normalise(x, layer["middle"]).to(self.dtype), layer["up"]).chunk(2, -1)
        inner = F.gelu(gate, approximate="tanh") * up
        return x + self.normalise(F.linear(inner, layer["down"]), layer["outer"])

    def normalise(self, x, gain):
        x = x.float()
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * gain

    def score(self, read):
        """[read, width] -> scores [read], and the vectors that the head reads"""
        x = self.normalise(read, self.norm)
        x = x * torch.rsqrt(x.square().sum(-1, keepdim=True) + SMALLEST_SQUARE)
        norm, inner, outer = self.head
        vectors = F.layer_norm(x, (self.width,), *norm, HEAD_NORM_EPSILON)
        return F.linear(F.gelu(F.linear(vectors, *inner)), *outer).squeeze(-1), vectors


def rotation(theta, size, positions, device):
    """Tables [positions, 1, size] in float32, as the reference library computes them."""
    frequencies = 1.0 / (theta ** (torch.arange(0, size, 2, dtype=torch.int64).float() / size))
    angles = torch.arange(positions, dtype=torch.float32)[:, None] * frequencies
    both = torch.cat((angles, angles), -1)[:, None]
    return both.cos().to(device), both.sin().to(device)


def rotated(x, turns):
    """x [tokens, heads, size], turns: two of [tokens, 1, size]"""
    cosines, sines = turns
    left, right = x.chunk(2, -1)
    return x * cosines + torch.cat((-right, left), -1) * sines


def prefix_of(model):
    """Of `embed_tokens` and `layers`: "model." if the model was saved with a language-model head."""
    suffix = "embed_tokens.weight"
    found = [key for key in model.places if key == suffix or key.endswith(f".{suffix}")]
    if len(found) != 1:
        raise model.fault(f"has {len(found)} tensors named {suffix}, expected one")
    return found[0][: -len(suffix)]


def read_head(head, hidden, device):
    """The head's layers, found by shape, because their names vary: norm [hidden], inner [n, hidden], outer [1, n]; each with a bias."""
    weights = {key[: -len(".weight")]: head.shape(key) for key in head.places if key.endswith(".weight")}

    def take(fits, what):
        found = [key for key, shape in weights.items() if fits(shape)]
        if len(found) != 1:
            raise head.fault(f"has {len(found)} layers with a weight of shape {what}, expected one")
        return found[0], weights[found[0]]

    def layer(key, shape):
        pair = (head.get(f"{key}.weight", shape), head.get(f"{key}.bias", shape[:1]))
        return tuple(tensor.to(device, torch.float32) for tensor in pair)

    norm = take(lambda shape: shape == (hidden,), f"[{hidden}]")
    outer = take(lambda shape: len(shape) == 2 and shape[0] == 1, "[1, inner]")
    inner = take(lambda shape: shape == (outer[1][1], hidden), f"[{outer[1][1]}, {hidden}]")
    return layer(*norm), layer(*inner), layer(*outer)


def read_shape(config):
    """@throws Refusal naming the member that is missing or not supported"""

    def fault(what):
        return invalid_model(f"config.json {what}.")

    def number(name, of=config, least=0.0):
        value = of.get(name) if isinstance(of, dict) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > least:
            raise fault(f"has {name} {value}, expected a number above {least:g}")
        return value

    for name, allowed in FIXED.items():
        if config.get(name, allowed[0]) not in allowed:
            raise fault(f"has {name} {config[name]}, which is not supported; expected {allowed[0]}")
    layers = layer_kinds(config, int(number("num_hidden_layers")), fault)
    ropes = config.get("rope_parameters")
    if ropes is None:
        theta = {"full": number("rope_theta"), "sliding": number("rope_local_base_freq")}
    else:
        theta = {}
        for kind in ("full", "sliding"):
            of = ropes.get(f"{kind}_attention") or {}
            if of.get("rope_type", "default") != "default":
                raise fault(f"has rope_type {of['rope_type']}, only default is supported")
            theta[kind] = number("rope_theta", of)
    return {
        "vocab": int(number("vocab_size")),
        "hidden": int(number("hidden_size")),
        "heads": int(number("num_attention_heads")),
        "key_heads": int(number("num_key_value_heads")),
        "size": int(number("head_dim")),
        "inner": int(number("intermediate_size")),
        "layers": layers,
        "window": int(number("sliding_window")) if "sliding" in layers else 1,
        "epsilon": number("rms_norm_eps"),
        "scale": number("query_pre_attn_scalar") ** -0.5,
        "theta": theta,
        "positions": int(number("max_position_embeddings")),
    }


def layer_kinds(config, count, fault):
    types = config.get("layer_types")
    if types is None:
        pattern = config.get("sliding_window_pattern", config.get("_sliding_window_pattern", USUAL_PATTERN))
        return ["full" if (layer + 1) % pattern == 0 else "sliding" for layer in range(count)]
    names = {"full_attention": "full", "sliding_attention": "sliding"}
    if len(types) != count or any(name not in names for name in types):
        raise fault("has layer_types, expected a list of num_hidden_layers names: full_attention or sliding_attention")
    return [names[name] for name in types]
