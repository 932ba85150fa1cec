# SPDX-License-Identifier: Apache-2.0
"""The state of a test cluster: its folder, its addresses, its processes."""
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time

DEFAULT = os.path.join(os.environ.get("TMPDIR", "/tmp"), "opensandbox-cluster")
HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What the cluster covers with file systems of its own cannot hold its state.
COVERED = ("/run", "/var/run", "/var/lib", "/var/log")
# A UNIX socket's path has 108 bytes, and the longest name below the state needs this much of them.
MAX_STATE_PATH = 60
POLL_S = 0.05
END_S = 20
MAX_COMMAND_S = 120


class Failure(Exception):
    """Something that the user is told in one line."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(*command, **options):
    """Runs a program; its output comes back, its failure is one of ours."""
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=MAX_COMMAND_S,
                            **options)
    if result.returncode != 0:
        why = (result.stderr.strip() or result.stdout.strip() or "no output").splitlines()[-1]
        raise Failure(f"{' '.join(command[:6])}: {why}")
    return result.stdout


def wait_for(what, seconds, holds, *arguments):
    """Asks again and again until HOLDS gives something true, which comes back."""
    end = time.monotonic() + seconds
    while True:
        try:
            answer, why = holds(*arguments), ""
        except (Failure, OSError) as error:
            answer, why = None, f": {error}"
        if answer:
            return answer
        if time.monotonic() >= end:
            raise Failure(f"{what}: not within {seconds} s{why}")
        time.sleep(POLL_S)


def start_time(pid):
    """Distinguishes a process from a later one with the same id; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


class State:
    """One cluster. What is known of it is in FOLDER/cluster.json."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        if any(self.folder == top or self.folder.startswith(top + "/") for top in COVERED):
            raise Failure(f"the state cannot be in {self.folder}: the cluster has {', '.join(COVERED)} of its own")
        if len(self.folder) > MAX_STATE_PATH:
            raise Failure(f"{self.folder} is too long for the sockets in it: {MAX_STATE_PATH} bytes at most")
        self.facts = {}
        if os.path.exists(self.path("cluster.json")):
            with open(self.path("cluster.json"), encoding="utf-8") as file:
                self.facts = json.load(file)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o600):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, mode)) as file:
            file.write(text)
        os.replace(path + ".new", path)
        return path

    def save(self):
        self.write("cluster.json", json.dumps(self.facts, indent=1))

    def create(self):
        """Takes addresses that nobody here uses."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        used = {int(route["dst"].split(".")[1]) for route in json.loads(run("ip", "-j", "route"))
                if route["dst"].startswith("10.")}
        second = next(n for n in range(100, 250) if n not in used)
        net = f"10.{second}"
        self.facts = {
            "id": secrets.token_hex(3), "net": net, "network": f"{net}.0.0/16",
            "host": f"{net}.255.1", "address": f"{net}.255.2", "pods": f"{net}.0.0/20",
            "gateway": f"{net}.0.1", "services": f"{net}.128.0/20", "kubernetes": f"{net}.128.1",
            "dns": f"{net}.128.10", "node": "node", "registry": "127.0.0.1:5000",
            "processes": {},
        }
        self.facts["cgroup"] = f"/osb-cluster-{self.facts['id']}"
        self.save()

    # ---- processes ----

    def remember(self, name, pid):
        self.facts["processes"][name] = [pid, start_time(pid)]
        self.save()

    def pid(self, name):
        """The process id of NAME while it runs, else None."""
        pid, start = self.facts.get("processes", {}).get(name, (None, None))
        return pid if pid and start and start_time(pid) == start else None

    def inside(self, *command):
        """COMMAND in the cluster's namespaces."""
        holder = self.pid("holder")
        if not holder:
            raise Failure("the cluster does not run")
        return ["nsenter", "--target", str(holder), "--mount", "--net", "--", *command]

    def start(self, name, *command, environment=None):
        """Starts a daemon inside; its output goes to logs/NAME.log."""
        os.makedirs(self.path("logs"), exist_ok=True)
        with open(self.path("logs", f"{name}.log"), "ab") as log:
            # nsenter becomes the daemon, so that this is the daemon's id.
            process = subprocess.Popen(self.inside(*command), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True, cwd="/", env={**os.environ, **(environment or {})})
        self.facts.setdefault("commands", {})[name] = [list(command), environment or {}]
        self.remember(name, process.pid)
        return process

    def restart(self, name):
        """Starts a daemon again that has ended, as it was started before."""
        command, environment = self.facts["commands"][name]
        return self.start(name, *command, environment=environment)

    def stop(self, name, signal_number=signal.SIGTERM, within=END_S):
        pid = self.pid(name)
        if not pid:
            return
        os.kill(pid, signal_number)
        try:
            wait_for(f"the end of {name}", within, lambda: not self.pid(name))
        except Failure:
            os.kill(pid, signal.SIGKILL)
            wait_for(f"the end of {name}", within, lambda: not self.pid(name))

    def cgroups(self):
        """The cluster's cgroups in every hierarchy, children first."""
        for hierarchy in ["", *sorted(os.listdir("/sys/fs/cgroup"))]:
            top = os.path.join("/sys/fs/cgroup", hierarchy) + self.facts["cgroup"]
            for folder, _names, _files in os.walk(top, topdown=False):
                yield folder

    def members(self):
        """Everybody in the cluster but its holder: by mount namespace, and by cgroup (containers)."""
        pids = set()
        holder = self.pid("holder")
        own = os.readlink(f"/proc/{holder}/ns/mnt") if holder else None
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if own and int(pid) != holder and os.readlink(f"/proc/{pid}/ns/mnt") == own:
                    pids.add(int(pid))
            except OSError:
                continue
        for folder in self.cgroups():
            try:
                with open(os.path.join(folder, "cgroup.procs"), encoding="utf-8") as file:
                    pids.update(map(int, file.read().split()))
            except OSError:
                continue
        return {pid for pid in pids if start_time(pid)}

    def end_members(self):
        def is_empty():
            left = self.members()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return not left
        wait_for("the end of all processes", END_S, is_empty)

    def remove(self):
        shutil.rmtree(self.folder)


def main(function, description, arguments=()):
    """The frame of each command: options, one line for a failure."""
    import argparse
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", default=DEFAULT, metavar="DIR", help="the cluster's folder; default: %(default)s")
    for name, options in arguments:
        parser.add_argument(name, **options)
    options = parser.parse_args()
    try:
        return function(State(options.state), options)
    except (Failure, subprocess.TimeoutExpired) as error:
        say(f"{os.path.basename(sys.argv[0])}: {error}")
        return 1
