# SPDX-License-Identifier: Apache-2.0
"""Many sandboxes on a real API server without kubelets. No time is asserted: figures are for bench/scale.

run.py STATE PROGRAMS BUILD LOGS [SEED]
"""
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "bench/scale"), os.path.join(ROOT, "e2e/lib")]

import cases  # noqa: E402  the paths come first
from cases import case, equal, true  # noqa: E402
from world import BATCHSANDBOXES, World  # noqa: E402

SEED = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32)
IS_FULL = os.environ["OSB_TEST_FULL"] == "1"
COUNT = 10000 if IS_FULL else 300
# How fast is by the seed: one by one, and faster than a small machine can follow.
RATE = random.Random(SEED).uniform(20, 50) if IS_FULL else random.Random(SEED).uniform(20, 300)
LIMIT_S = 1400 if IS_FULL else 300
DELETE_LIMIT_S = 700 if IS_FULL else 300
# The pod, the endpoints, the status twice, two Events; one to spare.
MAX_REQUESTS = 7
# The operator, its libraries, its connections; then what it keeps of a sandbox and its pod.
MAX_RSS_BASE_KB = 20 * 1024
MAX_RSS_EACH_KB = 3
NAMESPACE = "scale"


def left(world):
    return [len(json.loads(world.kubectl("get", "--raw", path))["items"]) for path in
            (BATCHSANDBOXES.format(NAMESPACE), f"/api/v1/namespaces/{NAMESPACE}/pods")]


@case(f"seed {SEED}: {COUNT} sandboxes, {RATE:.0f} a second, become ready", limit_s=LIMIT_S + 60)
def _(world):
    times = world.times(NAMESPACE, count=COUNT, rate=f"{RATE:.3f}", timeout=LIMIT_S)
    equal(len(times), COUNT, "sandboxes that became ready")
    world.made = world.requests()


@case(f"at most {MAX_REQUESTS} requests a sandbox")
def _(world):
    print(dict(world.made))
    true(COUNT * 2 <= sum(world.made.values()) <= COUNT * MAX_REQUESTS, f"{dict(world.made)} for {COUNT} sandboxes")
    equal(world.made["POST", "pods"], COUNT, "pods made")


@case("memory grows with the sandboxes, and no more than they need")
def _(world):
    _resident, peak, _share = world.memory_kb()
    true(peak <= MAX_RSS_BASE_KB + COUNT * MAX_RSS_EACH_KB, f"{peak} kB at most, {COUNT} sandboxes")


@case("all are deleted, and their pods with them", limit_s=DELETE_LIMIT_S + 60)
def _(world):
    world.scale("delete", NAMESPACE, timeout=DELETE_LIMIT_S)
    equal(left(world), [0, 0], "BatchSandboxes and pods")


@case("the operator said no error, and still runs")
def _(world):
    equal(world.errors(), [], "errors in the operator's log")
    equal(world.operator.poll(), None, "the operator ended with")


def main():
    world = None
    start = "an API server and an operator start"
    try:
        world = World(*sys.argv[1:4], os.path.join(sys.argv[4], "scale-operator.log"))
        world.namespace(NAMESPACE)
        world.start_operator(NAMESPACE)
        cases.say("ok", start)
        return cases.run(world) > 0
    except Exception as error:  # pylint: disable=broad-except
        cases.say("not ok", start, repr(error))
        raise
    finally:
        if world:
            world.end()


if __name__ == "__main__":
    sys.exit(main())
