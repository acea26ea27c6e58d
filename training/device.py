"""Device of the tensors and precision of their products."""
import contextlib

import torch


def choose():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def multiplies_bf16(device):
    """Whether the hardware multiplies bf16. Otherwise bf16 is emulated and many times slower than float32."""
    return device.type == "cuda" or torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()


def autocast(device, wanted=True):
    return torch.autocast(device.type, torch.bfloat16) if wanted and multiplies_bf16(device) else contextlib.nullcontext()

