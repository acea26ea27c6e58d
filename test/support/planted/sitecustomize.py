"""Python reads this file when it starts, if its folder is in PYTHONPATH: the worker then does what TORCH_PLANTED_FAULT says.

hang: with the interpreter's lock held, in the first run of a state of more than 100 tokens; memory: there is none for that run;
load memory: nor for the model; no torch, broken torch, old python: as if it were so
"""

import os
import sys

FAULT = os.environ.get("TORCH_PLANTED_FAULT", "")


class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            if FAULT == "no torch":
                raise ModuleNotFoundError("No module named 'torch'", name="torch")
            raise ImportError("libtorch_cpu.so: cannot open shared object file\nand more")


if FAULT in ("no torch", "broken torch"):
    sys.meta_path.insert(0, NoTorch())
elif FAULT == "old python":
    sys.version_info = (3, 8, 1)
elif FAULT:
    from decision_native.runner import Runner

    score = Runner.score

    def planted(self, trees, payload):
        is_poison = any(state > 100 for _, state, _ in trees)
        if FAULT == "load memory" or is_poison and FAULT == "memory":
            raise MemoryError
        if is_poison and FAULT == "hang":
            import ctypes

            ctypes.PyDLL(None).pause()
        return score(self, trees, payload)

    Runner.score = planted
