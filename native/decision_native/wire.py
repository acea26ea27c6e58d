"""Messages between the service and this process: src/backends/native/frames.ts has the other end.

    uint32 bytes of the header | uint32 bytes of the payload | header: JSON in UTF-8 | payload        (little endian)
"""

import json
import struct

SIZES = struct.Struct("<II")


def read_message(source):
    """@returns header and payload; None at the end of the stream"""
    sizes = source.read(SIZES.size)
    if len(sizes) < SIZES.size:
        return None
    header_bytes, payload_bytes = SIZES.unpack(sizes)
    body = source.read(header_bytes + payload_bytes)
    if len(body) < header_bytes + payload_bytes:
        return None
    return json.loads(body[:header_bytes]), memoryview(body)[header_bytes:]


def write_message(target, header, payload=b""):
    text = json.dumps(header, separators=(",", ":")).encode()
    target.write(SIZES.pack(len(text), len(payload)))
    target.write(text)
    target.write(payload)
    target.flush()
