# SPDX-License-Identifier: Apache-2.0
"""The launcher as the first process of a container, in an image of nothing but static programs.

launcher.py EXECD LAUNCHER STATIC runs as root in a network namespace of its own, so that execd has
its port. STATIC is a program without a shell's help: it prints, sleeps or exits as its words say.
"""
import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["OSB_ROOT"], "e2e", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases  # noqa: E402
from cases import case, equal, true  # noqa: E402
from daemon import TOKEN, TOKEN_HEADER, exit_code, last, parse_events, texts, until  # noqa: E402

PORT = 44772
HOST_LIBRARIES = ("bin", "sbin", "lib", "lib64", "usr", "etc")


class Image:
    """A root folder; container() runs the launcher in it as process 1."""

    def __init__(self, execd, launcher, static):
        self.root = tempfile.mkdtemp(dir=os.environ["OSB_TEST_TMP"])
        for folder in ("proc", "tmp", "opt/opensandbox", "dev"):
            os.makedirs(os.path.join(self.root, folder))
        shutil.copy(execd, os.path.join(self.root, "opt/opensandbox/execd"))
        shutil.copy(launcher, os.path.join(self.root, "opt/opensandbox/bootstrap.sh"))
        shutil.copy(static, os.path.join(self.root, "static"))
        os.mknod(os.path.join(self.root, "dev/null"), 0o666 | 0o020000, os.makedev(1, 3))

    @contextlib.contextmanager
    def container(self, *words, env=None, with_host=False):
        mounts = f"mount -t proc proc {self.root}/proc"
        if with_host:
            for name in HOST_LIBRARIES:
                os.makedirs(os.path.join(self.root, name), exist_ok=True)
                mounts += f" && mount --rbind /{name} {self.root}/{name}"
        full_env = {"PATH": "/usr/bin:/bin:/", "EXECD_ACCESS_TOKEN": TOKEN,
                    "OSB_TEST_RUN": os.environ.get("OSB_TEST_RUN", "")}
        full_env.update(env or {})
        setup = f"{mounts} && exec env -i \"$@\""
        chroot = shutil.which("chroot")
        process = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--propagation", "private", "sh", "-c",
             setup, "sh", *(f"{key}={value}" for key, value in full_env.items()), chroot, self.root,
             "/opt/opensandbox/bootstrap.sh", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        box = Container(process)
        try:
            yield box
        finally:
            if process.poll() is None:
                process.kill()
            box.end()


class Container:
    def __init__(self, process):
        self.process = process
        self.text = None

    def end(self):
        """(status, standard output, standard error) once it has ended."""
        if self.text is None:
            self.text = self.process.communicate(timeout=30)
        return self.process.returncode, self.text[0].decode(), self.text[1].decode()

    def first(self):
        """The launcher's process, as this namespace sees it."""
        return until(lambda: _child_named(self.process.pid, "bootstrap.sh"), 10, "the launcher runs")

    def execd(self):
        return until(lambda: _child_named(self.first(), "execd"), 10, "execd runs")

    def signal(self, signo):
        os.kill(self.first(), signo)


def _child_named(pid, name):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            for child in map(int, file.read().split()):
                with open(f"/proc/{child}/comm", encoding="utf-8") as comm:
                    if comm.read().strip() == name:
                        return child
    return None


def call(method, path, body=None, token=TOKEN):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, {TOKEN_HEADER: token})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def answers_ping():
    with contextlib.suppress(OSError, http.client.HTTPException):
        return call("GET", "/ping")[0] == 200


def run(**request):
    until(answers_ping, 10, "execd answers")
    status, body = call("POST", "/command", request)
    equal(status, 200)
    return parse_events(body)


@case("in an image with one static program argv runs it and command ends in a clear error event")
def bare_image(image):
    with image.container("/static", "sleep"):
        parsed = run(argv=["/static", "print", "hello"])
        equal((texts(parsed), exit_code(parsed)), (["hello"], 0))
        error = last(run(command="echo hi"))["error"]
        true("argv" in error["evalue"] and "bash" in error["evalue"], error)
        equal(last(run(argv=["nothing"]))["type"], "error")


@case("the launcher ends with the entrypoint's status, 128 and the number for a signal")
def statuses(image):
    for words, wanted in ((("/static", "exit", "0"), 0), (("/static", "exit", "7"), 7),
                          (("static", "kill", "9"), 137), (("/static", "kill", "15"), 143)):
        with image.container(*words) as box:
            equal(box.end()[0], wanted, " ".join(words))


@case("an entrypoint that is not there is 127, one that cannot be executed 126, with a reason")
def bad_entrypoints(image):
    with open(os.path.join(image.root, "plain"), "w", encoding="ascii") as file:
        file.write("x")
    for word, wanted in (("/none", 127), ("none", 127), ("/plain", 126), ("/tmp", 126)):
        with image.container(word) as box:
            status, _, errors = box.end()
            equal(status, wanted, word)
            true(word in errors, errors)
    with image.container() as box:
        status, _, errors = box.end()
        true(status == 1 and "shell" in errors, (status, errors))


@case("signals reach the entrypoint: TERM, INT, HUP, QUIT, USR1, USR2, WINCH")
def signals(image):
    for signo in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        with image.container("/static", "sleep") as box:
            until(lambda b=box: _child_named(b.first(), "static"), 10, "the entrypoint runs")
            box.signal(signo)
            equal(box.end()[0], 128 + signo, signo.name)


@case("the token is in nobody's environment or command line, and protects execd")
def token(image):
    with image.container("/static", "environment") as box:
        _, out, _ = box.end()
        true(TOKEN not in out and "EXECD_ACCESS_TOKEN" not in out, out)
        true("EXECD_ENVS=/opt/opensandbox/.env" in out, out)
    with image.container("/static", "sleep") as box:
        until(answers_ping, 10, "execd answers")
        for pid in (box.first(), box.execd(), _child_named(box.first(), "static")):
            for name in ("environ", "cmdline"):
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    true(TOKEN.encode() not in file.read(), f"{name} of {pid}")
        equal(call("POST", "/command", {"argv": ["/static", "print", "x"]}, token="wrong")[0], 401)
        equal(texts(run(argv=["/static", "print", "x"])), ["x"])
        true(os.path.exists(os.path.join(image.root, "opt/opensandbox/.env")), "the variables file is made")


@case("execd that is killed is started again, with the token")
def restart(image):
    with image.container("/static", "sleep") as box:
        until(answers_ping, 10, "execd answers")
        for _ in range(3):
            old = box.execd()
            os.kill(old, signal.SIGKILL)
            until(lambda o=old: box.execd() != o, 10, "another execd")
            until(answers_ping, 10, "it answers")
            equal(call("POST", "/command", {}, token="wrong")[0], 401)
        equal(texts(run(argv=["/static", "print", "again"])), ["again"])
        box.signal(signal.SIGTERM)
        status, _, errors = box.end()
        equal(status, 143)
        true("execd ended by signal 9" in errors, errors)


@case("orphans are reaped: no zombie stays below the launcher")
def orphans(image):
    with image.container("/static", "orphans", "50") as box:
        first = box.first()
        until(lambda: _child_named(first, "static"), 10, "the entrypoint runs")
        until(answers_ping, 10, "execd answers")

        def count():
            with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
                return len(file.read().split())
        until(lambda: count() == 2, 10, "only execd and the entrypoint are left")


@case("with a shell: command strings, -c, BOOTSTRAP_CMD, a script that is sourced first, a clean signal mask")
def shells(image):
    for words, env, wanted in ((("-c", "echo one;", "echo two"), {}, "one\ntwo\n"),
                               (("/static", "exit", "9"), {"BOOTSTRAP_CMD": "echo three"}, "three\n"),
                               (("sh", "-c", "echo $0 $1", "a", "b c"), {}, "a b c\n")):
        with image.container(*words, env=env, with_host=True) as box:
            equal(box.end()[:2], (0, wanted), words)
    with open(os.path.join(image.root, "tmp/pre"), "w", encoding="ascii") as file:
        file.write("export FROM_SCRIPT='it is'\n")
    with image.container("sh", "-c", "echo $FROM_SCRIPT; sleep 600", with_host=True,
                         env={"EXECD_BOOTSTRAP_PRE_SCRIPT": "/tmp/pre"}):
        equal(texts(run(command="echo $FROM_SCRIPT; echo $EXECD_ACCESS_TOKEN$OPENSANDBOX_LAUNCHER_FD")), ["it is", "\n"])
        equal(call("POST", "/command", {}, token="wrong")[0], 401)
    with image.container("sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status", with_host=True) as box:
        equal({int(line.split()[1], 16) for line in box.end()[1].splitlines()}, {0})


if __name__ == "__main__":
    sys.exit(1 if cases.run(Image(*sys.argv[1:4])) else 0)
