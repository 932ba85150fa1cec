# SPDX-License-Identifier: Apache-2.0
"""Faults of a real API server while sandboxes come and go: the operator gets over each by itself.

run.py STATE PROGRAMS BINARIES LOGS [SEED]
"""
import os
import random
import re
import signal
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the paths come first
from cases import case, equal, true  # noqa: E402
from rest import until  # noqa: E402
from world import LIMIT_S, SANDBOXES, World  # noqa: E402

SEED = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32)
IS_FULL = os.environ["OSB_TEST_FULL"] == "1"
PAUSE_S = 20 if IS_FULL else 6
STEPS = 60 if IS_FULL else 20
LOST_SHARE = 0.01 if IS_FULL else 0.1
LOST_STEPS = 600 if IS_FULL else 40
# While nothing works: each of the few that wait asks again, later and later.
REQUESTS_PER_S_IN_TROUBLE = 60
ASKING = 16
WRITES_PER_CHANGE = 6
# When all is as it should be: the lease (one in two seconds), and a watch that begins again.
REQUESTS_IN_PEACE = 4
PEACE_S = 3
WINDOWS = 5


def churn(world, wanted, rng, steps, pause_s=0.02):
    """Makes, scales and deletes; WANTED is what is to be there in the end."""
    for _ in range(steps):
        name = f"s{rng.randrange(8)}"
        choice = rng.random()
        if name not in wanted:
            wanted[name] = rng.randrange(4)
            # Its namesake may still be going.
            until(lambda n=name: world.api.persistent("GET", f"{SANDBOXES}/{n}")[0] == 404, LIMIT_S, f"{name} gone")
            world.put(name, wanted[name])
        elif choice < 0.35:
            del wanted[name]
            world.delete(name)
        else:
            wanted[name] = rng.randrange(4)
            world.scale(name, wanted[name])
        time.sleep(pause_s)


def is_peaceful(world):
    """Events and deletions still go out for a moment; then a window comes in which nothing does."""
    asked = []
    for _ in range(WINDOWS):
        before = world.faults.total()
        time.sleep(PEACE_S)
        asked.append(world.faults.total() - before)
        if asked[-1] <= REQUESTS_IN_PEACE:
            return
    raise AssertionError(f"{asked} requests in windows of {PEACE_S} s in which nothing was to be done")


def gets_over(world, rng, trouble, steps=STEPS):
    """TROUBLE happens in the middle of a churn; all must then be as wanted, by the same process."""
    wanted = world.wanted
    churn(world, wanted, rng, steps)
    trouble()
    churn(world, wanted, rng, steps)
    world.settles(wanted)
    equal(world.operator.poll(), None, "the operator ended with")
    is_peaceful(world)


@case(f"seed {SEED}: without a fault it settles, and then asks for nothing")
def _(world, rng):
    gets_over(world, rng, lambda: None)


@case("watches that are cut again and again")
def _(world, rng):
    def trouble():
        for _ in range(10):
            until(lambda: len(world.faults.watches) >= 2, LIMIT_S, "the watches are back")
            true(world.faults.cut_watches() >= 2, "watches cut")
            churn(world, world.wanted, rng, 3)
    before = world.faults.total()
    gets_over(world, rng, trouble)
    true(world.faults.total() - before < 2000, f"{world.faults.total() - before} requests")


@case("429 with Retry-After: nobody asks sooner")
def _(world, rng):
    def trouble():
        world.faults.throttled = 0
        world.faults.is_throttling = True
        begin = time.monotonic()
        churn(world, world.wanted, rng, STEPS)
        time.sleep(max(0, begin + PAUSE_S - time.monotonic()))
        world.faults.is_throttling = False
        took_s = time.monotonic() - begin
        # Objects, reflectors, lease and events come back once in RETRY_AFTER_S; a change of an object, whose
        # pods are written side by side, is tried at once.
        bound = ASKING * (took_s / world.faults.retry_after_s + 2) + WRITES_PER_CHANGE * STEPS
        true(0 < world.faults.throttled <= bound, f"{world.faults.throttled} requests in {took_s:.1f} s")
    gets_over(world, rng, trouble)


@case("versions that have expired are listed anew")
def _(world, rng):
    def trouble():
        world.faults.expired = 0
        world.faults.are_watches_expired = True
        world.faults.cut_watches()
        begin = time.monotonic()
        churn(world, world.wanted, rng, STEPS)
        until(lambda: world.faults.expired >= 2, LIMIT_S, "watches refused")
        world.faults.are_watches_expired = False
        took_s = time.monotonic() - begin
        true(world.faults.expired <= 20 * (took_s + 1), f"{world.faults.expired} refusals in {took_s:.1f} s")
    gets_over(world, rng, trouble)


@case(f"{LOST_SHARE:.0%} of the answers to writes are lost after the server acted", limit_s=900)
def _(world, rng):
    def trouble():
        world.faults.lost = 0
        world.faults.lost_share = LOST_SHARE
        churn(world, world.wanted, rng, LOST_STEPS)
        world.settles(world.wanted)
        world.faults.lost_share = 0
        print(f"{world.faults.lost} answers were lost")
        true(world.faults.lost > 0, "no answer was lost")
    gets_over(world, rng, trouble)


@case("the API server is killed and started again")
def _(world, rng):
    def trouble():
        world.state.stop("apiserver", signal.SIGKILL)
        before = world.faults.total()
        time.sleep(PAUSE_S / 2)
        asked = world.faults.total() - before
        world.state.restart("apiserver")
        true(asked <= REQUESTS_PER_S_IN_TROUBLE * PAUSE_S / 2, f"{asked} requests to nobody")
        until(lambda: world.api.persistent("GET", SANDBOXES), LIMIT_S, "the API server")
    gets_over(world, rng, trouble)


@case(f"etcd stands still for {PAUSE_S} s", limit_s=300)
def _(world, rng):
    def trouble():
        pid = world.state.pid("etcd")
        os.kill(pid, signal.SIGSTOP)
        try:
            before = world.faults.total()
            time.sleep(PAUSE_S)
            asked = world.faults.total() - before
        finally:
            os.kill(pid, signal.SIGCONT)
        true(asked <= REQUESTS_PER_S_IN_TROUBLE * PAUSE_S, f"{asked} requests")
    gets_over(world, rng, trouble)


@case("all that was made can be deleted, and no pod is left")
def _(world, _rng):
    for name in list(world.wanted):
        world.delete(name)
    world.settles({})
    with open(world.log, encoding="utf-8") as file:
        odd = [line for line in file if re.search(r'"level":"error"|Sanitizer|runtime error', line)]
    equal(odd, [], "errors in the operator's log")


def main():
    world = None
    try:
        world = World(*sys.argv[1:5], SEED)
        world.wanted = {}
        cases.say("ok", "an API server, a proxy before it and an operator behind that start")
        return cases.run(world, random.Random(SEED)) > 0
    except Exception as error:  # pylint: disable=broad-except
        cases.say("not ok", "an API server, a proxy before it and an operator behind that start", repr(error))
        raise
    finally:
        if world:
            world.end()


if __name__ == "__main__":
    sys.exit(main())
