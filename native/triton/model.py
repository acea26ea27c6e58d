"""A model in PyTorch, for Triton's Python backend. `decision model export --format triton --backend native` writes it.

    model.py
    decision_native/    what computes
    package/            manifest and weights
"""

import json
import os
import sys

import torch
import triton_python_backend_utils as pb_utils
from torch.utils.dlpack import from_dlpack, to_dlpack

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from decision_native.device import choose  # noqa: E402
from decision_native.load import is_lost, load_runner, sentence_of  # noqa: E402
from decision_native.prepare import import_torch  # noqa: E402
from decision_native.refusal import Refusal  # noqa: E402
from decision_native.whole import nodes_of  # noqa: E402


class TritonPythonModel:
    def initialize(self, args):
        given = json.loads(args["model_config"])["parameters"]
        setting = {name: value["string_value"] for name, value in given.items()}
        folder = os.path.join(args["model_repository"], args["model_version"], "package")
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        device = f"cuda:{args['model_instance_device_id']}" if args["model_instance_kind"] == "GPU" else "cpu"
        header = {
            "modelPackage": {"folder": folder, "manifest": manifest},
            "threads": int(setting["threads"]),
            "stateCacheBytes": 0,
            "hasVectors": False,
        }
        try:
            import_torch()
            self.runner = load_runner(header, choose(device, setting["precision"], False))
        except Refusal as refusal:
            raise pb_utils.TritonModelException(str(refusal)) from refusal
        self.digest = torch.tensor(list(bytes.fromhex(setting["decision_digest"])), dtype=torch.uint8)

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        try:
            names = list(request.requested_output_names())
            values = self.score(request, "vectors" in names)
        except Exception as error:
            if is_lost(error):
                os._exit(1)  # nothing more can be computed on the device: Triton starts a new process
            said = sentence_of(error)
        else:
            return pb_utils.InferenceResponse(output_tensors=[tensor_of(name, values[name]) for name in names])
        self.runner.forget()  # not before: until here the error has kept what the run had allocated
        return pb_utils.InferenceResponse(error=pb_utils.TritonError(said))

    def score(self, request, has_vectors):
        """@returns the outputs by name; what is read of padding is 0"""
        ids, query_nodes, read_at = (
            from_dlpack(pb_utils.get_input_tensor_by_name(request, name).to_dlpack()).numpy()
            for name in ("ids", "query_nodes", "read_at")
        )
        nodes, places = nodes_of(ids, query_nodes, read_at)
        self.runner.has_vectors = has_vectors
        result = self.runner.score(nodes)
        scores = torch.zeros(len(read_at))
        scores[places] = torch.from_numpy(result.scores)
        values = {"scores": scores, "digest": self.digest}
        if has_vectors:
            values["vectors"] = torch.zeros(len(read_at), result.width)
            values["vectors"][places] = torch.from_numpy(result.vectors)
        return values


def tensor_of(name, value):
    """Not by NumPy: Triton's Python backend of 2024 gives tensors of NumPy 2 no bytes."""
    return pb_utils.Tensor.from_dlpack(name, to_dlpack(value))
