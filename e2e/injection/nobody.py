# SPDX-License-Identifier: Apache-2.0
"""Pods that ask their node for execd, where nobody puts it in."""
import json

from cases import case, equal, true
from world import NODE, SOON_S, applied, batch_sandbox, condition, create, failure, get, is_gone, operator, wait_for


@case("a node that injects nothing ends a create within seconds, with its name and what to do")
def _():
    with operator(injection="shim"):
        status, answer, seconds = create()
    equal(status, 500, "status")
    failure(answer, "INJECTION_UNAVAILABLE", f"node={NODE}", "run opensandbox-shim")
    true(seconds < SOON_S, f"it took {seconds:.1f} s")
    is_gone(answer)


@case("a BatchSandbox on such a node says it too, also in a crash loop")
def _():
    with operator(injection="shim"), applied(batch_sandbox("uninjected", restartPolicy="Always")) as name:
        failed = wait_for("it has failed", SOON_S, lambda: condition(name))
        equal(failed["reason"], "InjectionUnavailable")
        true(f"node={NODE}" in failed["message"], failed["message"])
        wait_for("the kubelet backs off", SOON_S * 2, lambda: "CrashLoopBackOff" in json.dumps(
            get("pod", name + "-0")["status"]))
        equal(condition(name)["reason"], "InjectionUnavailable")
        pod = get("pod", name + "-0")
        equal(pod["metadata"]["annotations"]["opensandbox.io/inject-version"], "1")
        true("initContainers" not in pod["spec"], "no init container")
