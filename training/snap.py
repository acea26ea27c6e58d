"""Puts weights on the grid on which the service multiplies them in int8, so that rounding them changes nothing any more.

The service rounds each output's weights to 255 levels, after it has moved the gain of the layer normalisation before them into
them and rotated their inputs (the outputs of the values, too) by Hadamard matrices of 32: src/onnx/layers/quantized-weights.ts,
arithmetic.ts and token-tree-attention.ts. Here the same is done, and then undone but for the rounding. float32 and int8 then
have the same weights, to the precision of float16, and differ in how activations are rounded only.
"""
import torch

BLOCK = 32
LEVELS = 127
SMALLEST_GAIN = 1e-3


def hadamard(size):
    """Orthonormal, its own inverse. -> [size, size]"""
    matrix = torch.ones(1, 1, dtype=torch.float64)
    while len(matrix) < size:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return matrix / size**0.5


def rotated_inputs(weight):
    """[outputs, inputs] -> the same, each run of inputs rotated"""
    return (weight.unflatten(1, (-1, BLOCK)) @ hadamard(BLOCK)).flatten(1)


def rotated_outputs(weight):
    return rotated_inputs(weight.T).T


def rounded(weight):
    """Each output's weights to multiples of its largest one / LEVELS."""
    step = weight.abs().amax(1, keepdim=True).clamp_min(1e-30) / LEVELS
    return (weight / step).round() * step


def snapped(weight, gain=None, turned=None):
    """weight [outputs, inputs]; gain [inputs] of the normalisation before; `turned`: slice of the outputs that are rotated."""
    held = weight.double() * (1 if gain is None else gain.double())
    if turned:
        held[turned] = rotated_outputs(held[turned])
    held = rotated_inputs(rounded(rotated_inputs(held)))
    if turned:
        held[turned] = rotated_outputs(held[turned])
    return (held if gain is None else held / gain.double()).to(weight.dtype)


def snap(tensors, heads=12):
    """{name: float32 tensor} of a token tree -> the same with the linear maps of its layers on the grid.

    What rounding would add to every row, by the shift of the normalisation before, goes into the bias.
    """
    made, norm = dict(tensors), "ln."
    hidden = len(tensors["ln.weight"])
    if hidden // heads % BLOCK:
        raise ValueError(f"heads of {hidden // heads} are not rotated in blocks of {BLOCK}")
    for i in range(1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))):
        layer = f"layers.{i}."
        for name, before, turned in (("qkv", norm, slice(2 * hidden, 3 * hidden)), ("up", layer + "ln1.", None)):
            weight, gain, shift = tensors[f"{layer}{name}.weight"], tensors[before + "weight"], tensors[before + "bias"]
            if gain.abs().min() < SMALLEST_GAIN:
                raise ValueError(f"{before}weight has gains near 0: weights divided by them would overflow")
            found = made[f"{layer}{name}.weight"] = snapped(weight, gain, turned)
            made[f"{layer}{name}.bias"] = tensors[f"{layer}{name}.bias"] + ((weight - found).double() @ shift.double()).float()
        for name in ("out", "down"):
            made[f"{layer}{name}.weight"] = snapped(tensors[f"{layer}{name}.weight"])
        norm = layer + "ln2."
    return made
