# SPDX-License-Identifier: Apache-2.0
"""A real API server with etcd, and the operator as a process of this machine; no node, no other controller.

What makes sandboxes and plays the kubelet is the program `scale` (main.c)."""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "e2e/cluster/lib"))

import parts  # noqa: E402  the path comes first
import pki  # noqa: E402
from state import State, run, wait_for  # noqa: E402

WAIT_S = 60
BATCHSANDBOXES = "/apis/sandbox.opensandbox.io/v1alpha1/namespaces/{}/batchsandboxes"
REQUEST = re.compile(r'^opensandbox_kube_request_seconds_count\{method="(\w+)",resource="(\w+)"\} (\d+)', re.M)
EVENTS = re.compile(r'^apiserver_request_total\{.*resource="events".*verb="(POST|PATCH)".*\} (\d+)', re.M)
Times = collections.namedtuple("Times", "created pod_seen ready_written ready_seen late")


class Gone(Exception):
    """The program of a step failed; its last line says why."""


class World:
    def __init__(self, folder, programs, build, log):
        """PROGRAMS is the folder of e2e/cluster/build, BUILD is build/<preset>; the operator writes to LOG."""
        self.build = build
        self.log = log
        self.operator = None
        self.state = State(folder)
        self.state.create()
        try:
            self._start(programs)
        except BaseException:
            self.end()
            raise

    def _start(self, programs):
        pki.make(self.state)
        parts.hold(self.state)
        parts.etcd(self.state, programs)
        parts.apiserver(self.state, programs)
        self.kubectl("apply", "-f", os.path.join(ROOT, "apis/crds"))
        wait_for("the kinds", WAIT_S, self.kubectl, "get", "--raw", BATCHSANDBOXES.format("default"))

    def kubectl(self, *arguments):
        return parts.kubectl(self.state, *arguments)

    def namespace(self, name):
        """Pods need the service account that the controller manager would make."""
        self.kubectl("create", "namespace", name)
        self.kubectl("--namespace", name, "create", "serviceaccount", "default")
        return name

    def end(self):
        try:
            if self.operator:
                self.operator.send_signal(signal.SIGTERM)
                self.operator.wait(WAIT_S)
        finally:
            run(os.path.join(ROOT, "e2e/cluster/down"), "--state", self.state.folder)

    # ---- the program ----

    def scale(self, verb, namespace, **options):
        command = [os.path.join(self.build, "bench/scale/scale"), verb, "--namespace", namespace,
                   "--kubeconfig", self.state.path("admin.kubeconfig")]
        for name, value in options.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        sys.stderr.write(result.stderr)
        if result.returncode != 0:
            raise Gone(f"scale {verb}: status {result.returncode}, {' '.join(result.stderr.split())[-300:]}")
        return result.stdout

    def times(self, namespace, **options):
        """Makes sandboxes; what was seen of each, in milliseconds since the start."""
        lines = self.scale("run", namespace, **options).splitlines()
        return [Times(*(int(field) / 1000 for field in line.split())) for line in lines]

    # ---- the operator ----

    def start_operator(self, namespace):
        self.state.write("operator.toml", '[server]\nhost = "127.0.0.1"\nport = 0\n[health]\nhost = "127.0.0.1"\n'
                         f'port = 0\n[kubernetes]\nnamespace = "{namespace}"\nexecd_injection = "shim"\n')
        with open(self.log, "wb") as log:
            self.operator = subprocess.Popen(
                [os.path.join(self.build, "bin/opensandbox-operator"), "--config", self.state.path("operator.toml"),
                 "--kubeconfig", self.state.path("admin.kubeconfig")], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={**os.environ, "OPENSANDBOX_SERVER_API_KEY": "scale"})
        wait_for("the operator", WAIT_S, lambda: self.said("caches filled"))
        self.metrics_at = f"http://127.0.0.1:{self.said('started')[0]['port']}/metrics"

    def said(self, message):
        """The operator's log lines of this message."""
        with open(self.log, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.startswith("{") and line.endswith("\n")]
        return [line for line in lines if line["msg"] == message]

    def errors(self):
        """Lines of the operator's log that say an error, or are none of its own."""
        with open(self.log, encoding="utf-8") as file:
            return [line for line in file if not line.startswith("{") or '"level":"error"' in line]

    def requests(self):
        """How often the operator has asked for what: (method, resource) to count. Lists and watches are apart,
        and its events, which nobody else tells here, are counted by the API server."""
        with urllib.request.urlopen(self.metrics_at, timeout=WAIT_S) as answer:
            text = answer.read().decode()
        counts = collections.Counter({(method, resource): int(n) for method, resource, n in REQUEST.findall(text)})
        for method, n in EVENTS.findall(self.kubectl("get", "--raw", "/metrics")):
            counts[method, "events"] += int(n)
        return counts

    def memory_kb(self):
        """Resident now, its peak, and the proportional share now."""
        def fields(name):
            with open(f"/proc/{self.operator.pid}/{name}", encoding="utf-8") as file:
                return dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M))
        status = fields("status")
        return int(status["VmRSS"]), int(status["VmHWM"]), int(fields("smaps_rollup")["Pss"])

    def cpu_s(self, pid=None):
        with open(f"/proc/{pid or self.operator.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
