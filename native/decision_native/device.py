"""Which device computes, and in which precision."""

import os
from dataclasses import dataclass

import torch

from .refusal import Refusal

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Settings:
    device: torch.device
    precision: str
    is_strict: bool

    @property
    def dtype(self):
        return DTYPES[self.precision]


def choose(device, precision, is_strict):
    """
    @param device    cpu, cuda, cuda:N, mps or auto
    @param precision fp32, bf16, fp16 or auto
    @throws Refusal naming what is missing
    """
    chosen = device_of(device)
    return Settings(chosen, precision_of(precision, chosen, is_strict), is_strict)


def device_of(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if has_mps() else "cpu"
    if name == "cpu":
        return torch.device("cpu")
    if name == "mps":
        if has_mps():
            return torch.device("mps")
        raise refused("--device mps needs macOS on Apple silicon and a PyTorch built for it: use --device cpu here.")
    if torch.version.cuda is None and torch.version.hip is None:
        raise refused(
            f"--device {name} needs a PyTorch with CUDA, and {torch.__version__} has none: "
            "install one as pytorch.org says, or use --device cpu."
        )
    if not torch.cuda.is_available():
        raise refused(f"--device {name} finds no usable GPU: {why_no_cuda()}. See what nvidia-smi says, or use --device cpu.")
    count = torch.cuda.device_count()
    index = int(name.partition(":")[2] or 0)
    if index >= count:
        last = "only cuda:0" if count == 1 else f"cuda:0 to cuda:{count - 1}"
        raise refused(f"--device {name} is not there: this machine has {last}.")
    torch.cuda.set_device(index)  # pinned memory and libraries take the first one otherwise
    return torch.device("cuda", index)


def has_mps():
    return torch.backends.mps.is_available()


def why_no_cuda():
    try:
        torch.cuda.init()
    except Exception as error:
        return str(error).strip().split("\n")[0].split(". ")[0].rstrip(".")
    return "the driver reports no device"


def precision_of(name, device, is_strict):
    """The reference execution is in float32. Elsewhere bfloat16 where the GPU has it: its range is that of float32, float16's is not."""
    if name == "int8":
        raise refused("--precision int8 is not for the backend native: use fp32, bf16 or fp16, or --backend onnx.")
    if name != "auto":
        return name
    if is_strict or device.type != "cuda":
        return "fp32"
    return "bf16" if torch.cuda.get_device_capability(device) >= (8, 0) or torch.version.hip else "fp32"


def use_threads(threads):
    """What the operator says to OpenMP counts more."""
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(threads)


def refused(message):
    return Refusal("INVALID_OPTION", message)
