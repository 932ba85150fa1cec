# SPDX-License-Identifier: Apache-2.0
"""The suite's engine from Python: its state, its parts, its containers, its objects."""
import glob
import json
import os
import subprocess

STATE = os.environ["OPENSANDBOX_STATE"]
BIN = os.environ["OSB_BIN"]


def status():
    result = subprocess.run([os.path.join(BIN, "opensandbox"), "status", "-o", "json"],
                            capture_output=True, text=True, check=False)
    return json.loads(result.stdout)


def part_pid(name):
    """The process id of a part that is up now, or None."""
    for part in status()["parts"]:
        if part["name"] == name:
            return part.get("pid")
    raise AssertionError(f"no part {name}")


def instance():
    with open(os.path.join(STATE, "instance.json"), encoding="utf-8") as file:
        return json.load(file)


def containers():
    """Ids of all containers and pod sandboxes that the engine's containerd knows."""
    address = os.path.join(instance()["run"], "containerd.sock")
    result = subprocess.run(["ctr", "--address", address, "--namespace", "k8s.io", "containers", "list",
                             "--quiet"], capture_output=True, text=True, check=True)
    return result.stdout.split()


def addresses():
    """Addresses that CNI's host-local plugin has given away."""
    folder = os.path.join(STATE, "cni", "data")
    return [name for _folder, _names, names in os.walk(folder) for name in names
            if name[0].isdigit() and "." in name]


def pod_folders():
    folder = os.path.join(STATE, "node", "pods")
    return os.listdir(folder) if os.path.isdir(folder) else []


def pod_cgroups():
    """Cgroups of pods, in whatever hierarchy."""
    return glob.glob(f"/sys/fs/cgroup/*{instance()['cgroup']}/pod*") + \
        glob.glob(f"/sys/fs/cgroup{instance()['cgroup']}/pod*")


def objects(kind):
    """All objects of a kind in all namespaces, by kubectl."""
    result = subprocess.run([os.environ["OSB_KUBECTL"], "get", kind, "--all-namespaces", "-o", "json"],
                            capture_output=True, text=True, check=True)
    return json.loads(result.stdout)["items"]


def left():
    """What is there of sandboxes, anywhere."""
    return {"objects": len(objects("batchsandboxes")), "pods": len(objects("pods")),
            "containers": len(containers()), "addresses": len(addresses()),
            "folders": len(pod_folders()), "cgroups": len(pod_cgroups())}
