"""Rounds weights to the service's int8 grid, so that the service's quantization of weights is exact, and stores them so.

The service first folds the gain of the preceding layer normalization into the weights and rotates their inputs (and the
outputs of the values) by Hadamard matrices of size 32. Then it rounds each output's weights to 255 levels
(src/onnx/layers/quantized-weights.ts, arithmetic.ts and token-tree-attention.ts). `pack` does the same, and `unpack` undoes
everything except the rounding (as src/onnx/encoder/layer-weights.ts). float32 and int8 then use the same weights, and differ
only in the rounding of activations.
"""
import torch

BLOCK = 32
LEVELS = 127
SMALLEST_GAIN = 1e-3
SCALE = "_scale"


def hadamard(size):
    """The orthonormal Hadamard matrix, which is its own inverse. -> [size, size]"""
    matrix = torch.ones(1, 1, dtype=torch.float64)
    while len(matrix) < size:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return matrix / size**0.5


def rotated_inputs(weight):
    """Rotates each block of inputs. [outputs, inputs] -> [outputs, inputs]"""
    return (weight.unflatten(1, (-1, BLOCK)) @ hadamard(BLOCK)).flatten(1)


def rotated_outputs(weight):
    return rotated_inputs(weight.T).T


def rows(weight):
    """Each row as integers times its largest absolute weight / LEVELS. -> (int8 [rows, columns], float32 [rows])"""
    scale = (weight.abs().amax(1, keepdim=True).clamp_min(1e-30) / LEVELS).float()
    return (weight / scale.double()).round().clamp(-LEVELS, LEVELS).to(torch.int8), scale[:, 0]


def layer_maps(tensors):
    """The layers' linear weights. -> [(name, gain of the preceding normalization or None, its shift, outputs that are rotated or None)]"""
    hidden, norm, made = len(tensors["ln.weight"]), "ln.", []
    for i in range(1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))):
        layer = f"layers.{i}."
        for name, before, turned in (("qkv", norm, slice(2 * hidden, 3 * hidden)), ("up", layer + "ln1.", None)):
            made.append((layer + name, tensors[before + "weight"].double(), tensors[before + "bias"].double(), turned))
        made += [(f"{layer}{name}", None, None, None) for name in ("out", "down")]
        norm = layer + "ln2."
    return made


def unpack(stored):
    """{name: float32 tensor, or int8 with NAME_scale} -> {name: float32 tensor}"""
    found = {name: tensor for name, tensor in stored.items() if not name.endswith(SCALE)}
    for name, tensor in found.items():
        if tensor.dtype == torch.int8:
            found[name] = (tensor * stored[name + SCALE][:, None]).double()  # the product in float32, as the service computes it
    for name, gain, _, turned in layer_maps(found):
        name += ".weight"
        if stored[name].dtype == torch.int8:
            held = rotated_inputs(found[name])
            if turned:
                held[turned] = rotated_outputs(held[turned])
            found[name] = held if gain is None else held / gain
    return {name: tensor.float() for name, tensor in found.items()}


def pack(tensors, heads=12):
    """{name: float32 tensor} of a token tree -> the same with words and the layers' linear weights as int8 rows, NAME and NAME_scale.

    A bias is adjusted for the constant rounding error that the shift of the preceding normalization causes.
    """
    made = dict(tensors)
    if len(tensors["ln.weight"]) // heads % BLOCK:
        raise ValueError(f"the size of the heads is no multiple of {BLOCK}")
    made["word.weight"], made["word.weight" + SCALE] = rows(tensors["word.weight"].double())
    maps = layer_maps(tensors)
    for name, gain, _, turned in maps:
        if gain is not None and gain.abs().min() < SMALLEST_GAIN:
            raise ValueError(f"the normalization before {name} has gains near 0: weights divided by them would overflow")
        held = tensors[name + ".weight"].double() * (1 if gain is None else gain)
        if turned:
            held[turned] = rotated_outputs(held[turned])
        made[name + ".weight"], made[name + ".weight" + SCALE] = rows(rotated_inputs(held))
    back = unpack(made)
    for name, gain, shift, _ in maps:
        if gain is not None:
            off = tensors[name + ".weight"].double() - back[name + ".weight"].double()
            made[name + ".bias"] = tensors[name + ".bias"] + (off @ shift).float()
    return made
