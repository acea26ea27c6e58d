"""Runs the TritonPythonModel of an exported repository without Triton.

    python triton_model.py MODEL_FOLDER < {"config": {...}, "requests": [{"inputs": {name: {"type", "dims", "data"}}, "outputs": [name]}]}

Prints a list: of each request the outputs' numbers by name, or {"error": text}.
"""

import json
import os
import sys
import types

import numpy as np
import torch

backend = types.ModuleType("triton_python_backend_utils")


class Tensor:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def to_dlpack(self):
        return torch.utils.dlpack.to_dlpack(self.value)

    @staticmethod
    def from_dlpack(name, capsule):
        return Tensor(name, torch.utils.dlpack.from_dlpack(capsule))


class Request:
    def __init__(self, inputs, outputs):
        self.inputs = {name: np.array(of["data"], of["type"]).reshape(of["dims"]) for name, of in inputs.items()}
        self.outputs = outputs

    def requested_output_names(self):
        return self.outputs


class InferenceResponse:
    def __init__(self, output_tensors=(), error=None):
        self.said = {"error": error} if error else {tensor.name: tensor.value.tolist() for tensor in output_tensors}


backend.Tensor, backend.InferenceResponse = Tensor, InferenceResponse
backend.TritonError, backend.TritonModelException = str, RuntimeError
backend.get_input_tensor_by_name = lambda request, name: Tensor(name, torch.from_numpy(request.inputs[name]))
sys.modules["triton_python_backend_utils"] = backend

folder = sys.argv[1]
sys.path.insert(0, os.path.join(folder, "1"))
from model import TritonPythonModel  # noqa: E402

asked = json.load(sys.stdin)
torch.__version__ = asked.get("torch", torch.__version__)
model = TritonPythonModel()
kind = "GPU" if asked["device"] == "cuda" else "CPU"
where = {"model_repository": folder, "model_version": "1", "model_instance_kind": kind, "model_instance_device_id": "0"}
model.initialize({**where, "model_config": json.dumps(asked["config"])})
forget = model.runner.forget


def forget_run():
    assert sys.exc_info()[0] is None, "the error still keeps what the run had allocated"
    forget()


model.runner.forget = forget_run
requests = [Request(**request) for request in asked["requests"]]
print(json.dumps([response.said for response in model.execute(requests)]))
