# SPDX-License-Identifier: Apache-2.0
"""Cold creates on a Kubernetes cluster through the published SDK, beside bare pods: cluster.py MODE [ROUNDS]

Each round makes, by turns and each at a random moment of the kubelet's second, a bare pod of the same image,
one with an init container of the same shape, and a sandbox. A bare pod counts from its POST to the watch
event that calls it Ready; a sandbox from the SDK's create to the first byte of `echo hi`. Afterwards ten of
each at once. MODE is how the operator injects: init-container or shim.
"""
import base64
import contextlib
import http.client
import json
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import NamedTuple

from opensandbox.config import ConnectionConfigSync
from opensandbox.models.execd_sync import ExecutionHandlersSync
from opensandbox.sync import SandboxSync

from figure import Samples, figure, plain

DEFAULT_ROUNDS = 20
WARM_UP = 1
AT_ONCE = 10
ROUNDS_AT_ONCE = 3
TIMEOUT_S = 90
ALLOWANCE_MS = 100  # of a sandbox over the bare pod with an init container
SHARE_TARGET_MS = 20  # the operator's own
IMAGE = os.environ["OSB_IMAGE"]
EXECD_IMAGE = os.environ["OSB_EXECD_IMAGE"]
KUBECTL = os.environ["OSB_KUBECTL"]
NAMESPACE = os.environ.get("OSB_NAMESPACE", "default")
RESOURCES = {"cpu": "100m", "memory": "64Mi"}
FACADE_REQUESTS = {"cpu": "10m", "memory": "6710886400m"}  # a tenth, as the operator's default is


class Cluster:
    """The API server of $KUBECONFIG: pods are posted, watched and deleted."""

    def __init__(self):
        view = json.loads(subprocess.run([KUBECTL, "config", "view", "--raw", "--flatten", "--minify", "-o", "json"],
                                         capture_output=True, check=True).stdout)
        cluster = view["clusters"][0]["cluster"]
        user = view["users"][0]["user"]
        self.host = cluster["server"].split("://")[1].rstrip("/")
        self.context = ssl.create_default_context(cadata=self._decode(cluster, "certificate-authority-data"))
        self.headers = {"Content-Type": "application/json"}
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        else:
            with tempfile.NamedTemporaryFile("w") as pair:
                pair.write(self._decode(user, "client-certificate-data") + self._decode(user, "client-key-data"))
                pair.flush()
                self.context.load_cert_chain(pair.name)

    @staticmethod
    def _decode(holder, key):
        return base64.b64decode(holder[key]).decode() + "\n"

    def request(self, method, path, body=None):
        connection = http.client.HTTPSConnection(self.host, context=self.context, timeout=TIMEOUT_S)
        connection.request(method, f"/api/v1/namespaces/{NAMESPACE}/pods{path}", body and json.dumps(body),
                           self.headers)
        return connection, connection.getresponse()

    def watch(self, name):
        """A watch that has begun, as (connection, answer)."""
        return self.request("GET", f"?watch=1&fieldSelector=metadata.name={name}")

    def make(self, pod):
        connection, answer = self.request("POST", "", pod)
        text = answer.read()
        connection.close()
        if answer.status != 201:
            raise SystemExit(f"pod: {answer.status} {text!r}")

    def remove(self, name):
        connection, answer = self.request("DELETE", f"/{name}?gracePeriodSeconds=0")
        answer.read()
        connection.close()

    def count(self):
        connection, answer = self.request("GET", "")
        items = json.load(answer)["items"]
        connection.close()
        return len(items)


def bare_pod(name, has_init):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
           "spec": {"automountServiceAccountToken": False, "restartPolicy": "Never",
                    "containers": [{"name": "sandbox", "image": IMAGE, "imagePullPolicy": "IfNotPresent",
                                    "command": ["tail", "-f", "/dev/null"],
                                    "resources": {"limits": RESOURCES, "requests": FACADE_REQUESTS}}]}}
    if has_init:
        mount = {"name": "bin", "mountPath": "/mnt/opensandbox"}
        spec = pod["spec"]
        spec["volumes"] = [{"name": "bin", "emptyDir": {}}]
        spec["containers"][0]["volumeMounts"] = [mount]
        spec["initContainers"] = [{
            "name": "init", "image": EXECD_IMAGE, "imagePullPolicy": "IfNotPresent",
            "command": ["/opt/opensandbox/bootstrap.sh", "--install", "/mnt/opensandbox"],
            "resources": spec["containers"][0]["resources"], "volumeMounts": [mount]}]
    return pod


def is_ready(event):
    return any(condition["type"] == "Ready" and condition["status"] == "True"
               for condition in event["object"].get("status", {}).get("conditions", []))


def make_bare(cluster, has_init):
    """(its removal, milliseconds to Ready)"""
    name = "bare-" + uuid.uuid4().hex[:12]
    connection, events = cluster.watch(name)
    begin = time.monotonic()
    cluster.make(bare_pod(name, has_init))
    while not is_ready(json.loads(events.readline())):
        pass
    took = time.monotonic() - begin
    connection.close()
    return lambda: cluster.remove(name), took * 1000


def make_sandbox():
    """(its removal, milliseconds to the first byte of its first command)"""
    first = []
    begin = time.monotonic()
    wall = time.time()
    sandbox = SandboxSync.create(IMAGE, connection_config=ConnectionConfigSync(), resource=RESOURCES)
    created[sandbox.id] = Created((time.monotonic() - begin) * 1000, wall * 1000)
    sandbox.commands.run("echo hi", handlers=ExecutionHandlersSync(
        on_stdout=lambda _text: first.append(time.monotonic())))

    def remove():
        sandbox.kill()
        sandbox.close()
    return remove, (first[0] - begin) * 1000


class Created(NamedTuple):
    took_ms: float  # of the SDK's create
    began_ms: float  # by the wall clock, as logs are


created = {}  # by sandbox id


def settle(cluster):
    deadline = time.monotonic() + TIMEOUT_S
    while cluster.count() > 0:
        if time.monotonic() > deadline:
            raise SystemExit("pods do not go")
        time.sleep(0.1)


def one_at_a_time(cluster, makers, rounds):
    took = {name: [] for name in makers}
    for number in range(-WARM_UP, rounds):
        for name, make in makers.items():
            time.sleep(random.random())  # the kubelet looks around once a second: any moment of it
            remove, milliseconds = make()
            if number >= 0:
                took[name].append(milliseconds)
            remove()
            settle(cluster)
    return {name: Samples(values) for name, values in took.items()}


def at_once(cluster, makers):
    took = {name: [] for name in makers}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _round in range(ROUNDS_AT_ONCE):
            for name, make in makers.items():
                time.sleep(random.random())
                made = list(pool.map(lambda _, make=make: make(), range(AT_ONCE)))
                took[name] += [milliseconds for _remove, milliseconds in made]
                list(pool.map(lambda item: item[0](), made))
                settle(cluster)
    return {name: Samples(values) for name, values in took.items()}


# ---- what the operator itself took of it, by its log and its metrics ----

def log_lines():
    with open(os.environ["OSB_OPERATOR_LOG"], encoding="utf-8") as log:
        for line in log:
            with contextlib.suppress(json.JSONDecodeError):
                yield json.loads(line)


def milliseconds_of(line):
    return datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp() * 1000


def times_of():
    """When what happened to each sandbox, by the operator's log."""
    times = {}
    for line in log_lines():
        marks = times.setdefault(line.get("sandbox"), {})
        if line["msg"] in ("pod created", "execd answered"):
            marks[line["msg"]] = milliseconds_of(line)
        elif line["msg"] == "request" and line.get("method") == "POST" and line.get("status") == 202:
            marks["end"] = milliseconds_of(line)
            marks["begin"] = marks["end"] - line["duration_ms"]
    return times


def spans(ids):
    """Milliseconds from the request to the pod's creation, and from execd's answer to the request's own."""
    times = times_of()
    whole = [times[name] for name in ids if len(times.get(name, {})) == 4]
    return [(marks["pod created"] - marks["begin"], marks["end"] - marks["execd answered"]) for marks in whole]


def sdk_head_figure(name):
    """From the SDK's call to its request's arrival: what makes no part of this project any faster."""
    head = Samples(marks["begin"] - created[sandbox].began_ms for sandbox, marks in times_of().items()
                   if sandbox in created and "begin" in marks)
    plain(name, head.percentile(50), "ms", head.spread())


def api_times():
    """(seconds, calls) that the API server took since the operator's start, by method and resource."""
    with urllib.request.urlopen(os.environ["OSB_OPERATOR_METRICS"], timeout=TIMEOUT_S) as answer:
        text = answer.read().decode()
    found = {}
    for name, method, resource, value in re.findall(
            r'^opensandbox_kube_request_seconds_(sum|count){method="(\w+)",resource="(\w+)"} (\S+)$', text, re.M):
        found.setdefault((method, resource), {})[name] = float(value)
    return {key: (both["sum"], both["count"]) for key, both in found.items()}


def api_mean_ms(before, after, method, resource):
    key = (method, resource)
    seconds, calls = (new - old for new, old in zip(after.get(key, (0, 0)), before.get(key, (0, 0))))
    return 1000 * seconds / calls if calls else 0


def share_figure(name, ids, before):
    """
    What the sandbox would be sooner if the operator took no time: all of both spans less what the API server
    took of it for the three objects (its status write after execd's answer is counted as ours).
    """
    after = api_times()
    first, last = zip(*spans(ids))
    posts = [api_mean_ms(before, after, "POST", kind) for kind in ("batchsandboxes", "secrets", "pods")]
    whole = Samples(a + b for a, b in zip(first, last))
    own = sum(first) / len(first) - sum(posts) + sum(last) / len(last)
    figure(name + "_mean", own, "ms", SHARE_TARGET_MS, None,
           f"request_to_pod_p50={Samples(first).percentile(50):.0f} "
           f"execd_to_answer_p50={Samples(last).percentile(50):.0f} api_server_post_sandbox={posts[0]:.1f} "
           f"post_secret={posts[1]:.1f} post_pod={posts[2]:.1f}")
    plain(name + "_with_the_api_server_p50", whole.percentile(50), "ms", whole.spread())


# ---- the figures ----

def say(mode, prefix, took):
    ours = took["sandbox"]
    peer = "bare_pod" if mode == "shim" else "bare_pod_with_init"
    allowance = 0 if mode == "shim" else ALLOWANCE_MS
    floor = took[peer].percentile(50)
    figure(f"{prefix}_{mode}_first_byte_p50", ours.percentile(50), "ms", floor + allowance,
           (peer + "_ready", floor), ours.spread())
    for name in ("bare_pod", "bare_pod_with_init"):
        plain(f"{prefix}_{name}_ready_p50", took[name].percentile(50), "ms", took[name].spread())


def main():
    mode = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_ROUNDS
    cluster = Cluster()
    makers = {"bare_pod": lambda: make_bare(cluster, False),
              "bare_pod_with_init": lambda: make_bare(cluster, True),
              "sandbox": make_sandbox}
    settle(cluster)
    before = api_times()
    say(mode, "cold_create", one_at_a_time(cluster, makers, rounds))
    answers = Samples(each.took_ms for each in created.values())
    plain(f"cold_create_{mode}_sdk_create_p50", answers.percentile(50), "ms", answers.spread())
    sdk_head_figure(f"cold_create_{mode}_sdk_call_to_request_p50")
    share_figure(f"cold_create_{mode}_operator_share", list(created), before)
    created.clear()
    before = api_times()
    say(mode, "ten_at_once", at_once(cluster, makers))
    sdk_head_figure(f"ten_at_once_{mode}_sdk_call_to_request_p50")
    share_figure(f"ten_at_once_{mode}_operator_share", list(created), before)


if __name__ == "__main__":
    main()
