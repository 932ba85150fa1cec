# SPDX-License-Identifier: Apache-2.0
"""Pods whose execd comes by an init container, and what kubelet and scheduler say of them."""
import contextlib
import json
import os

import rest
from cases import case, equal, true
from world import (IMAGE, NAMESPACE, REGISTRY, SOON_S, applied, batch_sandbox, condition, create, failure, get, is_gone,
                   kubectl, operator, run, sandbox, wait_for)


# ---- by an init container ----

@case("a sandbox gets its execd by an init container, in a namespace of the level baseline")
def _():
    kubectl("label", "namespace", NAMESPACE, "--overwrite", "pod-security.kubernetes.io/enforce=baseline")
    with operator(), sandbox() as name:
        equal(run(name, "echo hi"), "hi")
        pod = get("pod", name + "-0")
        equal([each["name"] for each in pod["spec"]["initContainers"]], ["execd-installer"])
        true("opensandbox.io/inject-version" not in pod["metadata"]["annotations"], "the node is not asked")


@case("a sandbox can write beside execd and its launcher, but neither change nor remove them")
def _():
    with operator(), sandbox() as name:
        equal(run(name, "cd /opt/opensandbox && echo A=1 >>.env && cat .env"), "A=1")
        for attempt in ("echo x >execd", "rm -f bootstrap.sh", "mv execd other", "cp /bin/true execd"):
            true(run(name, f"cd /opt/opensandbox && {attempt} && echo changed").count("changed") == 0, attempt)
        equal(run(name, "echo $A"), "1")


@case("a pod of the level restricted can be made, when its image can run without root")
def _():
    template = os.path.join(os.environ["OSB_TEST_TMP"], "template.yaml")
    security = {"runAsNonRoot": True, "runAsUser": 1000, "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
    with open(template, "w", encoding="utf-8") as file:
        json.dump({"spec": {"template": {"spec": {"containers": [
            {"name": "sandbox", "securityContext": security}]}}}}, file)
    kubectl("create", "namespace", "restricted")
    kubectl("label", "namespace", "restricted", "pod-security.kubernetes.io/enforce=restricted")
    with operator(namespace="restricted", batchsandbox_template_file=template), sandbox() as name:
        equal(run(name, "id -u; echo A=1 >>/opt/opensandbox/.env; echo x >/opt/opensandbox/execd").split("\n")[0],
              "1000")
        equal(run(name, "echo $A"), "1")


@case("defaults that the API server puts into a pod are no reason to do anything to it")
def _():
    with operator(), applied(batch_sandbox("defaults")) as name:
        wait_for("it is ready", SOON_S * 2, lambda: condition(name, "Ready"))
        pod = get("pod", name + "-0")
        true("terminationGracePeriodSeconds" in pod["spec"] and "tolerations" in pod["spec"], "there are defaults")
        # A change of the object makes the operator look at all of it again.
        kubectl("patch", "batchsandbox", name, "--type=merge", "-p", '{"spec":{"expireTime":"2099-01-01T00:00:00Z"}}')
        wait_for("the operator has looked again", SOON_S, lambda: get("batchsandbox", name)["status"][
            "observedGeneration"] == get("batchsandbox", name)["metadata"]["generation"] == 2)
        again = get("pod", name + "-0")
        equal(again["metadata"]["uid"], pod["metadata"]["uid"], "uid")
        equal(again["spec"], pod["spec"], "spec")
        equal(again["metadata"].get("generation"), pod["metadata"].get("generation"), "generation")


@case("an execd image that is not there is named within seconds, and nothing stays")
def _():
    with operator(execd_image=f"{REGISTRY}/nothing:1"):
        status, answer, seconds = create()
    equal(status, 500, "status")
    failure(answer, "PULL", "execd-installer", f"{REGISTRY}/nothing:1", "runtime.execd_image")
    true(seconds < SOON_S, f"it took {seconds:.1f} s")
    is_gone(answer)


@case("an execd image without a launcher is told from a node that injects nothing")
def _():
    with operator(execd_image=IMAGE):
        status, answer, seconds = create()
    equal(status, 500, "status")
    failure(answer, "INJECTION_UNAVAILABLE", "execd-installer", "it is no execd image")
    true(seconds < SOON_S, f"it took {seconds:.1f} s")


@case("without an execd image a create is a 501 that says what to set")
def _():
    with operator(execd_image=None):
        status, answer, _seconds = create()
    equal(status, 501, "status")
    true("runtime.execd_image" in answer["message"], answer["message"])


# ---- what kubelet and scheduler say ----

@case("an image of the caller that is not there ends the create with the node's words")
def _():
    with operator():
        status, answer, seconds = create(f"{REGISTRY}/nothing:1")
    equal(status, 500, "status")
    failure(answer, "PULL", "container=sandbox", f"{REGISTRY}/nothing:1")
    true("runtime.execd_image" not in answer["message"], answer["message"])
    true(seconds < SOON_S, f"it took {seconds:.1f} s")


@case("a sandbox that no node has room for is Pending, with the scheduler's words")
def _():
    with operator(create_wait_seconds=2):
        status, answer, _seconds = create(resourceLimits={"cpu": "1000", "memory": "64Mi"},
                                          resourceRequests={"cpu": "1000"})
        equal((status, answer["status"]["state"]), (202, "Pending"))
        equal(answer["status"]["reason"], "UNSCHEDULABLE")
        true("Insufficient cpu" in answer["status"]["message"], answer["status"]["message"])
        rest.call("DELETE", "/sandboxes/" + answer["id"])


@case("a platform that no node has is the caller's mistake")
def _():
    with operator():
        status, answer, _seconds = create(platform={"os": "linux", "arch": "arm64"})
    equal((status, answer["code"]), (400, "SANDBOX::INVALID_PARAMETER"))
    true("node affinity" in answer["message"], answer["message"])


@case("an entrypoint that ends at once ends the create with its exit code")
def _():
    with operator():
        status, answer, _seconds = create(entrypoint=["sh", "-c", "exit 3"])
    equal(status, 500, "status")
    failure(answer, "exit code=3")


@case("an entrypoint that is not there is told by its exit code, not taken for a missing launcher")
def _():
    with operator():
        status, answer, _seconds = create(entrypoint=["/not/there"])
    equal(status, 500, "status")
    failure(answer, "ERROR", "exit code=127")


@case("a sandbox that runs out of memory says so")
def _():
    hungry = ["python3", "-c", "import time; time.sleep(1); x = bytearray(400 << 20); time.sleep(1000)"]
    with operator():
        status, answer, _seconds = create(entrypoint=hungry)
        if status == 202:
            path = "/sandboxes/" + answer["id"]
            wait_for("it has failed", SOON_S, lambda: rest.call("GET", path)[1]["status"]["state"] == "Failed")
            state = rest.call("GET", path)[1]["status"]
            rest.call("DELETE", path)
            equal(state["reason"], "OOM_KILLED")
            true("exit code=137" in state["message"], state["message"])
        else:
            failure(answer, "OOM_KILLED")


@case("a pod that restarts by itself is asked for its execd again")
def _():
    with operator(), applied(batch_sandbox("restarts", restartPolicy="Always")) as name:
        wait_for("it is ready", SOON_S * 2, lambda: condition(name, "Ready"))
        with contextlib.suppress(AssertionError):  # it ends with what it kills
            kubectl("exec", name + "-0", "--container", "sandbox", "--", "sh", "-c", "kill -TERM 1")
        wait_for("the kubelet has started it again", SOON_S * 2, lambda: get("pod", name + "-0")["status"][
            "containerStatuses"][0]["restartCount"] == 1)
        wait_for("it is ready again", SOON_S * 2, lambda: condition(name, "Ready") and
                 get("batchsandbox", name)["status"]["ready"] == 1)


@case("a crash loop says how the container ended")
def _():
    crashing = batch_sandbox("crashes", restartPolicy="Always")
    crashing["spec"]["template"]["spec"]["containers"][0]["command"] = ["sh", "-c", "exit 7"]
    with operator(), applied(crashing) as name:
        failed = wait_for("it has failed", SOON_S * 2, lambda: condition(name))
        equal(failed["reason"], "CrashLoopBackOff")
        true("last end=Error; exit code=7" in failed["message"], failed["message"])


@case("a pod that is evicted is made again, and the sandbox says that what it had is gone")
def _():
    with operator(), applied(batch_sandbox("evicted", restartPolicy="Always")) as name:
        wait_for("it is ready", SOON_S * 2, lambda: condition(name, "Ready"))
        before = get("pod", name + "-0")["metadata"]["uid"]
        kubectl("create", "--raw", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}-0/eviction", "-f", "-",
                document={"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name + "-0"}})
        wait_for("another pod is ready", SOON_S * 3, lambda: (condition(name, "Ready") or {}).get(
            "reason") == "PodReplaced")
        true(get("pod", name + "-0")["metadata"]["uid"] != before, "it is another pod")
