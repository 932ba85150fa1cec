# SPDX-License-Identifier: Apache-2.0
"""A node that is not heard of any more: its kubelet stands still."""
import contextlib
import http.client
import json
import os
import re
import signal
import urllib.request

from cases import case, true
from world import NODE, SOON_S, applied, batch_sandbox, condition, get, operator, run, wait_for

HEARD_OF_S = 120  # until the node's controller gives a node up


@contextlib.contextmanager
def stopped_kubelet():
    with open(os.path.join(os.environ["OSB_CLUSTER_STATE"], "cluster.json"), encoding="utf-8") as file:
        pid = json.load(file)["processes"]["kubelet"][0]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def questions():
    """How often the operator has asked an execd."""
    with urllib.request.urlopen(os.environ["OSB_OPERATOR_METRICS"], timeout=SOON_S) as answer:
        return int(re.search(r"^opensandbox_execd_pings_total (\d+)$", answer.read().decode(), re.M).group(1))


def is_called_ready(name):
    return any(each["type"] == "Ready" and each["status"] == "True"
               for each in get("pod", name)["status"]["conditions"])


@case("a pod whose node is lost is asked for its execd again, and believed while it answers", 240)
def _():
    with operator(), applied(batch_sandbox("lost", restartPolicy="Always")) as name:
        wait_for("it is ready", SOON_S * 2, lambda: condition(name, "Ready"))
        wait_for("the kubelet says so, too", SOON_S, lambda: is_called_ready(name + "-0"))
        before = questions()
        with stopped_kubelet():
            wait_for("the pod is no longer called ready", HEARD_OF_S, lambda: not is_called_ready(name + "-0"))
            wait_for("execd is asked again", SOON_S, lambda: questions() > before)
            true(condition(name, "Ready"), "it answers, so it is ready")
        wait_for("the kubelet is heard of", HEARD_OF_S, lambda: is_called_ready(name + "-0"))


@case("a pod that went down with its node is named, and is ready again when it runs again", 240)
def _():
    with operator(), applied(batch_sandbox("silent", restartPolicy="Always")) as name:
        wait_for("it is ready", SOON_S * 2, lambda: condition(name, "Ready"))
        wait_for("the kubelet says so, too", SOON_S, lambda: is_called_ready(name + "-0"))
        with stopped_kubelet():
            # execd is killed first thing when the entrypoint has ended, so the answer may not come whole.
            with contextlib.suppress(http.client.HTTPException, ConnectionError):
                run(name, "kill -TERM 1")
            silent = wait_for("its silence is told", HEARD_OF_S, lambda: next(
                (each for each in [condition(name, "Progressing")] if each and each["reason"] == "ExecdSilent"), None))
            true(f"{name}-0 on node {NODE}" in silent["message"], silent["message"])
        wait_for("it is ready again", HEARD_OF_S, lambda: condition(name, "Ready"))
        true(get("pod", name + "-0")["status"]["containerStatuses"][0]["restartCount"] >= 1, "it was restarted")
