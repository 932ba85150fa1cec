# SPDX-License-Identifier: Apache-2.0
"""The embedded engine beside bare CRI calls in the same containerd, by turns: engine.py [ROUNDS]

Row 20 of the table of targets, and ten creates at once beside ten bare pods at once.
"""
import http.client
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e", "lib")]

import engine  # noqa: E402  the path comes first
from figure import Samples, figure, plain  # noqa: E402
from rest import call, create_body, until  # noqa: E402

DEFAULT_ROUNDS = 20
WARM_UP = 2
AT_ONCE = 10
ROUNDS_AT_ONCE = 3
RSS_TARGET_MB = 40
RATIO_TARGET = 1.3
TIMEOUT_S = 60
IMAGE = os.environ["OSB_IMAGE"]
CRI_POD = os.environ["OSB_CRI_POD"]


class BarePod:
    """A program that makes a pod by bare CRI calls when told to (bench/cri_pod.c)."""

    def __init__(self):
        instance = engine.instance()
        self.process = subprocess.Popen(
            [CRI_POD, f"unix://{instance['run']}/containerd.sock", IMAGE, "cued",
             instance["cgroup"] + "/bench"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._read()

    def _read(self):
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit("the bare pod failed")
        return line

    def _cue(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def make(self):
        """Milliseconds from RunPodSandbox to the end of the first ExecSync."""
        self._cue()
        return float(self._read())

    def remove(self):
        self._cue()
        self._read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def first_command(sandbox_id):
    status, endpoint, _headers = call("GET", f"/sandboxes/{sandbox_id}/endpoints/44772")
    if status != 200:
        raise SystemExit(f"endpoint: {status} {endpoint}")
    connection = http.client.HTTPConnection(endpoint["endpoint"], timeout=TIMEOUT_S)
    connection.request("POST", "/command", json.dumps({"argv": ["true"]}),
                       {"Content-Type": "application/json", **endpoint.get("headers", {})})
    body = connection.getresponse().read()
    connection.close()
    if b'"execution_complete"' not in body:
        raise SystemExit(f"command: {body!r}")


def make_sandbox():
    """(id, milliseconds from the create's first byte to the end of the first command)."""
    begin = time.monotonic()
    status, answer, _headers = call("POST", "/sandboxes", create_body(IMAGE))
    if status != 202:
        raise SystemExit(f"create: {status} {answer}")
    first_command(answer["id"])
    return answer["id"], (time.monotonic() - begin) * 1000


def remove(sandbox_ids):
    for sandbox_id in sandbox_ids:
        call("DELETE", "/sandboxes/" + sandbox_id)
    until(lambda: not engine.containers(), TIMEOUT_S, "all is gone")


def one_at_a_time(rounds):
    ours, bare = [], []
    pod = BarePod()
    for number in range(-WARM_UP, rounds):
        sandbox_id, took = make_sandbox()
        remove([sandbox_id])
        floor = pod.make()
        pod.remove()
        if number >= 0:
            ours.append(took)
            bare.append(floor)
    pod.close()
    return ours, bare


def at_once():
    """The time of the last of ten, ours and by bare calls."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ours = list(pool.map(lambda _: make_sandbox(), range(AT_ONCE)))
        remove(sandbox_id for sandbox_id, _took in ours)
        pods = list(pool.map(lambda _: BarePod(), range(AT_ONCE)))
        bare = list(pool.map(BarePod.make, pods))
        list(pool.map(BarePod.remove, pods))
    for pod in pods:
        pod.close()
    return max(took for _id, took in ours), max(bare)


def status_of(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(rf"^{key}:\s+(\d+)", status.read(), re.M).group(1)) * 1024


def memory():
    state = engine.status()
    pids = {part["name"]: part["pid"] for part in state["parts"] if part.get("pid")}
    pids["supervisor"] = state["pid"]
    containerd = status_of(pids.pop("containerd"), "VmRSS")
    rss = {name: status_of(pid, "VmRSS") / 1e6 for name, pid in pids.items()}
    own = sum(status_of(pid, "RssAnon") for pid in pids.values()) / 1e6
    parts = " ".join(f"{name}={value:.1f}" for name, value in sorted(rss.items()))
    figure("engine_rss", sum(rss.values()), "MB", RSS_TARGET_MB, ("containerd", containerd / 1e6),
           f"{parts} of_that_anonymous={own:.1f}")


def cold_create(rounds):
    ours, bare = one_at_a_time(rounds)
    ratio = Samples(a / b for a, b in zip(ours, bare))
    ours, bare = Samples(ours), Samples(bare)
    floor = bare.percentile(50)
    figure("cold_create_to_first_command_p50", ours.percentile(50), "ms", RATIO_TARGET * floor,
           ("bare_cri", floor), ours.spread())
    plain("bare_cri_pod_to_first_exec_p50", floor, "ms", bare.spread())
    plain("cold_create_ratio_of_pairs_p50", ratio.percentile(50), "x", ratio.spread())


def ten_at_once():
    pairs = [at_once() for _ in range(ROUNDS_AT_ONCE)]
    ours, bare = (Samples(column) for column in zip(*pairs))
    figure("ten_creates_at_once_last", ours.percentile(50), "ms", RATIO_TARGET * bare.percentile(50),
           ("ten_bare_cri_pods", bare.percentile(50)), ours.spread())


if __name__ == "__main__":
    memory()
    cold_create(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_ROUNDS)
    ten_at_once()
