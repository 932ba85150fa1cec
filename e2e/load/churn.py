# SPDX-License-Identifier: Apache-2.0
"""The operator is killed at random moments while sandboxes come and go; then the books are checked.

churn.py [SEED]: the seed of a run is printed, and gives the same moments again.
"""
import http.client
import os
import random
import signal
import sys
import threading
import time
import uuid

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib")]

import cases  # noqa: E402  the path comes first
import engine  # noqa: E402
from cases import case, equal, true  # noqa: E402
from rest import call, create_body, until  # noqa: E402

KILLS = 5
PAUSE_MIN_S, PAUSE_MAX_S = 0.3, 3.0
WORKERS = 3
# A worker holds few sandboxes at a time: the machine is small.
HELD_MAX = 3
SETTLE_S = 90
IMAGE = os.environ["OSB_IMAGE"]
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1 << 32)


class Books:
    """What the server has promised: ids that it accepted, ids whose end it confirmed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.accepted = set()
        self.deleted = set()
        self.errors = []


def persistent(function, what):
    """Repeats a request that lost its server; the request must be safe to repeat."""
    end = time.monotonic() + 60
    while True:
        try:
            status, body, _headers = function()
            if status not in (500, 502, 503, 504):
                return status, body
            what_went_wrong = f"{status} {body}"
        except (OSError, http.client.HTTPException) as error:
            what_went_wrong = repr(error)
        if time.monotonic() > end:
            raise AssertionError(f"{what}: {what_went_wrong}")
        time.sleep(0.1)


def work(books, rng, stop):
    held = []
    while not stop.is_set() or held:
        if not stop.is_set() and len(held) < HELD_MAX and rng.random() < 0.6:
            key = {"Idempotency-Key": str(uuid.UUID(int=rng.getrandbits(128), version=4))}
            status, body = persistent(
                lambda: call("POST", "/sandboxes", create_body(IMAGE), headers=key), "create")
            if status != 202:
                books.errors.append(f"create: {status} {body}")
                return
            with books.lock:
                books.accepted.add(body["id"])
            held.append(body["id"])
        elif held:
            # Some stay, so that there is something to count.
            sandbox_id = held.pop(rng.randrange(len(held)))
            if rng.random() < 0.2 or stop.is_set():
                continue
            status, body = persistent(lambda: call("DELETE", "/sandboxes/" + sandbox_id), "delete")
            # 404: an earlier try has done it, and its answer was lost.
            if status not in (204, 404):
                books.errors.append(f"delete: {status} {body}")
            with books.lock:
                books.deleted.add(sandbox_id)


def churn(books):
    rng = random.Random(SEED)
    stop = threading.Event()
    workers = [threading.Thread(target=work, args=(books, random.Random(rng.getrandbits(64)), stop))
               for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for number in range(KILLS):
        time.sleep(rng.uniform(PAUSE_MIN_S, PAUSE_MAX_S))
        pid = until(lambda: engine.part_pid("operator"), 30, "the operator is up")
        os.kill(pid, signal.SIGKILL)
        print(f"kill {number + 1}: process {pid}")
        until(lambda: engine.part_pid("operator") not in (None, pid), 30, "the operator is started again")
    time.sleep(rng.uniform(PAUSE_MIN_S, PAUSE_MAX_S))
    stop.set()
    for worker in workers:
        worker.join()


BOOKS = Books()


@case(f"create and delete go on while the operator is killed {KILLS} times", limit_s=400)
def _():
    churn(BOOKS)
    print(f"accepted {len(BOOKS.accepted)}, deleted {len(BOOKS.deleted)}")
    equal(BOOKS.errors, [], "errors")
    true(len(BOOKS.accepted) >= KILLS, f"only {len(BOOKS.accepted)} were created")


@case("the accepted ids are those that exist and those that were deleted")
def _():
    def settled():
        names = {item["metadata"]["name"] for item in engine.objects("batchsandboxes")}
        return names == BOOKS.accepted - BOOKS.deleted
    until(settled, SETTLE_S, "objects = accepted - deleted")


@case("the pods are the sum of the replicas, and CRI runs just these")
def _():
    def settled():
        wanted = sum(item["spec"]["replicas"] for item in engine.objects("batchsandboxes"))
        pods = engine.objects("pods")
        # A pod is its sandbox and its one container.
        return len(pods) == wanted and len(engine.containers()) == 2 * wanted
    until(settled, SETTLE_S, "pods and containers")


@case("all can be deleted then, and nothing is left")
def _():
    for sandbox_id in BOOKS.accepted - BOOKS.deleted:
        status, body = persistent(lambda: call("DELETE", "/sandboxes/" + sandbox_id), "delete")
        true(status in (204, 404), f"{status} {body}")
    until(lambda: not any(engine.left().values()), SETTLE_S, "all is gone")


if __name__ == "__main__":
    sys.exit(cases.run(prefix=f"seed {SEED}: ") > 0)
