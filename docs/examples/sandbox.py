#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sandbox through the published Python SDK: a command, a file written and read, and its end.

The server and the key come from OPEN_SANDBOX_DOMAIN and OPEN_SANDBOX_API_KEY (`opensandbox env`).
"""
import sys
import time
from datetime import timedelta

from opensandbox.sync import SandboxSync

IMAGE = sys.argv[1] if len(sys.argv) > 1 else "localhost/opensandbox/base:1"


def timed(title, call):
    start = time.monotonic()
    result = call()
    print(f"{title}  [{(time.monotonic() - start) * 1000:.0f} ms]")
    return result


def main():
    sandbox = timed(f"created from {IMAGE}", lambda: SandboxSync.create(
        IMAGE,
        timeout=timedelta(minutes=5),
        resource={"cpu": "500m", "memory": "256Mi"},
        metadata={"example": "quickstart"},
    ))
    try:
        print(f"id {sandbox.id}, {sandbox.get_info().status.state}")
        run = timed("ran a command", lambda: sandbox.commands.run(
            "python3 -c 'import sys; print(\"6 * 7 =\", 6 * 7); sys.exit(0)'"))
        print("".join(message.text for message in run.logs.stdout).rstrip())
        if run.exit_code != 0:
            raise SystemExit(f"exit code {run.exit_code}, wanted 0: {run.error}")

        text = "written through the SDK\n"
        timed("wrote /tmp/note.txt", lambda: sandbox.files.write_file("/tmp/note.txt", text))
        back = timed("read it back", lambda: sandbox.files.read_file("/tmp/note.txt"))
        if back != text:
            raise SystemExit(f"read {back!r}, wrote {text!r}")
        print(back.rstrip())
    finally:
        timed("killed", sandbox.kill)
        sandbox.close()


if __name__ == "__main__":
    main()
