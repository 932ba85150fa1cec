# SPDX-License-Identifier: Apache-2.0
"""How execd gets into pods of a real Kubernetes: run.py installer|nobody|shim"""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the paths come first

if __name__ == "__main__":
    for module in sys.argv[1:]:
        importlib.import_module(module)
    sys.exit(cases.run() > 0)
