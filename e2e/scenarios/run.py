# SPDX-License-Identifier: Apache-2.0
"""Runs the scenarios on the engine of OSB_TEST_ENGINE (README.md)."""
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the paths come first
import template  # noqa: E402,F401
import facade  # noqa: E402,F401
from world import ENGINE, NAMESPACE, kubectl, must  # noqa: E402

if ENGINE == "kubernetes":
    import security  # noqa: E402,F401
    import replicas  # noqa: E402,F401


def main():
    kubectl("delete", "namespace", NAMESPACE, "--timeout=60s")
    must("create", "namespace", NAMESPACE)
    failed = cases.run()
    kubectl("delete", "namespace", NAMESPACE, "--timeout=60s")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
