"""A package and a device become a runner; errors of PyTorch become sentences."""

import torch

from . import causal, encoder
from .device import use_threads
from .refusal import Refusal, invalid_model
from .runner import Runner

MODELS = {"bert-token-tree": encoder.load, "gemma3-text-joint": causal.load}


def load_runner(header, settings):
    """@throws Refusal for a package that cannot be computed here"""
    torch.set_grad_enabled(False)
    torch.set_float32_matmul_precision("highest")  # no TF32: fp32 means it
    use_threads(header["threads"])
    package = header["modelPackage"]
    kind = package["manifest"]["architecture"]["type"]
    if kind not in MODELS:
        raise invalid_model(f"The backend native knows {' and '.join(MODELS)}, not {kind}: use --backend onnx.")
    try:
        model = MODELS[kind](package, settings)
        runner = Runner(model, settings, header["stateCacheBytes"], header["hasVectors"])
        runner.warm_up()
        return runner
    except Refusal:
        raise
    except Exception as error:
        raise Refusal("BACKEND_FAILED", f"The model cannot be loaded on {settings.device}: {sentence_of(error)}") from error


def sentence_of(error):
    if is_out_of_memory(error):
        return (
            "there is not enough memory. Lower --max-batch-tokens or --state-cache-mb, end other programs, "
            "or use another --device or --precision."
        )
    first = str(error).strip().split("\n")[0] or type(error).__name__
    return first if first.endswith(".") else f"{first}."


def is_out_of_memory(error):
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
        return True
    text = str(error).lower()
    return any(words in text for words in ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed"))


def is_lost(error):
    """Whether the device gives nothing but errors from now on."""
    if is_out_of_memory(error):
        return False
    accelerator_error = getattr(torch, "AcceleratorError", ())
    return isinstance(error, accelerator_error) or "CUDA error" in str(error)
