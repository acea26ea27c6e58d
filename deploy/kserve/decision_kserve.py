"""The graph of `decision model export --format onnx` in KServe's model server:

    python decision_kserve.py --model_name twig --model_dir FOLDER --enable_grpc false
"""
import argparse
import asyncio
import os

import numpy as np
import onnxruntime
from kserve import InferOutput, InferRequest, InferResponse, Model, ModelServer, model_server

TYPES = {
    "tensor(bool)": "BOOL",
    "tensor(int32)": "INT32",
    "tensor(int64)": "INT64",
    "tensor(float)": "FP32",
    "tensor(uint8)": "UINT8",
}


def facts(values) -> list[dict]:
    return [
        {
            "name": value.name,
            "datatype": TYPES[value.type],
            "shape": [size if isinstance(size, int) else -1 for size in value.shape],
        }
        for value in values
    ]


class DecisionModel(Model):
    def __init__(self, name: str, folder: str):
        super().__init__(name)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("DECISION_THREADS", "1"))
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.session = onnxruntime.InferenceSession(
            os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = facts(self.session.get_inputs())
        self.outputs = facts(self.session.get_outputs())
        self.datatypes = {output["name"]: output["datatype"] for output in self.outputs}
        self.ready = True

    def get_input_types(self) -> list[dict]:
        return self.inputs

    def get_output_types(self) -> list[dict]:
        return self.outputs

    async def predict(self, payload: InferRequest, headers=None, response_headers=None) -> InferResponse:
        feeds = {tensor.name: tensor.as_numpy() for tensor in payload.inputs}
        names = [output.name for output in payload.request_outputs or []] or list(self.datatypes)
        # beside the event loop, which answers whether the model is ready
        values = await asyncio.to_thread(self.session.run, names, feeds)
        outputs = []
        for name, value in zip(names, values):
            output = InferOutput(name=name, shape=list(value.shape), datatype=self.datatypes[name])
            output.set_data_from_numpy(np.ascontiguousarray(value), binary_data=False)
            outputs.append(output)
        return InferResponse(payload.id or "", self.name, outputs, requested_outputs=payload.request_outputs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(parents=[model_server.parser])
    parser.add_argument("--model_dir", default="/mnt/models", help="The folder of model.onnx and weights.bin.")
    args = parser.parse_args()
    ModelServer(enable_latency_logging=False).start([DecisionModel(args.model_name, args.model_dir)])
