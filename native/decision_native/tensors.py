"""Files of a model package: each is read once, checked against its digest in the manifest, and not read again."""

import hashlib
import json
import os
import struct

import torch

from .refusal import invalid_model

DTYPES = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "I8": torch.int8}
BYTES = {"F16": 2, "BF16": 2, "F32": 4, "I8": 1}


def read_file(folder, files, name):
    """@throws Refusal for a missing file, or one of other bytes than the manifest says"""
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            content = bytearray(os.fstat(file.fileno()).st_size)
            size = file.readinto(content)
    except OSError as error:
        raise invalid_model(f"{name} in {folder} cannot be read ({error.strerror}).") from error
    found, expected = hashlib.sha256(memoryview(content)[:size]).hexdigest(), files.get(name)
    if found != expected:
        raise invalid_model(f"{name} in {folder} does not match the manifest: its SHA-256 is {found}, expected {expected}.")
    return content


def read_json(folder, files, name):
    try:
        return json.loads(read_file(folder, files, name))
    except ValueError as error:
        raise invalid_model(f"{name} is not JSON.") from error


class Tensors:
    """The tensors of a safetensors file. https://huggingface.co/docs/safetensors"""

    def __init__(self, name, content):
        self.name = name
        try:
            (length,) = struct.unpack_from("<Q", content)
            header = json.loads(content[8 : 8 + length])
            self.places = {key: place for key, place in header.items() if key != "__metadata__"}
        except (struct.error, ValueError, AttributeError) as error:
            raise self.fault("has no valid header") from error
        self.data = memoryview(content)[8 + length :]

    def shape(self, key):
        return tuple(self.places[key]["shape"])

    def is_int8(self, key):
        return self.places[key]["dtype"] == "I8"

    def get(self, key, shape):
        """@returns the tensor as it is stored, on the CPU; int8 rows in float32, times their scales, the tensor KEY_scale @throws Refusal for another shape or type, or a number that is not finite"""
        if key not in self.places:
            raise self.fault(f"lacks the tensor {key}")
        place = self.places[key]
        if tuple(place["shape"]) != tuple(shape):
            raise self.fault(f"has {key} in shape {place['shape']}, expected {list(shape)}")
        dtype = DTYPES.get(place["dtype"])
        if dtype is None:
            raise self.fault(f"has {key} as {place['dtype']}, expected F16, BF16, F32 or I8")
        begin, end = place["data_offsets"]
        count = 1
        for length in shape:
            count *= length
        if not 0 <= begin <= end <= len(self.data) or end - begin != count * BYTES[place["dtype"]]:
            raise self.fault(f"has {key} at bytes that do not fit its shape")
        # a copy: the bytes may be unaligned
        tensor = torch.frombuffer(bytearray(self.data[begin:end]), dtype=dtype).reshape(shape)
        if not torch.isfinite(tensor).all():
            raise self.fault(f"has a number in {key} that is not finite")
        if dtype == torch.int8:
            return tensor * self.get(f"{key}_scale", shape[:1]).float()[:, None]
        return tensor

    def fault(self, what):
        return invalid_model(f"{self.name} {what}.")
