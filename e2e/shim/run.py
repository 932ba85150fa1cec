# SPDX-License-Identifier: Apache-2.0
"""The cases of the shim: run.py [SEED]. The suite has started a containerd (world.py says what it must give)."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
import cases  # noqa: E402  the path comes first
import churn  # noqa: E402,F401  declares cases, as the next ones do
import injection  # noqa: E402,F401
import life  # noqa: E402,F401
import same  # noqa: E402,F401
from world import BASE, SOCKET, STATIC, Shim, crictl, wait_for  # noqa: E402


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(10 ** 6)
    wait_for("the runtime's network", lambda: '"reason": ""' in crictl(SOCKET, "info").out)
    for image in (BASE, STATIC):
        crictl(SOCKET, "pull", image).must()
    shim = Shim().start()
    try:
        return 1 if cases.run(shim, seed) else 0
    finally:
        shim.end()


if __name__ == "__main__":
    sys.exit(main())
