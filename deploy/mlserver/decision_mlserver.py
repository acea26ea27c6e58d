"""The graph of `decision model export --format onnx` in MLServer. Put it beside model.onnx, with model-settings.json."""
import asyncio
import os

import numpy as np
import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor, ResponseOutput
from mlserver.utils import get_model_uri

TYPES = {
    "tensor(bool)": "BOOL",
    "tensor(int32)": "INT32",
    "tensor(int64)": "INT64",
    "tensor(float)": "FP32",
    "tensor(uint8)": "UINT8",
}


def facts(values) -> list[MetadataTensor]:
    return [
        MetadataTensor(
            name=value.name,
            datatype=TYPES[value.type],
            shape=[size if isinstance(size, int) else -1 for size in value.shape],
        )
        for value in values
    ]


class DecisionModel(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("DECISION_THREADS", "1"))
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.session = onnxruntime.InferenceSession(
            await get_model_uri(self.settings), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = facts(self.session.get_inputs())
        self.outputs = facts(self.session.get_outputs())
        self.datatypes = {output.name: output.datatype for output in self.outputs}
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        feeds = {
            tensor.name: NumpyCodec.decode_input(tensor).reshape([int(size) for size in tensor.shape])
            for tensor in payload.inputs
        }
        names = [output.name for output in payload.outputs or self.outputs]
        # beside the event loop, which answers whether the model is ready
        values = await asyncio.to_thread(self.session.run, names, feeds)
        return InferenceResponse(
            model_name=self.name,
            outputs=[
                ResponseOutput(
                    name=name,
                    datatype=self.datatypes[name],
                    shape=list(value.shape),
                    data=np.ravel(value).tolist(),
                )
                for name, value in zip(names, values)
            ],
        )
