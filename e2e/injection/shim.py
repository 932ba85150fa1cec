# SPDX-License-Identifier: Apache-2.0
"""Pods that ask their node for execd, where opensandbox-shim puts it in."""
import re
import subprocess
import os

from cases import case, equal, true
from world import IMAGE, SOON_S, applied, batch_sandbox, condition, get, kubectl, operator, run, sandbox, wait_for

SHIM_METRICS = "http://127.0.0.1:10270/metrics"  # in the network of the cluster


def addresses_told():
    text = subprocess.run(["nsenter", "-t", os.environ["OSB_CLUSTER_HOLDER"], "-n", "curl", "-sS", SHIM_METRICS],
                          capture_output=True, text=True, check=True).stdout
    return int(re.search(r'opensandbox_shim_addresses_total{result="told"} (\d+)', text).group(1))


@case("a sandbox gets its execd from its node, which it can neither change nor remove")
def _():
    with operator(injection="shim"), sandbox() as name:
        equal(run(name, "echo hi"), "hi")
        equal(run(name, "cd /opt/opensandbox && echo A=1 >>.env && cat .env"), "A=1")
        for attempt in ("echo x >execd", "rm -f bootstrap.sh", "mv execd other", "cp /bin/true execd"):
            true(run(name, f"cd /opt/opensandbox && {attempt} && echo changed").count("changed") == 0, attempt)
        pod = get("pod", name + "-0")
        true("initContainers" not in pod["spec"] and "volumes" not in pod["spec"], "nothing is added to the pod")


@case("the node tells the address of a sandbox before the kubelet does, and the kubelet agrees")
def _():
    before = addresses_told()
    with operator(injection="shim"), sandbox() as name:
        equal(addresses_told(), before + 1)
        first = get("pod", name + "-0")["status"]["podIP"]
        ready = wait_for("the kubelet has looked around", SOON_S, lambda: next(
            (pod for pod in [get("pod", name + "-0")] if pod["status"]["phase"] == "Running"), None))
        equal(ready["status"]["podIP"], first)


@case("execd goes into the container that the template names, and no other")
def _():
    document = batch_sandbox("named")
    template = document["spec"]["template"]
    template["metadata"]["annotations"]["opensandbox.io/inject-container"] = "second"
    template["spec"]["containers"] = [{"name": name, "image": IMAGE, "command": ["sleep", "1000"]}
                                      for name in ("sandbox", "second")]
    with operator(injection="shim"), applied(document) as name:
        wait_for("it is ready", SOON_S * 2, lambda: condition(name, "Ready"))
        wait_for("the kubelet says so, too", SOON_S, lambda: get("pod", name + "-0")["status"]["phase"] == "Running")
        kubectl("exec", name + "-0", "-c", "second", "--", "test", "-x", "/opt/opensandbox/execd")
        kubectl("exec", name + "-0", "-c", "sandbox", "--", "test", "!", "-e", "/opt/opensandbox/execd")


@case("a pod that brings its own execd gets none from its node")
def _():
    with operator(injection="init-container"), sandbox() as name:
        equal(run(name, "stat -c %u /opt/opensandbox/execd"), "65532")


@case("an injection of another version is refused in words that name both")
def _():
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "newer", "annotations": {
               "opensandbox.io/inject": "execd", "opensandbox.io/inject-version": "9",
               "opensandbox.io/inject-container": "sandbox"}},
           "spec": {"terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "sandbox", "image": IMAGE, "command": ["sleep", "1000"]}]}}
    kubectl("apply", "-f", "-", document=pod)
    try:
        waiting = wait_for("the kubelet says why", SOON_S, lambda: next(
            (status["state"]["waiting"] for status in get("pod", "newer")["status"].get("containerStatuses", [])
             if status["state"].get("waiting", {}).get("message")), None))
        equal(waiting["reason"], "CreateContainerError")
        true(waiting["message"].startswith("opensandbox-shim: ") and " 9" in waiting["message"], waiting["message"])
    finally:
        kubectl("delete", "pod", "newer", "--wait=false")
