# SPDX-License-Identifier: Apache-2.0
"""What a cluster's own rules allow."""
import json

from cases import case, equal
from world import apply, batchsandbox, container, must, pods, read, ready, request

RESTRICTED = "restricted-sandboxes"


@case("a namespace that enforces the restricted level takes sandboxes with execd")
def _():
    must("create", "namespace", RESTRICTED)
    must("label", "namespace", RESTRICTED, "pod-security.kubernetes.io/enforce=restricted")
    pod = {"securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
           "containers": [container(securityContext={"allowPrivilegeEscalation": False,
                                                     "capabilities": {"drop": ["ALL"]}})]}
    apply(batchsandbox("tight", pod=pod, template_annotations={"opensandbox.io/inject": "execd"}), namespace=RESTRICTED)
    ready("tight", namespace=RESTRICTED)
    annotations = read("bsbx", "tight", RESTRICTED)["metadata"]["annotations"]
    address = json.loads(annotations["sandbox.opensandbox.io/endpoints"])[0]
    equal(request(address, 44772, "GET", "/ping")[0], 200, "ping")
    equal(len(pods("tight", RESTRICTED)), 1, "pods")
    must("delete", "namespace", RESTRICTED, "--timeout=60s")
