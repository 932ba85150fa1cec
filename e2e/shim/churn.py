# SPDX-License-Identifier: Apache-2.0
"""The shim is killed at random moments while pods come and go, as a kubelet makes them: what failed is looked up and
done again. No pod may be lost, and none be there twice."""
import json
import random
import re
import subprocess
import threading
import time

from cases import case, equal, true
from world import MARK, SOCKET, Shim, container_file, crictl, inside, pod_file, wait_for

KILLS = 20
KEEPERS = 3  # pods that stay from the first kill to the last
LAUNCHER = "/opt/opensandbox/bootstrap.sh"
WORKERS = 2
BETWEEN_KILLS_S = (0.05, 1.2)
AWAY_S = (0.0, 0.15)
STEP_LIMIT_S = 60
# What containerd 1.6 makes of a start whose caller is gone at a certain moment, a kubelet as much as a shim: a task
# that its CRI does not know, so that the container can be neither used nor removed until the task has ended.
FORGOTTEN_TASK = re.compile(r"cannot delete running task ([0-9a-f]{64})")


class Kubelet:
    """What a kubelet does with one pod: asks what there is, and takes the next step towards what it wants. Whatever
    is not as it should be is removed and made anew, with the next number of its attempt."""

    def __init__(self, shim, name):
        self.shim, self.name = shim, name
        self.attempt = 0

    def ask(self, *arguments):
        answer = self.shim.crictl(*arguments)
        for task in set(FORGOTTEN_TASK.findall(answer.err)):
            print(f"{self.name}: ends task {task[:13]}, which the runtime's CRI has forgotten")
            subprocess.run(inside("ctr", "--address", SOCKET, "--namespace", "k8s.io", "tasks", "kill", "--signal",
                                  "SIGKILL", task), check=False)
        return answer

    def listed(self, *arguments):
        """None where the list could not be had."""
        answer = self.ask(*arguments, "-o", "json")
        return json.loads(answer.out) if answer.status == 0 else None

    def sandboxes(self):
        answer = self.listed("pods", "--name", f"^{self.name}$")
        return answer and answer["items"]

    def containers(self, sandbox):
        answer = self.listed("ps", "-a", "--pod", sandbox)
        return answer and answer["containers"]

    def config(self):
        return pod_file(self.name, MARK, self.attempt)

    def run_sandbox(self):
        self.ask("runp", self.config())
        self.attempt += 1

    def run_container(self, sandbox):
        config = container_file("sandbox", [LAUNCHER, "sleep", "1000"], key=f"{self.name}-", attempt=self.attempt)
        made = self.ask("create", sandbox, config, self.config())
        self.attempt += 1
        if made.status == 0:
            self.ask("start", made.text)

    def step_up(self):
        """True when one container runs in one sandbox."""
        sandboxes = self.sandboxes()
        if sandboxes is None:
            return False
        for sandbox in sandboxes:
            if sandbox["state"] != "SANDBOX_READY" or sandbox is not sandboxes[0]:
                self.ask("rmp", "-f", sandbox["id"])
                return False
        if not sandboxes:
            self.run_sandbox()
            return False
        return self.step_container(sandboxes[0]["id"])

    def step_container(self, sandbox):
        containers = self.containers(sandbox)
        if containers is None:
            return False
        for container in containers:
            if container["state"] != "CONTAINER_RUNNING" or container is not containers[0]:
                self.ask("rm", "-f", container["id"])
                return False
        if not containers:
            self.run_container(sandbox)
            return False
        return True

    def step_down(self):
        sandboxes = self.sandboxes()
        for sandbox in sandboxes or []:
            self.ask("rmp", "-f", sandbox["id"])
        return sandboxes == []

    def up(self):
        wait_for(f"{self.name} runs", self.step_up, STEP_LIMIT_S)

    def down(self):
        wait_for(f"{self.name} is gone", self.step_down, STEP_LIMIT_S)


class Churn:
    """Workers that make and remove pods until they are told to end."""

    def __init__(self, shim):
        self.shim, self.is_over, self.made, self.errors = shim, False, 0, []
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(WORKERS)]
        for thread in self.threads:
            thread.start()

    def work(self, number):
        try:
            for i in range(10 ** 6):
                if self.is_over:
                    return
                pod = Kubelet(self.shim, f"churn-{number}-{i}")
                pod.up()
                pod.down()
                self.made += 1
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(error)

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        true(not self.errors, f"{self.errors[:1]}")


def pods_direct():
    return sorted(item["metadata"]["name"] for item in json.loads(crictl(SOCKET, "pods", "-o", "json").must().out)["items"])


def containers_direct():
    return json.loads(crictl(SOCKET, "ps", "-a", "-o", "json").must().out)["containers"]


def kill_at_random(shim, dice):
    """A wait of random length is the point of this test, not a wait for something."""
    time.sleep(dice.uniform(*BETWEEN_KILLS_S))
    shim.kill()
    time.sleep(dice.uniform(*AWAY_S))
    shim.start()


@case("killed at twenty random moments while pods come and go: none is lost, none doubled", limit_s=400)
def _(_shim, seed):
    shim = Shim("churn", files="churn-files").start()
    dice = random.Random(seed)
    print(f"seed {seed}: OSB_TEST_SEED={seed} repeats the kills")
    keepers = [Kubelet(shim, f"keeper-{i}") for i in range(KEEPERS)]
    churn = None
    try:
        for keeper in keepers:
            keeper.up()
        before = sorted((item["id"], item["createdAt"]) for item in containers_direct())
        churn = Churn(shim)
        for _ in range(KILLS):
            kill_at_random(shim, dice)
    finally:
        if churn:
            churn.end()
    print(f"{churn.made} pods were made and removed")
    true(churn.made > 0, "pods were made meanwhile")
    equal(pods_direct(), sorted(keeper.name for keeper in keepers), "pods that are left")
    equal(sorted((item["id"], item["createdAt"]) for item in containers_direct()), before, "their containers")
    for item in containers_direct():
        equal(item["state"], "CONTAINER_RUNNING", "state")
    for keeper in keepers:
        keeper.down()
    equal(pods_direct(), [], "pods in the end")
    equal(shim.stop(), 0, "exit status")
