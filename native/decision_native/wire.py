"""Messages between the service and this process: src/backends/native/frames.ts has the other end.

    "DN01" | uint32 bytes of the header | uint32 bytes of the payload | header: JSON in UTF-8 | payload        (little endian)
"""

import json
import struct

MARK = b"DN01"
HEAD = struct.Struct("<4sII")


def read_message(source):
    """
    @returns header and payload; None at the end of the stream
    @throws ValueError when what came is no message
    """
    head = source.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    mark, header_bytes, payload_bytes = HEAD.unpack(head)
    if mark != MARK:
        raise ValueError(f"a message begins with {MARK}, not with {mark}")
    body = source.read(header_bytes + payload_bytes)
    if len(body) < header_bytes + payload_bytes:
        return None
    return json.loads(body[:header_bytes]), memoryview(body)[header_bytes:]


def write_message(target, header, payload=b""):
    text = json.dumps(header, separators=(",", ":")).encode()
    target.write(HEAD.pack(MARK, len(text), len(payload)))
    target.write(text)
    target.write(payload)
    target.flush()
