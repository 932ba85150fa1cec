# SPDX-License-Identifier: Apache-2.0
"""Several operators, one of which leads: what holds while that one is killed."""
import json
import os
import random
import threading
import time

import rest
from cases import case, equal, true
from facade import call
from rest import until
from world import (LIMIT_S, NAMESPACE, apply, batchsandbox, kill_operator, leader, must, pods, rest_addresses,
                   status_of)

SEED = int(os.environ.get("OSB_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
COUNT = 100 if os.environ["OSB_TEST_FULL"] == "1" else 20
LEASE_S = 15
# From the kill: the lease runs out, another asks within a retry period, and its first reconciles.
TAKE_OVER_S = LEASE_S + 5


class Watch(threading.Thread):
    """Asks every operator that serves, over and over."""

    def __init__(self, victim):
        super().__init__(daemon=True)
        self.victim = victim
        self.is_over = threading.Event()
        self.asked = 0
        self.failures = []

    def run(self):
        addresses = rest_addresses()
        while not self.is_over.wait(0.05):
            for address in addresses:
                if address == self.victim:
                    continue
                self.asked += 1
                try:
                    status, _body, _headers = call(address, "GET", "/sandboxes?pageSize=5")
                except OSError as error:
                    status = error
                if status != 200:
                    self.failures.append(f"{address}: {status}")


def address_of(name):
    pod = json.loads(must("get", "pod", name, "-o", "json", namespace="opensandbox-system"))
    return f"{pod['status']['podIP']}:8080"


@case(f"seed {SEED}: the leader is killed in a churn of {COUNT}: another leads in time, all get what they want, "
      "and the others answer throughout", limit_s=600)
def _():
    rng = random.Random(SEED)
    wanted = {}
    old = until(leader, LIMIT_S, "a leader")
    watch = Watch(address_of(old))
    watch.start()
    kill_at = rng.randrange(COUNT // 4, COUNT // 2)
    for i in range(COUNT):
        name = f"churn-{i}"
        wanted[name] = rng.randrange(0, 3)
        apply(batchsandbox(name, wanted[name], pod={"containers": [
            {"name": "sandbox", "image": os.environ["OSB_IMAGE"], "command": ["sleep", "infinity"]}]}))
        if i == kill_at:
            killed = time.monotonic()
            kill_operator()
        elif rng.random() < 0.3:
            victim = rng.choice(sorted(wanted))
            must("delete", "bsbx", victim, "--wait=false")
            del wanted[victim]
    until(lambda: leader() not in (None, old), max(1, killed + TAKE_OVER_S - time.monotonic()), "another leader")
    took_s = time.monotonic() - killed
    print(f"another led {took_s:.1f} s after the kill, or was seen then")
    for name, replicas in wanted.items():
        until(lambda n=name, r=replicas: status_of(n).get("ready", 0) == r == len(pods(n)), 240, f"{name}: {replicas}")
    watch.is_over.set()
    watch.join()
    true(watch.asked > 20, f"only {watch.asked} questions")
    equal(watch.failures, [], f"answers of {watch.asked}")
    must("delete", "bsbx", "--all", "--timeout=120s", namespace=NAMESPACE)
    until(lambda: json.loads(must("get", "pods", "-o", "json"))["items"] == [], 120, "no pod is left")
    equal(rest.call("GET", "/sandboxes")[0], 200, "the service answers")
