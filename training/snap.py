"""Rounds weights to the service's int8 grid, so that the service's quantization of weights is exact.

The service first folds the gain of the preceding layer normalization into the weights and rotates their inputs (and the
outputs of the values) by Hadamard matrices of size 32. Then it rounds each output's weights to 255 levels
(src/onnx/layers/quantized-weights.ts, arithmetic.ts and token-tree-attention.ts). This script does the same and then
undoes everything except the rounding. float32 and int8 then use the same weights, up to the precision of float16, and
differ only in the rounding of activations.
"""
import torch

BLOCK = 32
LEVELS = 127
SMALLEST_GAIN = 1e-3


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


def rounded(weight):
    """Rounds each output's weights to multiples of its largest absolute weight / LEVELS."""
    step = weight.abs().amax(1, keepdim=True).clamp_min(1e-30) / LEVELS
    return (weight / step).round() * step


def snapped(weight, gain=None, turned=None):
    """weight [outputs, inputs]; gain [inputs] of the preceding normalization; `turned`: slice of the outputs that are rotated."""
    held = weight.double() * (1 if gain is None else gain.double())
    if turned:
        held[turned] = rotated_outputs(held[turned])
    held = rotated_inputs(rounded(rotated_inputs(held)))
    if turned:
        held[turned] = rotated_outputs(held[turned])
    return (held if gain is None else held / gain.double()).to(weight.dtype)


def snap(tensors, heads=12):
    """{name: float32 tensor} of a token tree -> the same with the layers' linear weights on the grid.

    The bias is adjusted for the constant rounding error that the shift of the preceding normalization causes.
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
