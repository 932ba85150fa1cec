# SPDX-License-Identifier: Apache-2.0
"""What the cases of injection stand on: kubectl, an operator outside of the cluster, its REST API."""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time

import rest
from cases import equal, true

KUBECTL = os.environ["OSB_KUBECTL"]
REGISTRY = os.environ["OSB_CLUSTER_REGISTRY"]
NODE = os.environ["OSB_CLUSTER_NODE"]
IMAGE = f"{REGISTRY}/base:1"
EXECD_IMAGE = f"{REGISTRY}/execd:1"
NAMESPACE = "opensandbox"
KEY = "injection"
TIMEOUT_S = 60
SOON_S = 15  # what waits for the kubelet's next look, on a busy machine


def kubectl(*arguments, namespace=NAMESPACE, document=None):
    result = subprocess.run([KUBECTL, "--namespace", namespace, *arguments], text=True, capture_output=True,
                            input=document and json.dumps(document), check=False, timeout=TIMEOUT_S)
    if result.returncode != 0:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {result.stderr.strip()}")
    return result.stdout


def get(kind, name, **options):
    return json.loads(kubectl("get", kind, name, "-o", "json", **options))


def wait_for(what, seconds, holds):
    """The first true answer of HOLDS."""
    end = time.monotonic() + seconds
    while True:
        answer = holds()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def toml(settings):
    lines = []
    for section, values in settings.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def operator(injection="init-container", execd_image=EXECD_IMAGE, namespace=NAMESPACE, **kubernetes):
    """An operator with this configuration, and rest.call() pointed at it."""
    port, health_port = free_port(), free_port()
    settings = {"server": {"host": "127.0.0.1", "port": port, "api_key": KEY},
                "runtime": {"type": "kubernetes"}, "health": {"port": health_port},
                "kubernetes": {"namespace": namespace, "execd_injection": injection, **kubernetes}}
    if execd_image:
        settings["runtime"]["execd_image"] = execd_image
    path = os.path.join(os.environ["OSB_TEST_TMP"], "operator.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(toml(settings))
    ours, theirs = os.pipe()
    with open(os.path.join(os.environ["OSB_TEST_LOGS"], "injection-operator.log"), "ab") as log:
        process = subprocess.Popen([os.path.join(os.environ["OSB_BIN"], "opensandbox-operator"), "--config", path,
                                    "--ready-fd", str(theirs)], stdout=log, stderr=log, pass_fds=[theirs])
    os.close(theirs)
    try:
        with os.fdopen(ours, "rb") as ready:
            if ready.readline() != b"ready\n":
                raise AssertionError("the operator did not get ready")
        os.environ.update({"OPEN_SANDBOX_DOMAIN": f"127.0.0.1:{port}", "OPEN_SANDBOX_API_KEY": KEY,
                           "OSB_OPERATOR_METRICS": f"http://127.0.0.1:{health_port}/metrics"})
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(15)


def create(image=IMAGE, **more):
    """(status, answer, seconds) of a create."""
    begin = time.monotonic()
    status, answer, _headers = rest.call("POST", "/sandboxes", rest.create_body(image, **more))
    return status, answer, time.monotonic() - begin


@contextlib.contextmanager
def sandbox(**more):
    """The id of one that runs, removed afterwards."""
    status, answer, _seconds = create(**more)
    if status != 202:
        raise AssertionError(f"create: {status} {answer}")
    try:
        yield answer["id"]
    finally:
        rest.call("DELETE", "/sandboxes/" + answer["id"])


def run(sandbox_id, command):
    """What a command writes, both streams as one text."""
    status, endpoint, _headers = rest.call("GET", f"/sandboxes/{sandbox_id}/endpoints/44772")
    if status != 200:
        raise AssertionError(f"endpoint: {status} {endpoint}")
    connection = http.client.HTTPConnection(endpoint["endpoint"], timeout=TIMEOUT_S)
    connection.request("POST", "/command", json.dumps({"command": command}),
                       {"Content-Type": "application/json", **endpoint.get("headers", {})})
    events = list(rest.events(connection.getresponse()))
    connection.close()
    return "\n".join(event["text"] for event in events if event["type"] in ("stdout", "stderr"))


def batch_sandbox(name, **spec):
    """The object of a marked template whose pod sleeps; SPEC goes over the pod's spec."""
    pod = {"containers": [{"name": "sandbox", "image": IMAGE, "command": ["sleep", "1000"]}],
           "terminationGracePeriodSeconds": 1, **spec}
    return {"apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox",
            "metadata": {"name": name, "labels": {"opensandbox.io/id": name}},  # REST shows it, too
            "spec": {"replicas": 1, "template": {
                "metadata": {"annotations": {"opensandbox.io/inject": "execd"}}, "spec": pod}}}


@contextlib.contextmanager
def applied(document):
    kubectl("apply", "-f", "-", document=document)
    try:
        yield document["metadata"]["name"]
    finally:
        kubectl("delete", "batchsandbox", document["metadata"]["name"], "--wait=false")


def condition(name, kind="PodFailed"):
    """The condition of a BatchSandbox when it is there; else None."""
    conditions = get("batchsandbox", name).get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == kind and each["status"] == "True"), None)


def failure(answer, *words):
    equal(answer.get("code"), "KUBERNETES::POD_FAILED", "code")
    for word in words:
        true(word in answer["message"], f"the message says {word!r}: {answer['message']}")


def is_gone(answer):
    """A create that failed leaves nothing."""
    name = answer["message"].split()[1]
    wait_for("the object goes", SOON_S,
             lambda: name not in kubectl("get", "batchsandboxes", "-o", "name"))
