# SPDX-License-Identifier: Apache-2.0
"""The shim and the runtime come and go; pods stay."""
import os
import stat
import subprocess
import time

from cases import case, equal, true
from world import (CRICTL, MARK, SHIM, SOCKET, TMP, Pod, Shim, containerd_kill, containerd_start, crictl, inside,
                   other_execd, wait_for)

GRACE_S = 5
CALL_S = 2


@case("the socket is for root and its group, and health says that all is well")
def _(shim, _seed):
    equal(stat.S_IMODE(os.stat(shim.socket).st_mode), 0o660, "mode")
    equal(shim.get("/healthz"), (200, "ok\n"), "/healthz")
    equal(wait_for("ready", lambda: shim.get("/readyz")[0] == 200), True, "/readyz")
    equal(shim.get("/nothing")[0], 404, "another path")
    shim.crictl("version").must()
    true(shim.metric('opensandbox_shim_calls_total{method="Version",code="OK"}') >= 1, "calls are counted")
    equal(shim.metric("opensandbox_shim_calls_in_flight"), 0, "none is left in flight")


@case("a process of another user is turned away")
def _(shim, _seed):
    # The mode alone would do; it is opened here so that the shim itself is asked.
    os.chmod(shim.socket, 0o666)
    before = shim.metric('opensandbox_shim_connections_refused_total{reason="user"}')
    script = ("import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
              f"s = socket.socket(socket.AF_UNIX); s.connect({os.path.basename(shim.socket)!r}); sys.exit(len(s.recv(1)))")
    folder = TMP
    modes = [(folder, os.stat(folder).st_mode)]
    os.chmod(folder, 0o711)
    try:
        done = subprocess.run(["/usr/bin/python3", "-c", script], cwd=folder, timeout=20, check=False, capture_output=True)
    finally:
        os.chmod(shim.socket, 0o660)
        for path, mode in modes:
            os.chmod(path, stat.S_IMODE(mode))
    equal(done.returncode, 0, f"bytes that it got {done.stderr[-200:]}")
    equal(shim.metric('opensandbox_shim_connections_refused_total{reason="user"}'), before + 1, "refusals counted")


@case("a second shim on the path is refused and the first serves on")
def _(shim, _seed):
    second = subprocess.run([SHIM, "--listen", f"unix://{shim.socket}", "--backend", f"unix://{SOCKET}", "--health",
                             "127.0.0.1:0"], capture_output=True, text=True, timeout=20, check=False)
    equal(second.returncode, 1, "exit status")
    true(f"held by another shim, process {shim.process.pid}" in second.stderr, second.stderr)
    shim.crictl("version").must()


@case("the runtime's own socket is never taken")
def _(shim, _seed):
    done = subprocess.run([SHIM, "--listen", f"unix://{SOCKET}", "--backend", f"unix://{shim.socket}", "--health",
                           "127.0.0.1:0"], capture_output=True, text=True, timeout=20, check=False)
    os.unlink(f"{SOCKET}.lock")
    equal(done.returncode, 1, "exit status")
    true("served by another process" in done.stderr, done.stderr)
    crictl(SOCKET, "version").must()


@case("wrong use is status 2 and says what is wrong")
def _(_shim, _seed):
    done = subprocess.run([SHIM, "--listen", "/x", "--backend", "unix:///y"], capture_output=True, text=True, timeout=20,
                          check=False)
    equal(done.returncode, 2, "exit status")
    true("--listen must be unix:///PATH" in done.stderr, done.stderr)


def call_of_some_seconds(shim, pod):
    """An ExecSync that has begun: its command runs."""
    call = subprocess.Popen(inside(CRICTL, "--config", "/dev/null", "--runtime-endpoint", f"unix://{shim.socket}",
                                   "exec", "--sync", pod.container, "sh", "-c",
                                   f"touch /tmp/began; sleep {CALL_S}; echo done"),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for("the call runs", lambda: crictl(SOCKET, "exec", "--sync", pod.container, "test", "-e", "/tmp/began").status == 0)
    return call


@case("on SIGTERM calls in flight end, new ones are not taken, the exit status is 0")
def _(_shim, _seed):
    shim = Shim("term", files="term-files").start()
    pod = Pod(shim, "term", ["sleep", "1000"]).start()
    call = call_of_some_seconds(shim, pod)
    equal(shim.metric("opensandbox_shim_calls_in_flight"), 1, "calls in flight")
    begin = time.monotonic()
    equal(shim.stop(), 0, "exit status")
    true(time.monotonic() - begin < GRACE_S, "no longer than the call")
    out, err = call.communicate(timeout=20)
    equal((call.returncode, out.strip()), (0, "done"), f"the call {err}")
    true(not os.path.exists(shim.socket), "the socket is removed")
    shim.start()
    equal(pod.inspect()["state"], "CONTAINER_RUNNING", "the pod")
    pod.remove()
    equal(shim.stop(), 0, "exit status when idle")


@case("killed and started again, pods run on and the next call is served")
def _(_shim, _seed):
    shim = Shim("again", files="again-files").start()
    pod = Pod(shim, "again", ["sleep", "1000"]).start()
    shim.kill()
    true(os.path.exists(shim.socket), "a killed one leaves its socket")
    true(shim.crictl("version").status != 0, "nobody serves it")
    shim.start()
    equal(pod.run("echo on").must().text, "on", "a command")
    pod.remove()
    shim.end()


@case("the runtime killed and started again: calls go again, pods run on", limit_s=120)
def _(shim, _seed):
    pod = Pod(shim, "restart", ["sleep", "1000"]).start()
    pid = pod.run("cat /proc/1/stat").must().text
    containerd_kill()
    answer = shim.crictl("ps")
    true(answer.status != 0 and "Unavailable" in answer.err, f"while it is away: {answer.err}")
    equal(wait_for("not ready", lambda: shim.get("/readyz")[0] == 503), True, "/readyz")
    containerd_start()
    begin = time.monotonic()
    wait_for("calls go again", lambda: shim.crictl("version").status == 0)
    print(f"calls went again {time.monotonic() - begin:.2f} s after the runtime")
    equal(pod.run("cat /proc/1/stat").must().text.split()[:2], pid.split()[:2], "the container's first process")
    equal(wait_for("ready", lambda: shim.get("/readyz")[0] == 200), True, "/readyz")
    pod.remove()


@case("files of an earlier version stay while a container uses them, and go afterwards")
def _(_shim, _seed):
    shim = Shim("versions", files="version-files", options=("--old-files-s", "0")).start()
    first = Pod(shim, "version-1", ["/opt/opensandbox/bootstrap.sh", "sleep", "1000"], annotations=MARK).start()
    old = first.inspect()["mounts"][0]["hostPath"].split("/")[-2]
    equal(shim.stop(), 0, "exit status")
    shim.execd = other_execd("other-execd")
    shim.start()
    second = Pod(shim, "version-2", ["/opt/opensandbox/bootstrap.sh", "sleep", "1000"], annotations=MARK).start()
    new = second.inspect()["mounts"][0]["hostPath"].split("/")[-2]
    true(new != old, "the versions differ")
    equal(shim.stop(), 0, "exit status")
    shim.start()
    wait_for("the list is asked for", lambda: first.run("test -x /opt/opensandbox/execd").status == 0)
    equal(versions(shim), sorted([old, new]), "versions while both are used")
    first.remove()
    equal(shim.stop(), 0, "exit status")
    shim.start()
    wait_for("the old one goes", lambda: versions(shim) == [new])
    second.remove()
    equal(shim.stop(), 0, "exit status")


def versions(shim):
    return sorted(name for name in os.listdir(shim.files) if name != "lock")
