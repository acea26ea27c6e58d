"""The published server over a random model: its own application, told to trust the manifest that UPSTREAM_MANIFEST_SHA256 names."""

import os

from gemmadecision import constants

constants.ONNX_MANIFEST_SHA256 = os.environ["UPSTREAM_MANIFEST_SHA256"]

from gemmadecision.server import app  # noqa: E402, F401 - reads the configuration, and the digest when it starts
