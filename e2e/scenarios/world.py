# SPDX-License-Identifier: Apache-2.0
"""What a scenario sees of an engine: its objects by kubectl, its operators, its pods by their addresses."""
import glob
import http.client
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib")]

from rest import until  # noqa: E402  the path comes first

ENGINE = os.environ["OSB_TEST_ENGINE"]
IMAGE = os.environ["OSB_IMAGE"]
IMAGE_MISSING = os.environ["OSB_IMAGE_MISSING"]
KUBECTL = os.environ["OSB_KUBECTL"]
NAMESPACE = "scenarios"
OPERATOR_NAMESPACE = "opensandbox-system"
LEASE = "2fa1c467.opensandbox.io"
# A machine with two cores runs all of it, and other suites beside.
LIMIT_S = 60
EXECD_PORT = 44772
ENDPOINTS = "sandbox.opensandbox.io/endpoints"


def kubectl(*arguments, given=None, namespace=NAMESPACE):
    """(status, output or error) of one command."""
    command = [KUBECTL, "--namespace", namespace, "--request-timeout=30s", *arguments]
    result = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout if result.returncode == 0 else result.stderr


def must(*arguments, **options):
    status, text = kubectl(*arguments, **options)
    if status != 0:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {text}")
    return text


def read(kind, name, namespace=NAMESPACE):
    """The object, or None."""
    status, text = kubectl("get", kind, name, "-o", "json", namespace=namespace)
    if status == 0:
        return json.loads(text)
    if "NotFound" in text or "not found" in text:
        return None
    raise AssertionError(text)


def pods(name, namespace=NAMESPACE):
    """Pods of a BatchSandbox that are not on their way out, by name."""
    items = json.loads(must("get", "pods", "-o", "json", namespace=namespace))["items"]
    return {pod["metadata"]["name"]: pod for pod in items
            if any(o["kind"] == "BatchSandbox" and o["name"] == name
                   for o in pod["metadata"].get("ownerReferences", []))
            and "deletionTimestamp" not in pod["metadata"]}


def container(**more):
    return {"name": "sandbox", "image": IMAGE, "command": ["sleep", "infinity"],
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"},
                          "limits": {"cpu": "500m", "memory": "64Mi"}}, **more}


def batchsandbox(name, replicas=1, pod=None, annotations=None, template_annotations=None, **spec):
    pod = {"terminationGracePeriodSeconds": 1, "containers": [container()], **(pod or {})}
    template = {"metadata": {"annotations": template_annotations or {}}, "spec": pod}
    return {"apiVersion": "sandbox.opensandbox.io/v1alpha1", "kind": "BatchSandbox",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"replicas": replicas, "template": template, **spec}}


def apply(made, namespace=NAMESPACE):
    must("apply", "-f", "-", given=json.dumps(made), namespace=namespace)


def status_of(name, namespace=NAMESPACE):
    return (read("bsbx", name, namespace) or {}).get("status", {})


def conditions(name, namespace=NAMESPACE):
    """Conditions that hold: type to (reason, message)."""
    return {c["type"]: (c.get("reason"), c.get("message", ""))
            for c in status_of(name, namespace).get("conditions", []) if c["status"] == "True"}


def endpoints(name):
    made = read("bsbx", name)
    return json.loads(made["metadata"].get("annotations", {}).get(ENDPOINTS, "[]"))


def ready(name, replicas=1, namespace=NAMESPACE):
    def is_ready():
        status = status_of(name, namespace)
        return status.get("ready") == replicas == status.get("replicas") and status.get("phase") == "Succeed"
    until(is_ready, LIMIT_S, f"{name} ready with {replicas}; it is {status_of(name, namespace)}")


def gone(kind, name, namespace=NAMESPACE, limit_s=LIMIT_S):
    until(lambda: read(kind, name, namespace) is None, limit_s, f"{kind} {name} gone")


def events(name, namespace=NAMESPACE):
    items = json.loads(must("get", "events", "-o", "json", namespace=namespace))["items"]
    return [(e["type"], e["reason"], e["message"]) for e in items
            if e["involvedObject"].get("kind") == "BatchSandbox" and e["involvedObject"].get("name") == name]


def request(address, port, method, path, body=None, headers=None, timeout=5):
    connection = http.client.HTTPConnection(address, port, timeout=timeout)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


# ---- operators ----

def operator_pods():
    items = json.loads(must("get", "pods", "-l", "app.kubernetes.io/name=opensandbox-operator", "-o", "json",
                            namespace=OPERATOR_NAMESPACE))["items"]
    return {pod["metadata"]["name"]: pod for pod in items if "deletionTimestamp" not in pod["metadata"]}


def rest_addresses():
    """host:port of the REST API of every operator that serves."""
    if ENGINE == "embedded":
        return [os.environ["OPEN_SANDBOX_DOMAIN"]]
    return [f"{pod['status']['podIP']}:8080" for pod in operator_pods().values()
            if any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))]


def leader():
    """The name of the pod that leads, or None."""
    lease = read("lease", LEASE, OPERATOR_NAMESPACE)
    holder = lease["spec"].get("holderIdentity") or "" if lease else ""
    return holder.rpartition("_")[0] or None


def operator_pid(name):
    """The process of the operator's pod NAME."""
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{place}/environ", "rb") as file:
                environment = file.read().split(b"\0")
            with open(f"{place}/comm", encoding="utf-8") as file:
                program = file.read()
        except OSError:
            continue
        if program.startswith("opensandbox-op") and f"POD_NAME={name}".encode() in environment:
            return int(place[6:])
    return None


def kill_operator():
    """Kills the operator that reconciles, where it stands; gives its name."""
    if ENGINE == "embedded":
        import engine
        pid = until(lambda: engine.part_pid("operator"), LIMIT_S, "an operator")
        name = str(pid)
    else:
        name = until(leader, LIMIT_S, "a leader")
        pid = until(lambda: operator_pid(name), LIMIT_S, f"the process of {name}")
    os.kill(pid, signal.SIGKILL)
    return name
