"""Python reads this file when it starts, if its folder is in PYTHONPATH: the worker then does what TORCH_PLANTED_FAULT says.

hang, abort, segmentation, exception, memory (there is none), nan (scores that are no numbers)   in each run of a state of more than
                                                                                                100 tokens
load memory, load nan                                     the same while the model is loaded
no torch, broken torch, old torch, old python             as if it were so
chatty torch                                              it prints to stdout, and at length to stderr, while it is imported
broken driver                                             an error of it comes when devices are looked for
"""

import os
import signal
import sys

FAULT = os.environ.get("TORCH_PLANTED_FAULT", "")


class OtherTorch:
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return
        if FAULT == "no torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        if FAULT == "broken torch":
            raise ImportError("libtorch_cpu.so: cannot open shared object file\nand more")
        print("a greeting")
        os.write(2, b"a warning ".ljust(2**17, b".") + b"\n")  # more than a pipe holds


def hang():
    import ctypes

    ctypes.PyDLL(None).pause()  # with the interpreter's lock held


def exception():
    raise RuntimeError("planted")


def memory():
    raise MemoryError


POISON = {
    "hang": hang,
    "abort": os.abort,
    "segmentation": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "exception": exception,
    "memory": memory,
    "nan": lambda: None,
}


def plant():
    from decision_native.runner import Runner

    score, run = Runner.score, Runner.run
    poisoned = False

    def planted_score(self, nodes):
        nonlocal poisoned
        if FAULT == "load memory":
            memory()
        poisoned = any(node.level == 0 and len(node.tokens) > 100 for node in nodes)
        if poisoned:
            POISON[FAULT]()
        return score(self, nodes)

    def planted_run(self, *given):
        scores, vectors = run(self, *given)
        is_spoilt = FAULT == "load nan" or poisoned and FAULT == "nan"
        return (scores * float("nan") if is_spoilt else scores), vectors

    Runner.score, Runner.run = planted_score, planted_run


if FAULT in ("no torch", "broken torch", "chatty torch"):
    sys.meta_path.insert(0, OtherTorch())
elif FAULT == "old torch":
    import torch

    torch.__version__ = "2.0.1"
elif FAULT == "broken driver":
    import torch

    def is_available():
        raise RuntimeError("CUDA driver error: system not yet initialized\nand more")

    torch.cuda.is_available = is_available
elif FAULT == "old python":
    sys.version_info = (3, 8, 1)
elif FAULT:
    plant()
