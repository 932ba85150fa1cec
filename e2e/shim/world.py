# SPDX-License-Identifier: Apache-2.0
"""A containerd, a shim before it, and crictl to speak to either: what the cases of the shim run in.

The suite (e2e/suites/*-shim) has started the containerd in namespaces of its own and says in the environment where
they are. crictl runs in there, since the runtime's streaming server listens on that loopback.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request

TMP = os.environ["OSB_TEST_TMP"]
LOGS = os.environ["OSB_TEST_LOGS"]
SOCKET = os.environ["CONTAINERD_SOCKET"]
CONFIG = os.environ["CONTAINERD_CONFIG"]
HOLDER = os.environ["CONTAINERD_HOLDER"]
CGROUP = os.environ["CONTAINERD_CGROUP"]
REGISTRY = os.environ["CONTAINERD_REGISTRY"]
CRICTL = os.environ["OSB_CRICTL"]
SHIM = os.environ["OSB_SHIM"]
EXECD = os.environ["OSB_EXECD"]  # a folder with execd and bootstrap.sh: static ones
WAIT_S = 20
CRICTL_LIMIT_S = 60
BASE = f"{REGISTRY}/base:1"
STATIC = f"{REGISTRY}/static:1"


def wait_for(what, condition, limit_s=WAIT_S):
    """Asks again and again; the first answer that is true."""
    end = time.monotonic() + limit_s
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {limit_s} s")
        time.sleep(0.02)


def inside(*command):
    return ["nsenter", "--target", HOLDER, "--mount", "--net", "--", *command]


class Answer:
    """What a crictl said."""

    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def text(self):
        return self.out.strip()

    def must(self):
        if self.status != 0:
            raise AssertionError(f"crictl ended with {self.status}: {self.err.strip()[-300:]}")
        return self


def crictl(socket, *arguments, stdin=None):
    # Its time-out would be given to the runtime as a deadline; a bound of ours ends it as well.
    done = subprocess.run(inside(CRICTL, "--config", "/dev/null", "--timeout", "30s", "--runtime-endpoint",
                                 f"unix://{socket}", "--image-endpoint", f"unix://{socket}", *arguments),
                          input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True,
                          text=True, timeout=CRICTL_LIMIT_S, check=False)
    return Answer(done)


class Shim:
    """One opensandbox-shim."""

    def __init__(self, name="shim", files="files", execd=EXECD, backend=SOCKET, options=()):
        self.name, self.backend, self.options = name, backend, options
        self.socket = f"{TMP}/{name}.sock"
        self.files = f"{TMP}/{files}"
        self.execd = execd
        self.log_path = f"{LOGS}/shim-suite-{name}.log"
        self.process = None
        self.health = None

    def start(self, wait=True, options=()):
        log = open(self.log_path, "ab")
        begin = log.tell()
        execd = ("--execd", f"{self.execd}/execd", "--bootstrap", f"{self.execd}/bootstrap.sh") if self.execd else ()
        self.process = subprocess.Popen(
            [SHIM, "--listen", f"unix://{self.socket}", "--backend", f"unix://{self.backend}", "--files", self.files,
             "--health", "127.0.0.1:0", "--slow-call-ms", "500", *execd, *self.options, *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        if wait:
            self.health = wait_for("the shim serves", lambda: self.started(begin))
        return self

    def lines(self, begin=0):
        with open(self.log_path, encoding="utf-8") as log:
            log.seek(begin)
            return [json.loads(line) for line in log if line.startswith("{") and line.endswith("\n")]

    def started(self, begin):
        if self.process.poll() is not None:
            raise AssertionError(f"the shim ended with {self.process.returncode}: {self.lines(begin)[-1:]}")
        for line in self.lines(begin):
            if line["msg"] == "started":
                return line["port"]
        return None

    def crictl(self, *arguments, stdin=None):
        return crictl(self.socket, *arguments, stdin=stdin)

    def get(self, path):
        """(status, text) of the health port."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health}{path}", timeout=WAIT_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, series):
        """The value of a series, 0 where it is not there yet."""
        found = re.search(rf"^{re.escape(series)} (\S+)$", self.get("/metrics")[1], re.M)
        return float(found[1]) if found else 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it by SIGTERM; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()


# ---- pods ----

MARK = {"opensandbox.io/inject": "execd", "opensandbox.io/inject-version": "1",
        "opensandbox.io/inject-container": "sandbox"}


def pod_file(name, annotations=None, attempt=0):
    return _write(f"pod-{name}", {
        "metadata": {"name": name, "uid": f"uid-{name}", "namespace": "default", "attempt": attempt},
        "hostname": name, "log_directory": f"{TMP}/pod-logs/{name}", "annotations": annotations or {},
        "labels": {"suite": "shim"}, "linux": {"cgroup_parent": CGROUP}})


def container_file(name, command, image=BASE, mounts=(), key="", attempt=0):
    return _write(f"container-{key}{name}", {
        "metadata": {"name": name, "attempt": attempt}, "image": {"image": image}, "command": list(command),
        "envs": [{"key": "EXECD_ACCESS_TOKEN", "value": "token"}], "mounts": list(mounts), "log_path": f"{name}.log",
        "linux": {}})


def _write(name, content):
    path = f"{TMP}/{name}.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return path


class Pod:
    """A pod of one container, made through SHIM."""

    def __init__(self, shim, name, command, container="sandbox", annotations=None, image=BASE, mounts=()):
        self.shim = shim
        self.config = pod_file(name, annotations)
        self.container_config = container_file(container, command, image, mounts, key=f"{name}-")
        self.sandbox = shim.crictl("runp", self.config).must().text
        self.container = None

    def create(self):
        answer = self.shim.crictl("create", self.sandbox, self.container_config, self.config)
        if answer.status == 0:
            self.container = answer.text
        return answer

    def start(self):
        self.create().must()
        self.shim.crictl("start", self.container).must()
        return self

    def inspect(self):
        return json.loads(self.shim.crictl("inspect", "-o", "json", self.container).must().out)["status"]

    def address(self):
        status = json.loads(self.shim.crictl("inspectp", "-o", "json", self.sandbox).must().out)["status"]
        return status["network"]["ip"]

    def run(self, script):
        return self.shim.crictl("exec", "--sync", self.container, "sh", "-c", script)

    def remove(self):
        self.shim.crictl("rmp", "-f", self.sandbox).must()


def ping(address):
    """The status line of execd's /ping, or None."""
    done = subprocess.run(inside("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "5",
                                 f"http://{address}:44772/ping"), capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


# ---- the runtime ----

def containerd_pid():
    """The daemon in our namespaces; its shims have other names."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[:3] == [b"containerd", b"--config", CONFIG.encode()]:
            return int(path.split("/")[2])
    return None


def containerd_kill():
    pid = containerd_pid()
    os.kill(pid, signal.SIGKILL)
    wait_for("containerd is gone", lambda: _is_over(pid))


def _is_over(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def containerd_start():
    """It ends with the namespaces (containerd_down)."""
    with open(f"{LOGS}/containerd-shim-again.log", "ab") as log:
        subprocess.Popen(inside("containerd", "--config", CONFIG, "--log-level", "warn"), stdin=subprocess.DEVNULL,
                         stdout=log, stderr=log)
    wait_for("containerd serves", lambda: crictl(SOCKET, "version").status == 0)


def other_execd(name):
    """A folder with an execd that differs by one byte behind its end."""
    folder = f"{TMP}/{name}"
    os.makedirs(folder)
    for file in ("execd", "bootstrap.sh"):
        shutil.copy(f"{EXECD}/{file}", folder)
    with open(f"{folder}/execd", "ab") as file:
        file.write(b"\0")
    return folder
