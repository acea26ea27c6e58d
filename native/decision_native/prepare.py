"""Imports PyTorch, and says in one sentence why it cannot be had. Nothing but the standard library is needed until then."""

import sys

from .refusal import Refusal

OLDEST_PYTHON = (3, 9)
OLDEST_TORCH = (2, 1)  # the first whose attention takes a scale


def import_torch():
    """@returns the module @throws Refusal where Python, NumPy or PyTorch is missing, too old or broken"""
    if sys.version_info < OLDEST_PYTHON:
        version = ".".join(map(str, sys.version_info[:2]))
        raise missing(f"needs Python 3.9 or later, and {sys.executable} is Python {version}: name another one with DECISION_PYTHON.")
    for name in ("numpy", "torch"):
        try:
            __import__(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise broken(name, error) from error
            raise missing(
                f"needs PyTorch and NumPy, and {sys.executable} has no {name}: install both "
                "(python3 -m pip install torch numpy), or name another Python with DECISION_PYTHON."
            ) from error
        except Exception as error:
            raise broken(name, error) from error
    torch = sys.modules["torch"]
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2] if part.isdigit())
    if version < OLDEST_TORCH:
        raise missing(f"needs PyTorch 2.1 or later, not {torch.__version__}: update it, or name another Python with DECISION_PYTHON.")
    return torch


def missing(what):
    return Refusal("BACKEND_FAILED", f"The backend native {what}")


def broken(name, error):
    first = str(error).strip().split("\n")[0]
    return Refusal(
        "BACKEND_FAILED",
        f"{name} of {sys.executable} cannot be imported ({type(error).__name__}: {first}): install it anew, or name another Python with DECISION_PYTHON.",
    )
