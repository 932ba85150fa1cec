# SPDX-License-Identifier: Apache-2.0
"""Upload bodies as the published clients write them."""
import json

BOUNDARY = "opensandbox_0123456789abcdef_1700000000"


def part(name, data, filename=None, content_type=None):
    disposition = f'Content-Disposition: form-data; name="{name}"'
    if filename is not None:
        disposition += f'; filename="{filename}"'
    head = f"--{BOUNDARY}\r\n{disposition}\r\n"
    if content_type:
        head += f"Content-Type: {content_type}\r\n"
    return (head + "\r\n").encode() + data + b"\r\n"


def metadata(path, **more):
    return part("metadata", json.dumps(dict(path=path, **more)).encode(), "metadata", "application/json")


def end():
    return f"--{BOUNDARY}--\r\n".encode()
