# SPDX-License-Identifier: Apache-2.0
"""Runs the SDK cases: run.py sync|async life|inside."""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the paths come first
from faces import face  # noqa: E402


def main():
    client = face(sys.argv[1])
    prefix = client.name + ": "
    if sys.argv[2] == "life":
        importlib.import_module("lifecycle")
        return cases.run(client, prefix=prefix) > 0
    # The cases inside a sandbox share one.
    importlib.import_module("commands")
    importlib.import_module("files")
    try:
        sandbox = client.create()
    except Exception as error:  # pylint: disable=broad-except
        cases.say("not ok", prefix + "a sandbox is created", repr(error))
        return 1
    cases.say("ok", prefix + "a sandbox is created")
    try:
        return cases.run(client, sandbox, prefix=prefix) > 0
    finally:
        sandbox.kill()
        sandbox.close()


if __name__ == "__main__":
    sys.exit(main())
