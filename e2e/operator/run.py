# SPDX-License-Identifier: Apache-2.0
"""Cases of the operator on the embedded API server. Optional argument: the seed of the churn."""
import os
import random
import signal
import sys
import time
import traceback

from world import CORE, SANDBOXES, World, wait_for


def a_marked_sandbox_is_ready_when_its_execd_answers(w):
    w.node.starts_execd = False
    w.create("a", 2)
    wait_for("both pods have an address", lambda: all(w.endpoints("a") or [""]))
    addresses = w.endpoints("a")
    assert len(addresses) == 2, addresses
    assert w.phase("a") == "Pending", w.status("a")
    secret = w.api.get(CORE + "secrets/a-tokens")
    pods = w.pods_of("a")
    assert sorted(secret["data"]) == ["egress", "execd", "gateway"], sorted(secret["data"])
    older = int(secret["metadata"]["resourceVersion"])
    assert all(int(p["metadata"]["resourceVersion"]) > older for p in pods)
    w.node.start_execd(addresses[0])
    wait_for("one is ready", lambda: w.status("a").get("ready") == 1)
    assert w.phase("a") == "Pending"
    w.node.starts_execd = True
    w.node.start_execd(addresses[1])
    start = time.monotonic()
    wait_for("both are ready", lambda: w.phase("a") == "Succeed")
    assert time.monotonic() - start < 3, "asked too seldom"
    assert w.condition("a", "Ready")["reason"] == "PodsReady"
    assert set(w.node.servers[addresses[0]].paths) == {"/ping"}


def events_carry_the_request_id(w):
    def events():
        return [e for e in w.api.list("events") if e["involvedObject"]["name"] == "a"]
    wait_for("events", lambda: {"SuccessfulCreate", "PodsReady"} <= {e["reason"] for e in events()})
    for event in events():
        assert event["metadata"]["annotations"]["opensandbox.io/request-id"] == "req-a", event


def replicas_go_up_and_down(w):
    w.api.merge(f"{SANDBOXES}/a", {"spec": {"replicas": 5}})
    wait_for("five", lambda: w.status("a").get("ready") == 5 and w.phase("a") == "Succeed")
    w.api.merge(f"{SANDBOXES}/a", {"spec": {"replicas": 1}})
    wait_for("one", lambda: [p["metadata"]["name"] for p in w.pods_of("a")] == ["a-0"])
    wait_for("status", lambda: w.status("a").get("replicas") == 1 and len(w.endpoints("a")) == 1)


def an_end_is_shown_with_its_exit_code_and_the_address_withdrawn(w):
    w.create("b")
    wait_for("ready", lambda: w.phase("b") == "Succeed")
    w.api.merge(CORE + "pods/b-0/status", {"status": {"phase": "Failed", "containerStatuses": [
        {"name": "sandbox", "image": "x", "imageID": "", "ready": False, "restartCount": 0,
         "state": {"terminated": {"exitCode": 3, "reason": "Error"}}}]}})
    wait_for("failed", lambda: w.phase("b") == "Failed")
    condition = w.condition("b", "PodFailed")
    assert condition["reason"] == "Error" and "exit code=3" in condition["message"], condition
    assert w.endpoints("b") == [""], w.endpoints("b")
    assert len(w.pods_of("b")) == 1


def a_pod_deleted_by_hand_is_made_again_and_that_is_said(w):
    w.create("c")
    wait_for("ready", lambda: w.phase("c") == "Succeed")
    before = w.pods_of("c")[0]["metadata"]["uid"]
    w.api.call("DELETE", CORE + "pods/c-0", {"gracePeriodSeconds": 0})
    wait_for("another pod", lambda: [p for p in w.pods_of("c") if p["metadata"]["uid"] != before])
    wait_for("said", lambda: w.condition("c", "Ready").get("reason") == "PodReplaced")


def expiry_deletes_the_object_and_what_it_owns(w):
    w.create("d", expireTime=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2)))
    wait_for("ready", lambda: w.phase("d") == "Succeed")
    wait_for("gone", lambda: w.sandbox("d") is None)
    wait_for("pods gone", lambda: not w.pods_of("d"))
    wait_for("secret gone", lambda: w.api.get(CORE + "secrets/d-tokens") is None)


def what_is_not_built_is_said(w):
    w.create("e", poolRef="p")
    wait_for("said", lambda: w.condition("e", "PodFailed").get("reason") == "UnsupportedPool")
    assert not w.pods_of("e")


def the_api_server_may_restart(w):
    w.stop(w.api.process, signal.SIGKILL)
    w.api.start()
    w.create("f")
    wait_for("ready", lambda: w.phase("f") == "Succeed", 40)
    assert w.operator.poll() is None


def nothing_is_written_when_nothing_changes(w):
    w.stop(w.operator)
    w.start_operator()

    def version():
        return w.api.get(SANDBOXES)["metadata"]["resourceVersion"]
    wait_for("quiet", lambda: version() == (time.sleep(0.5), version())[1])
    before = version()
    w.stop(w.operator)
    w.start_operator()
    time.sleep(1)  # what must not happen has no condition to wait for
    assert version() == before, (before, version())


def health_and_metrics_tell_the_truth(w):
    assert w.health("/livez")[0] == 200
    assert w.health("/readyz")[0] == 200
    text = w.health("/metrics")[1]
    count = len(w.api.list("batchsandboxes"))
    assert f"opensandbox_batchsandboxes {count}\n" in text, text[:2000]
    assert w.health("/else")[0] == 404


def killed_in_mid_churn_it_comes_to_the_right_end(w, seed):
    """Objects = accepted - deleted, pods = sum of replicas, whatever moment kill -9 comes at."""
    dice = random.Random(seed)
    wanted = {}
    for round_ in range(5):
        kill_at = dice.randrange(20)
        for step in range(20):
            name = f"k{dice.randrange(12)}"
            if name in wanted and dice.random() < 0.4:
                w.api.call("DELETE", f"{SANDBOXES}/{name}", {"propagationPolicy": "Background"})
                del wanted[name]
            elif name in wanted:
                wanted[name] = dice.randrange(4)
                w.api.merge(f"{SANDBOXES}/{name}", {"spec": {"replicas": wanted[name]}})
            elif w.sandbox(name) is None:
                wanted[name] = dice.randrange(4)
                w.create(name, wanted[name])
            if step == kill_at:
                time.sleep(dice.random() * 0.05)
                w.stop(w.operator, signal.SIGKILL)
                w.start_operator()
    for name, replicas in wanted.items():
        wait_for(f"seed {seed}: {name} has {replicas}",
                 lambda n=name, r=replicas: w.status(n).get("ready") == r and w.phase(n) == "Succeed"
                 and len(w.pods_of(n)) == r, 30)
    names = {s["metadata"]["name"] for s in w.api.list("batchsandboxes")} - set("abcdef")
    assert names == set(wanted), (seed, names, wanted)

    def churned():
        return [p["metadata"]["name"] for p in w.api.list("pods") if p["metadata"]["name"][0] == "k"]
    wait_for(f"seed {seed}: {sum(wanted.values())} pods",
             lambda: len(churned()) == sum(wanted.values()))


def the_operator_ends_well(w):
    assert w.stop(w.operator) == 0


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int.from_bytes(os.urandom(4), "big")
    w = World()
    cases = [a_marked_sandbox_is_ready_when_its_execd_answers, events_carry_the_request_id,
             replicas_go_up_and_down, an_end_is_shown_with_its_exit_code_and_the_address_withdrawn,
             a_pod_deleted_by_hand_is_made_again_and_that_is_said,
             expiry_deletes_the_object_and_what_it_owns, what_is_not_built_is_said,
             the_api_server_may_restart, nothing_is_written_when_nothing_changes,
             health_and_metrics_tell_the_truth,
             lambda x: killed_in_mid_churn_it_comes_to_the_right_end(x, seed), the_operator_ends_well]
    names = [c.__name__ for c in cases]
    names[10] = "killed_in_mid_churn_it_comes_to_the_right_end"
    try:
        w.api.start()
        w.start_operator()
        w.node.thread.start()
        for name, case in zip(names, cases):
            try:
                case(w)
                print("ok " + name.replace("_", " "), flush=True)
            except Exception as e:  # a case that fails must not keep the others from being said
                traceback.print_exc()
                why = " ".join(f"{type(e).__name__}: {e} (seed {seed})".split())[:300]
                print(f"not ok {name.replace('_', ' ')} # {why}", flush=True)
    finally:
        w.close()


main()
