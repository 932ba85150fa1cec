// SPDX-License-Identifier: Apache-2.0
/* What statuses of pods mean, as a table of pods in JSON. */
#include <osb/kube_store.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// cmocka needs the ones above first
#include <cmocka.h>

#include "pod_verdict.h"

#define POD(policy, annotations, status)                                                           \
    "{\"metadata\":{\"name\":\"a-0\",\"namespace\":\"n\",\"annotations\":{" annotations "}},"      \
    "\"spec\":{\"restartPolicy\":\"" policy "\"},\"status\":{" status "}}"
#define MARK    "\"opensandbox.io/inject\":\"execd\""
#define ADDRESS "\"podIP\":\"10.0.0.1\","
#define READY   "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
#define MAIN(state)                                                                                \
    "\"containerStatuses\":[{\"name\":\"sandbox\",\"restartCount\":0,\"state\":{" state "}}]"
#define WAITING(reason, message)                                                                   \
    "\"phase\":\"Pending\"," MAIN("\"waiting\":{\"reason\":\"" reason "\",\"message\":\"" message  \
                                  "\"}")
#define ENDED(phase, code, reason)                                                                 \
    "\"phase\":\"" phase                                                                           \
    "\"," ADDRESS MAIN("\"terminated\":{\"exitCode\":" code ",\"reason\":\"" reason "\"}")
#define SELECTOR(labels, message)                                                                  \
    "{\"metadata\":{\"name\":\"a-0\",\"namespace\":\"n\"},\"spec\":{\"nodeSelector\":{" labels     \
    "}},"                                                                                          \
    "\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"     \
    "\"False\",\"reason\":\"Unschedulable\",\"message\":\"" message "\"}]}}"
/* Words of kubelet 1.34 with containerd and runc. */
#define NO_LAUNCHER                                                                                \
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "    \
    "runc create failed: unable to start container process: exec: "                                \
    "\\\"/opt/opensandbox/bootstrap.sh\\\": stat /opt/opensandbox/bootstrap.sh: no such file or "  \
    "directory: unknown"
#define STATUS(name, state) "{\"name\":\"" name "\",\"restartCount\":0,\"state\":{" state "}}"
#define TERMINATED(code, reason, message)                                                          \
    "\"terminated\":{\"exitCode\":" code ",\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define IDLE(reason, message) "\"waiting\":{\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define INSTALLER(state)      "\"initContainerStatuses\":[" STATUS("execd-installer", state) "],"
#define RUNNING               "\"phase\":\"Running\"," MAIN("\"running\":{}")

static const struct {
    const char *name;
    const char *pod;
    struct observation observed;
    enum pod_class class_;
    const char *reason;
    int exit_code; /* -1: none */
    bool is_replaced;
    const char *advice; /* a word of it; NULL: there is none */
} cases[] = {
    {"nothing yet", POD("Never", "", ""), {0}, POD_STARTING, NULL, -1, false},
    {"running, not ready", POD("Never", "", ADDRESS RUNNING), {0}, POD_STARTING, NULL, -1, false},
    {"ready", POD("Never", "", ADDRESS READY RUNNING), {0}, POD_READY, NULL, -1, false},
    {"ready by the kubelet, execd silent",
     POD("Never", MARK, ADDRESS READY RUNNING),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"execd answered before the kubelet knew",
     POD("Never", MARK, ADDRESS "\"phase\":\"Pending\""),
     {.has_answered = true},
     POD_READY,
     NULL,
     -1,
     false},
    {"answered, without an address",
     POD("Never", MARK, RUNNING),
     {.has_answered = true},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"one failed pull",
     POD("Never", "", WAITING("ErrImagePull", "connection reset")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"an image that is not there",
     POD("Never", "", WAITING("ErrImagePull", "x: not found")),
     {0},
     POD_FAILING,
     "ErrImagePull",
     -1,
     false},
    {"no right to the image",
     POD("Never", "", WAITING("ImagePullBackOff", "401 Unauthorized")),
     {0},
     POD_FAILING,
     "ImagePullBackOff",
     -1,
     false},
    {"another architecture",
     POD("Never", "", WAITING("ErrImagePull", "no match for platform in manifest")),
     {0},
     POD_FAILING,
     "ErrImagePull",
     -1,
     false},
    {"put off once",
     POD("Never", "", WAITING("ImagePullBackOff", "later")),
     {.pull_backoffs = 1},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"put off twice",
     POD("Never", "", WAITING("ImagePullBackOff", "later")),
     {.pull_backoffs = 2},
     POD_FAILING,
     "ImagePullBackOff",
     -1,
     false},
    {"a wrong configuration",
     POD("Never", "", WAITING("CreateContainerConfigError", "secret not there")),
     {0},
     POD_FAILING,
     "CreateContainerConfigError",
     -1,
     false},
    {"creating",
     POD("Never", "", WAITING("ContainerCreating", "")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"ended well",
     POD("Never", "", ENDED("Succeeded", "0", "Completed")),
     {0},
     POD_ENDED,
     "Completed",
     0,
     false},
    {"ended with 3",
     POD("Never", "", ENDED("Failed", "3", "Error")),
     {0},
     POD_ENDED,
     "Error",
     3,
     false},
    {"out of memory",
     POD("Never", "", ENDED("Failed", "137", "OOMKilled")),
     {0},
     POD_ENDED,
     "OOMKilled",
     137,
     false},
    {"main ended, sidecar runs",
     POD("Never", "", ENDED("Running", "1", "Error")),
     {0},
     POD_ENDED,
     "Error",
     1,
     false},
    {"ended, restarts by itself",
     POD("Always", "", ENDED("Running", "1", "Error")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"ended well, restarts on failure",
     POD("OnFailure", "", ENDED("Running", "0", "Completed")),
     {0},
     POD_ENDED,
     "Completed",
     0,
     false},
    {"ended badly, restarts on failure",
     POD("OnFailure", "", ENDED("Running", "1", "Error")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"evicted, always",
     POD("Always", "", "\"phase\":\"Failed\",\"reason\":\"Evicted\""),
     {0},
     POD_ENDED,
     "Evicted",
     -1,
     true},
    {"evicted, on failure",
     POD("OnFailure", "", "\"phase\":\"Failed\",\"reason\":\"Evicted\""),
     {0},
     POD_ENDED,
     "Evicted",
     -1,
     true},
    {"succeeded, on failure",
     POD("OnFailure", "", "\"phase\":\"Succeeded\""),
     {0},
     POD_ENDED,
     "Completed",
     -1,
     false},
    {"evicted, never",
     POD("Never", "", "\"phase\":\"Failed\",\"reason\":\"Evicted\""),
     {0},
     POD_ENDED,
     "Evicted",
     -1,
     false},
    {"crashing",
     POD("Always", "",
         "\"phase\":\"Running\"," MAIN("\"waiting\":{\"reason\":\"CrashLoopBackOff\"}")),
     {0},
     POD_FAILING,
     "CrashLoopBackOff",
     -1,
     false},
    {"crashing for want of memory",
     POD("Always", "",
         "\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"sandbox\",\"restartCount\":3,"
         "\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},\"lastState\":{" TERMINATED(
             "137", "OOMKilled", "") "}}]"),
     {0},
     POD_FAILING,
     "CrashLoopBackOff",
     137,
     false},
    {"a node under load",
     POD("Never", "", WAITING("CreateContainerError", "context deadline exceeded")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"a name that a try before still holds",
     POD("Never", "", WAITING("CreateContainerError", "name \\\"x\\\" is reserved for \\\"y\\\"")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"a kubelet that waits for its cache",
     POD("Never", "",
         WAITING("CreateContainerConfigError", "failed to sync secret cache: timed "
                                               "out waiting for the condition")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"a runtime that starts again",
     POD("Never", "",
         WAITING("RunContainerError", "connection error: desc = transport: Error "
                                      "while dialing: dial unix: no such file")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"waiting for init containers",
     POD("Never", MARK,
         "\"phase\":\"Pending\"," INSTALLER("\"running\":{}")
             MAIN("\"waiting\":{\"reason\":\"PodInitializing\"}")),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"no node is right for it",
     POD("Never", MARK,
         "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
         "\"status\":\"False\",\"message\":\"0/1 nodes\"}]"),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"no node of its platform",
     SELECTOR("\"kubernetes.io/arch\":\"arm64\"", "0/2 nodes are available: 2 node(s) didn't match "
                                                  "Pod's node affinity/selector. preemption: 0/2"),
     {0},
     POD_FAILING,
     "PodPlatformUnschedulable",
     -1,
     false},
    {"a node of its platform that is full",
     SELECTOR("\"kubernetes.io/arch\":\"arm64\"",
              "0/2 nodes are available: 1 node(s) didn't match "
              "Pod's node affinity/selector, 1 Insufficient cpu"),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"no node of another label",
     SELECTOR("\"kubernetes.io/arch\":\"arm64\",\"disk\":\"ssd\"",
              "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."),
     {0},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"its node is lost, execd had answered",
     POD("Never", MARK, ADDRESS "\"phase\":\"Unknown\"," MAIN("\"running\":{}")),
     {.has_answered = true},
     POD_STARTING,
     NULL,
     -1,
     false},
    {"a node without a shim, never restarted",
     POD("Never", MARK,
         "\"phase\":\"Failed\"," ADDRESS MAIN(TERMINATED("128", "StartError", NO_LAUNCHER))),
     {0},
     POD_ENDED,
     "InjectionUnavailable",
     128,
     false,
     "run opensandbox-shim"},
    {"a node without a shim, the kubelet's first words",
     POD("Always", MARK, WAITING("RunContainerError", NO_LAUNCHER)),
     {0},
     POD_FAILING,
     "InjectionUnavailable",
     -1,
     false,
     "run opensandbox-shim"},
    {"a node without a shim, in a crash loop",
     POD("Always", MARK,
         "\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"sandbox\",\"restartCount\":2,"
         "\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\",\"message\":\"back-off 20s\"}},"
         "\"lastState\":{" TERMINATED("128", "StartError", NO_LAUNCHER) "}}]"),
     {0},
     POD_FAILING,
     "InjectionUnavailable",
     128,
     false,
     "run opensandbox-shim"},
    {"a node without a shim, old runtime's word",
     POD("Never", MARK,
         "\"phase\":\"Failed\"," MAIN(
             TERMINATED("127", "ContainerCannotRun",
                        "executable file `/opt/opensandbox/bootstrap.sh` not found: No such file "
                        "or directory"))),
     {0},
     POD_ENDED,
     "InjectionUnavailable",
     127,
     false,
     "run opensandbox-shim"},
    {"a shim that is too old",
     POD("Never", MARK,
         WAITING("CreateContainerError", "opensandbox-shim: injection version 1 is "
                                         "not here, this shim has 2")),
     {0},
     POD_FAILING,
     "InjectionUnavailable",
     -1,
     false,
     "shim of this node"},
    {"the same words, nothing to do with execd",
     POD("Never", "", "\"phase\":\"Failed\"," MAIN(TERMINATED("128", "StartError", NO_LAUNCHER))),
     {0},
     POD_ENDED,
     "StartError",
     128,
     false},
    {"a program of the user's that is not there",
     POD("Never", MARK, "\"phase\":\"Failed\"," MAIN(TERMINATED("127", "Error", ""))),
     {0},
     POD_ENDED,
     "Error",
     127,
     false},
    {"an execd image that is not there",
     POD("Never", MARK,
         "\"phase\":\"Pending\"," INSTALLER(
             IDLE("ErrImagePull", "failed to pull and unpack image \\\"r/execd:9\\\": not "
                                  "found")) MAIN(IDLE("PodInitializing", ""))),
     {0},
     POD_FAILING,
     "ErrImagePull",
     -1,
     false,
     "runtime.execd_image"},
    {"an execd image that is none",
     POD("Never", MARK,
         "\"phase\":\"Failed\"," INSTALLER(TERMINATED("128", "StartError", NO_LAUNCHER))
             MAIN(IDLE("PodInitializing", ""))),
     {0},
     POD_ENDED,
     "InjectionUnavailable",
     128,
     false,
     "no execd image"},
    {"an init container that cannot write",
     POD("Never", MARK,
         "\"phase\":\"Failed\"," INSTALLER(TERMINATED("1", "Error", ""))
             MAIN(IDLE("PodInitializing", ""))),
     {0},
     POD_ENDED,
     "Error",
     1,
     false,
     "brings execd"},
};

static void test_each_status_has_its_verdict(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct osb_kube_store *store = osb_kube_store_new(&pod_projection);
        assert_int_equal(osb_kube_store_apply(store, osb_slice_str(cases[i].pod), NULL), 0);
        const struct pod *pod = pod_of(osb_kube_store_get(store, "n", "a-0"));
        struct verdict verdict = pod_verdict(pod, &cases[i].observed);
        const char *reason = verdict.reason ? verdict.reason : "";
        const char *expected = cases[i].reason ? cases[i].reason : "";
        if (verdict.class_ != cases[i].class_ || strcmp(reason, expected) != 0)
            print_error("%s: class %d, reason %s\n", cases[i].name, verdict.class_, reason);
        assert_int_equal(verdict.class_, cases[i].class_);
        assert_string_equal(reason, expected);
        assert_int_equal(verdict.has_exit_code ? verdict.exit_code : -1, cases[i].exit_code);
        assert_int_equal(pod_is_to_be_replaced(pod), cases[i].is_replaced);
        assert_int_equal(verdict.advice != NULL, cases[i].advice != NULL);
        if (cases[i].advice)
            assert_non_null(strstr(verdict.advice, cases[i].advice));
        osb_kube_store_free(store);
    }
}

static void test_no_pod_and_a_pod_that_goes_are_told_apart(void **state)
{
    (void)state;
    struct observation none = {0};
    struct pod going = {.is_deleting = true, .phase = POD_FAILED};
    assert_int_equal(pod_verdict(NULL, &none).class_, POD_ABSENT);
    assert_int_equal(pod_verdict(&going, &none).class_, POD_TERMINATING);
    assert_false(pod_is_to_be_replaced(&going));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_status_has_its_verdict),
        cmocka_unit_test(test_no_pod_and_a_pod_that_goes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
