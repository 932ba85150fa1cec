# SPDX-License-Identifier: Apache-2.0
"""The conformance suite of CRI, test by test the same through the shim as direct. Which of them this runtime passes
is not the question: some want images and a network that are not here."""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "lib"))
from cases import case, run, true  # noqa: E402  the path comes first
from world import LOGS, REGISTRY, SOCKET, TMP, Shim, inside  # noqa: E402

CRITEST = os.environ["OSB_CRITEST"]
IS_FULL = os.environ["OSB_TEST_FULL"] == "1"
# A minute or less for both ways; what wants images of the net, or waits a minute for an answer, is for the full size.
SUBSET = ("--ginkgo.focus=PodSandbox|Runtime info|Idempotence|basic operations on container|exec with tty|attach",
          "--ginkgo.skip=sysctls")
REPEATS = 3
LIMIT_S = 1500


def states(socket, seed, name, filters):
    """The end of each test by its name."""
    report = f"{TMP}/critest-{name}.json"
    images = f"{TMP}/critest-images.yaml"
    with open(images, "w", encoding="utf-8") as file:
        file.write(f"defaultTestContainerImage: {REGISTRY}/busybox:1\n")
    with open(f"{LOGS}/critest-{name}.log", "wb") as log:
        subprocess.run(inside(CRITEST, "--runtime-endpoint", f"unix://{socket}", "--image-endpoint", f"unix://{socket}",
                              "--test-images-file", images, f"--ginkgo.seed={seed}", "--ginkgo.no-color",
                              f"--ginkgo.json-report={report}", *filters),
                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=LIMIT_S, check=False, cwd=TMP)
    with open(report, encoding="utf-8") as file:
        specs = json.load(file)[0]["SpecReports"]
    return {" ".join((spec["ContainerHierarchyTexts"] or []) + [spec["LeafNodeText"]]): spec["State"]
            for spec in specs if spec["LeafNodeType"] == "It" and spec["State"] != "skipped"}


def only(name):
    escaped = "".join(c if c.isalnum() or c == " " else "." for c in name)
    return (f"--ginkgo.focus=^{escaped}$",)


def differs_again(shim, seed, name):
    """A test that waits for a clock may end in either way on both: it differs when no end is seen on both ways."""
    direct = {states(SOCKET, seed, "repeat", only(name)).get(name) for _ in range(REPEATS)}
    through = {states(shim.socket, seed, "repeat", only(name)).get(name) for _ in range(REPEATS)}
    print(f"{name}: direct {direct}, through the shim {through}")
    return not direct & through


@case("each test of critest ends through the shim as it does direct", limit_s=2 * LIMIT_S)
def _(shim, seed):
    filters = () if IS_FULL else SUBSET
    print(f"seed {seed}")
    direct = states(SOCKET, seed, "direct", filters)
    through = states(shim.socket, seed, "shim", filters)
    passed = sum(state == "passed" for state in direct.values())
    print(f"{len(direct)} tests, {passed} pass direct")
    true(passed > 10, f"{passed} tests pass direct: the others tell little")
    true(direct.keys() == through.keys(), "the same tests ran")
    suspects = [name for name in direct if direct[name] != through[name]]
    differing = [name for name in suspects if differs_again(shim, seed, name)]
    true(not differing, f"these differ: {differing}")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(10 ** 6)
    shim = Shim("critest", files="critest-files").start()
    try:
        return 1 if run(shim, seed) else 0
    finally:
        shim.end()


if __name__ == "__main__":
    sys.exit(main())
