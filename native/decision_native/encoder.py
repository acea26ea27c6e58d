"""bert-token-tree: a BERT encoder whose attention follows state -> question -> candidate. The arithmetic of training/model.py.

Residual sums and normalizations are float32; the linear layers and attention are of the chosen precision.
"""

import numpy as np
import torch
import torch.nn.functional as F

from .attention import attend, fused
from .layout import on_path
from .tensors import Tensors, read_file


def load(package, settings):
    folder, manifest = package["folder"], package["manifest"]
    name = "model.safetensors"
    return Encoder(manifest["architecture"], Tensors(name, read_file(folder, manifest["files"], name)), settings)


def rotated(rows):
    """Each block of 32 columns, or of the largest power of two that divides their number, times the orthonormal Hadamard matrix."""
    block = min(32, rows.shape[1] & -rows.shape[1])
    matrix = torch.ones(1, 1, dtype=torch.float64)
    while len(matrix) < block:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return (rows.unflatten(1, (-1, block)) @ (matrix / block**0.5)).flatten(1)


def turned_back(weight, gain, turned):
    """int8 rows as the float32 weights that they are made of (training/snap.py). @param turned the last rows, whose outputs are rotated"""
    weight = rotated(weight.double())
    if turned:
        weight[-turned:] = rotated(weight[-turned:].T).T
    return (weight if gain is None else weight / gain.double()).float()


class Encoder:
    kinds = ("full",)

    def __init__(self, shape, tensors, settings):
        hidden, inner = shape["hidden"], shape["inner"]
        self.vocab, self.width, self.heads = shape["vocab"], hidden, shape["heads"]
        self.positions, self.epsilon = shape["positions"], shape["layer_norm_epsilon"]
        self.layer_count = shape["layers"]
        self.key_shape = (self.heads, hidden // self.heads)
        self.longest = 2**31

        def get(key, *size, dtype=torch.float32):
            return tensors.get(key, size).to(settings.device, dtype)

        def linear(key, outputs, inputs, dtype=settings.dtype, gain=None, turned=0):
            weight = tensors.get(f"{key}.weight", (outputs, inputs))
            if tensors.is_int8(f"{key}.weight"):
                weight = turned_back(weight, gain and tensors.get(gain, (hidden,)), turned)
            return weight.to(settings.device, dtype), get(f"{key}.bias", outputs, dtype=dtype)

        def norm(key):
            return get(f"{key}.weight", hidden), get(f"{key}.bias", hidden)

        self.word = tensors.get("word.weight", (self.vocab, hidden)).to(settings.device)  # as stored: only looked up
        self.place, self.segment = get("pos.weight", self.positions, hidden), get("seg.weight", 3, hidden)
        self.norm = norm("ln")
        self.layers = [
            {
                "qkv": linear(f"layers.{n}.qkv", 3 * hidden, hidden, gain=f"layers.{n - 1}.ln2.weight" if n else "ln.weight", turned=hidden),
                "out": linear(f"layers.{n}.out", hidden, hidden),
                "ln1": norm(f"layers.{n}.ln1"),
                "up": linear(f"layers.{n}.up", inner, hidden, gain=f"layers.{n}.ln1.weight"),
                "down": linear(f"layers.{n}.down", hidden, inner),
                "ln2": norm(f"layers.{n}.ln2"),
            }
            for n in range(self.layer_count)
        ]
        # of the few tokens that are scored
        self.head = linear("head.0", hidden, hidden, torch.float32), linear("head.2", 1, hidden, torch.float32)
        self.dtype = settings.dtype

    def positions_of(self, node):
        """Of its tokens: they count in each node anew."""
        return np.arange(len(node.tokens)) % self.positions

    def read_offset(self, node):
        """Of a candidate's tokens the one that is scored."""
        return 0

    def visible(self, sees, places, key_nodes, key_places):
        """sees [rows, queries, 3], key_nodes [rows, keys] -> bool [rows, queries, keys]"""
        return {"full": on_path(sees, key_nodes)}

    def forward(self, layout, past, keep):
        """
        @param past list of (keys, values) by layer, [past tokens, heads, size] each; None without any
        @param keep told the layer, and keys and values of the new tokens
        @returns    [read, width] float32
        """
        x = self.word[layout.ids].float() + self.place[layout.positions] + self.segment[layout.segments]
        x = self.normalise(x, self.norm)
        for n, layer in enumerate(self.layers):
            asked = layout.read if n == self.layer_count - 1 else layout.all
            x = self.layer(n, layer, x, layout, asked, past, keep)
        return x

    def layer(self, n, layer, x, layout, asked, past, keep):
        weight, bias = layer["qkv"]
        width, given = self.width, x.to(self.dtype)
        if asked is layout.read:
            x = x[layout.read_at]
            q = F.linear(given[layout.read_at], weight[:width], bias[:width])
            k, v = F.linear(given, weight[width:], bias[width:]).chunk(2, -1)
        else:
            q, k, v = F.linear(given, weight, bias).chunk(3, -1)
        q, k, v = (each.reshape(-1, *self.key_shape) for each in (q, k, v))
        keep(n, k, v)
        if past is not None:
            k, v = torch.cat((past[n, 0], k)), torch.cat((past[n, 1], v))
        seen = attend(fused, q, k, v, asked, "full", layout.keys, self.key_shape[1] ** -0.5)
        x = self.normalise(x + F.linear(seen, *layer["out"]), layer["ln1"])
        inner = F.gelu(F.linear(x.to(self.dtype), *layer["up"]))
        return self.normalise(x + F.linear(inner, *layer["down"]), layer["ln2"])

    def normalise(self, x, norm):
        return F.layer_norm(x.float(), (self.width,), *norm, self.epsilon)

    def score(self, read):
        """[read, width] -> scores [read], and the vectors that the head reads"""
        inner, outer = self.head
        return F.linear(F.gelu(F.linear(read, *inner)), *outer).squeeze(-1), read
