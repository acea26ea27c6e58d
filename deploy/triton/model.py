"""The graph of `decision model export` in Triton's Python backend, for a Triton without the onnxruntime backend.

Put it beside model.onnx, and in config.pbtxt write `backend: "python"` without `default_model_filename`.
"""
import os

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        folder = os.path.join(args["model_repository"], args["model_version"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("DECISION_THREADS", "1"))
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.session = onnxruntime.InferenceSession(
            os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = [value.name for value in self.session.get_inputs()]

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        try:
            feeds = {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in self.inputs}
            names = list(request.requested_output_names())
            values = self.session.run(names, feeds)
        except Exception as error:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(str(error)))
        tensors = [pb_utils.Tensor(name, np.ascontiguousarray(value)) for name, value in zip(names, values)]
        return pb_utils.InferenceResponse(output_tensors=tensors)
