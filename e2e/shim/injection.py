# SPDX-License-Identifier: Apache-2.0
"""Execd in containers that ask for it, and only in those."""
import os

from cases import case, equal, true
from world import MARK, STATIC, TMP, Pod, Shim, ping, wait_for

LAUNCHER = "/opt/opensandbox/bootstrap.sh"
FILES = ("/opt/opensandbox/execd", LAUNCHER)


def paths(pod):
    return [mount["containerPath"] for mount in pod.inspect()["mounts"]]


@case("execd answers in a marked container")
def _(shim, _seed):
    before = shim.metric('opensandbox_shim_injections_total{outcome="injected"}')
    pod = Pod(shim, "marked", [LAUNCHER, "sleep", "1000"], annotations=MARK).start()
    address = pod.address()
    wait_for("execd answers", lambda: ping(address) == "200")
    mounts = {mount["containerPath"]: mount for mount in pod.inspect()["mounts"]}
    for path in FILES:
        true(mounts[path]["readonly"], f"{path} is read-only")
        true(mounts[path]["hostPath"].startswith(shim.files + "/"), f"{path} is of the folder of files")
    equal(shim.metric('opensandbox_shim_injections_total{outcome="injected"}'), before + 1, "injections counted")
    line = [line for line in shim.lines() if line["msg"] == "execd goes into a container"][-1]
    equal((line["pod"], line["container"], line["sandbox"]), ("marked", "sandbox", pod.sandbox), "what is logged")
    pod.remove()


@case("the folder beside the files can be written, the files cannot")
def _(shim, _seed):
    pod = Pod(shim, "writes", [LAUNCHER, "sleep", "1000"], annotations=MARK).start()
    pod.run("echo A=1 >> /opt/opensandbox/.env").must()
    equal(pod.run("cat /opt/opensandbox/.env").must().text, "A=1", "what was written")
    for path in FILES:
        true(pod.run(f"echo x > {path}").status != 0, f"{path} is not written")
        true(pod.run(f"rm {path}").status != 0, f"{path} is not removed")
    pod.remove()


@case("execd answers in an image of one static program")
def _(shim, _seed):
    pod = Pod(shim, "static", [LAUNCHER, "/static"], annotations=MARK, image=STATIC).start()
    address = pod.address()
    wait_for("execd answers", lambda: ping(address) == "200")
    pod.remove()


@case("the container that the pod names gets execd, and no other")
def _(shim, _seed):
    named = dict(MARK, **{"opensandbox.io/inject-container": "main"})
    pod = Pod(shim, "named", ["sleep", "1000"], container="main", annotations=named).start()
    equal(sorted(paths(pod)), sorted(FILES), "mounts")
    pod.remove()
    pod = Pod(shim, "sidecar", ["sleep", "1000"], container="sandbox", annotations=named).start()
    equal(paths(pod), [], "mounts of the other")
    pod.remove()


@case("a pod without the mark, or without its version, is left alone")
def _(shim, _seed):
    for name, annotations in (("bare", {}), ("half", {"opensandbox.io/inject": "execd"})):
        pod = Pod(shim, name, ["sleep", "1000"], annotations=annotations).start()
        equal(paths(pod), [], f"mounts of {name}")
        pod.remove()


@case("a volume of the user's own at the folder stays, the files are bound over it")
def _(shim, _seed):
    volume = f"{TMP}/own-volume"
    os.makedirs(volume)
    pod = Pod(shim, "volume", [LAUNCHER, "sleep", "1000"], annotations=MARK,
              mounts=[{"container_path": "/opt/opensandbox", "host_path": volume}]).start()
    address = pod.address()
    wait_for("execd answers", lambda: ping(address) == "200")
    pod.run("echo B=2 > /opt/opensandbox/.env").must()
    with open(f"{volume}/.env", encoding="utf-8") as file:
        equal(file.read(), "B=2\n", "what is in the volume")
    pod.remove()


@case("a pod with the installer's volume brings its own execd")
def _(shim, _seed):
    volume = f"{TMP}/pods/x/volumes/kubernetes.io~empty-dir/opensandbox-bin"
    os.makedirs(volume)
    pod = Pod(shim, "installer", ["sleep", "1000"], annotations=MARK,
              mounts=[{"container_path": "/opt/opensandbox", "host_path": volume}]).start()
    equal(paths(pod), ["/opt/opensandbox"], "mounts")
    pod.remove()


@case("another version is refused, and the kubelet is told which there is")
def _(shim, _seed):
    pod = Pod(shim, "version", [LAUNCHER, "sleep", "1000"],
              annotations=dict(MARK, **{"opensandbox.io/inject-version": "7"}))
    answer = pod.create()
    true(answer.status != 0, "the create fails")
    for words in ("code = FailedPrecondition", "opensandbox-shim: ", "this node has 1"):
        true(words in answer.err, f"{words!r} in {answer.err.strip()!r}")
    equal(shim.metric('opensandbox_shim_injections_total{outcome="no_version"}'), 1, "refusals counted")
    pod.remove()


@case("a shim that was started without files refuses and says so")
def _(_shim, _seed):
    bare = Shim("bare", files="bare-files", execd=None).start()
    try:
        pod = Pod(bare, "nofiles", [LAUNCHER, "sleep", "1000"], annotations=MARK)
        answer = pod.create()
        true("opensandbox-shim: this node has no execd" in answer.err, answer.err.strip())
        pod.remove()
    finally:
        bare.end()
