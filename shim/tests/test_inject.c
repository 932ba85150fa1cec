// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <osb/fd.h>

#include "inject.h"
#include "requests.h"

static const struct inject_files node_files = {"/files/0123/execd", "/files/0123/bootstrap.sh"};

#define INSTALLER "/var/lib/kubelet/pods/0a/volumes/kubernetes.io~empty-dir/opensandbox-bin"

struct run {
    struct osb_buf request;
    struct osb_buf out;
    enum inject_outcome outcome;
    struct inject_subject subject;
    struct osb_err err;
    int r;
};

static void run_bytes(struct run *run, const struct inject_files *files)
{
    run->r = inject_create_container(osb_buf_slice(&run->request), files, &run->out, &run->outcome,
                                     &run->subject, &run->err);
    assert_int_equal(run->out.err, 0);
}

static struct run run_with(const struct request_shape *shape, const struct inject_files *files)
{
    struct run run = {0};

    request_make(shape, &run.request);
    run_bytes(&run, files);
    return run;
}

static void done(struct run *run)
{
    osb_buf_done(&run->request);
    osb_buf_done(&run->out);
}

static Runtime__V1__CreateContainerRequest *read_out(const struct run *run)
{
    struct osb_slice bytes = osb_buf_slice(&run->out);
    Runtime__V1__CreateContainerRequest *request =
        runtime__v1__create_container_request__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);

    assert_non_null(request);
    return request;
}

static void assert_outcome(const struct request_shape *shape, enum inject_outcome outcome)
{
    struct run run = run_with(shape, &node_files);

    assert_int_equal(run.r, 0);
    assert_int_equal(run.outcome, outcome);
    assert_int_equal(osb_buf_slice(&run.out).len > 0, outcome == INJECT_DONE);
    done(&run);
}

static void assert_bind(const Runtime__V1__Mount *mount, const char *host_path, const char *path)
{
    assert_string_equal(mount->host_path, host_path);
    assert_string_equal(mount->container_path, path);
    assert_true(mount->readonly);
    assert_int_equal(mount->propagation, RUNTIME__V1__MOUNT_PROPAGATION__PROPAGATION_PRIVATE);
}

static void a_marked_container_gains_two_read_only_binds(void **state)
{
    struct run run =
        run_with(&(struct request_shape){"sandbox", "execd", "1", "sandbox"}, &node_files);
    Runtime__V1__CreateContainerRequest *request;

    (void)state;
    assert_int_equal(run.outcome, INJECT_DONE);
    request = read_out(&run);
    assert_int_equal(request->config->n_mounts, 2);
    assert_bind(request->config->mounts[0], node_files.execd, INJECT_EXECD_PATH);
    assert_bind(request->config->mounts[1], node_files.bootstrap, INJECT_BOOTSTRAP_PATH);
    assert_string_equal(request->config->metadata->name, "sandbox");
    assert_string_equal(request->pod_sandbox_id, "5a7d");
    runtime__v1__create_container_request__free_unpacked(request, NULL);
    done(&run);
}

static void what_came_stands_unchanged_in_front(void **state)
{
    struct run run = run_with(&(struct request_shape){"sandbox", "execd", "1", NULL}, &node_files);
    struct osb_slice request = osb_buf_slice(&run.request);

    (void)state;
    assert_true(osb_slice_starts(osb_buf_slice(&run.out), request));
    done(&run);
}

static void the_subject_names_pod_and_container(void **state)
{
    struct run run = run_with(&(struct request_shape){"main", "execd", "1", "main"}, &node_files);

    (void)state;
    assert_string_equal(run.subject.namespace_, "tenant");
    assert_string_equal(run.subject.pod, "pod-0");
    assert_string_equal(run.subject.container, "main");
    assert_string_equal(run.subject.sandbox_id, "5a7d");
    done(&run);
}

static void mounts_of_the_container_stay_before_ours(void **state)
{
    struct run run = run_with(
        &(struct request_shape){"sandbox", "execd", "1", NULL, "/srv/work", "/work"}, &node_files);
    Runtime__V1__CreateContainerRequest *request = read_out(&run);

    (void)state;
    assert_int_equal(request->config->n_mounts, 3);
    assert_string_equal(request->config->mounts[0]->container_path, "/work");
    runtime__v1__create_container_request__free_unpacked(request, NULL);
    done(&run);
}

static void a_volume_of_the_user_at_the_folder_is_left_and_bound_over(void **state)
{
    (void)state;
    assert_outcome(
        &(struct request_shape){"sandbox", "execd", "1", NULL, "/srv/own", INJECT_FOLDER},
        INJECT_DONE);
}

static void a_pod_that_brings_its_own_is_left_alone(void **state)
{
    (void)state;
    assert_outcome(&(struct request_shape){"sandbox", "execd", "1", NULL, INSTALLER, INJECT_FOLDER},
                   INJECT_PRESENT);
    assert_outcome(&(struct request_shape){"sandbox", "execd", "1", NULL, "/x", INJECT_EXECD_PATH},
                   INJECT_PRESENT);
    assert_outcome(
        &(struct request_shape){"sandbox", "execd", "1", NULL, "/x", INJECT_BOOTSTRAP_PATH},
        INJECT_PRESENT);
}

static void only_the_named_container_of_a_marked_pod_is_changed(void **state)
{
    static const struct request_shape others[] = {
        {"sidecar", "execd", "1", "sandbox"},
        {"sidecar", "execd", "1", NULL},
        {"sandbox", "execd", "1", "main"},
        {NULL, "execd", "1", ""},
        {"", "execd", "1", NULL},
        {"sandbox", "other", "1", "sandbox"},
        {"sandbox", NULL, "1", "sandbox"},
        {"sandbox", "execd", NULL, "sandbox"},
        {"sandbox", NULL, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_outcome(&others[i], INJECT_NOT_ASKED);
    assert_outcome(&(struct request_shape){"main", "execd", "1", "main"}, INJECT_DONE);
}

static void assert_refused(const struct run *run, enum inject_outcome outcome, const char *word)
{
    assert_int_equal(run->r, -OSB_E_PRECONDITION);
    assert_int_equal(osb_err_info(run->r)->grpc_status, 9);
    assert_int_equal(run->outcome, outcome);
    assert_int_equal(osb_buf_slice(&run->out).len, 0);
    assert_ptr_equal(strstr(run->err.message, "opensandbox-shim: "), run->err.message);
    assert_non_null(strstr(run->err.message, word));
}

static void another_version_is_refused_with_the_one_we_have(void **state)
{
    struct run run = run_with(&(struct request_shape){"sandbox", "execd", "2", NULL}, &node_files);

    (void)state;
    assert_refused(&run, INJECT_NO_VERSION, "this node has 1");
    done(&run);
}

static void a_node_without_files_refuses(void **state)
{
    struct run run =
        run_with(&(struct request_shape){"sandbox", "execd", "1", NULL}, &(struct inject_files){0});

    (void)state;
    assert_refused(&run, INJECT_NO_FILES, "--execd");
    done(&run);
}

static void what_cannot_be_read_is_for_the_runtime_to_judge(void **state)
{
    struct run run = {0};

    (void)state;
    osb_buf_append_str(&run.request, "\x12\x7f" INJECT_VERSION_ANNOTATION);
    run_bytes(&run, &node_files);
    assert_int_equal(run.r, 0);
    assert_int_equal(run.outcome, INJECT_UNREADABLE);
    done(&run);
    run = (struct run){.outcome = INJECT_DONE};
    run_bytes(&run, &node_files);
    assert_int_equal(run.outcome, INJECT_NOT_ASKED);
}

/* What is behind the bytes that came: a config with nothing but two mounts. */
static void assert_only_mounts_are_added(const struct run *run)
{
    struct osb_slice before = osb_buf_slice(&run->request);
    struct osb_slice added = osb_slice_from(osb_buf_slice(&run->out), before.len);
    Runtime__V1__CreateContainerRequest *request =
        runtime__v1__create_container_request__unpack(NULL, added.len, (const uint8_t *)added.data);

    assert_true(osb_slice_starts(osb_buf_slice(&run->out), before));
    assert_non_null(request);
    assert_string_equal(request->pod_sandbox_id, "");
    assert_null(request->sandbox_config);
    assert_int_equal(request->config->n_mounts, 2);
    assert_null(request->config->metadata);
    assert_null(request->config->image);
    assert_int_equal(request->config->n_envs + request->config->n_command, 0);
    runtime__v1__create_container_request__free_unpacked(request, NULL);
}

/* Tag 1000, wire type 2, in the request, in its config and in the pod's. */
static void fields_of_a_later_kubelet_reach_the_runtime(void **state)
{
    static const char unknown[] = "\xc2\x3e\x05later";
    struct run run = {0};

    (void)state;
    request_make(&(struct request_shape){"sandbox", "execd", "1", NULL}, &run.request);
    osb_buf_append_str(&run.request, unknown);
    osb_buf_append_str(&run.request, "\x12\x08");
    osb_buf_append_str(&run.request, unknown);
    osb_buf_append_str(&run.request, "\x1a\x08");
    osb_buf_append_str(&run.request, unknown);
    run_bytes(&run, &node_files);
    assert_int_equal(run.outcome, INJECT_DONE);
    assert_only_mounts_are_added(&run);
    done(&run);
}

/* As kubelet 1.34 sent it; the folder of its state has another name. */
static void the_request_of_a_real_kubelet_gains_the_two_binds(void **state)
{
    struct run run = {0};
    Runtime__V1__CreateContainerRequest *request;

    (void)state;
    assert_int_equal(
        osb_read_file(OSB_TESTDATA "/kubelet-1.34-create-container", 1 << 16, &run.request, NULL),
        0);
    run_bytes(&run, &node_files);
    assert_int_equal(run.outcome, INJECT_DONE);
    assert_string_equal(run.subject.pod, "capture");
    assert_string_equal(run.subject.container, "sandbox");
    assert_only_mounts_are_added(&run);
    request = read_out(&run);
    assert_int_equal(request->config->n_mounts, 6);
    assert_bind(request->config->mounts[4], node_files.execd, INJECT_EXECD_PATH);
    assert_int_equal(request->config->linux_config->resources->memory_limit_in_bytes, 64 << 20);
    runtime__v1__create_container_request__free_unpacked(request, NULL);
    done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marked_container_gains_two_read_only_binds),
        cmocka_unit_test(what_came_stands_unchanged_in_front),
        cmocka_unit_test(the_subject_names_pod_and_container),
        cmocka_unit_test(mounts_of_the_container_stay_before_ours),
        cmocka_unit_test(a_volume_of_the_user_at_the_folder_is_left_and_bound_over),
        cmocka_unit_test(a_pod_that_brings_its_own_is_left_alone),
        cmocka_unit_test(only_the_named_container_of_a_marked_pod_is_changed),
        cmocka_unit_test(another_version_is_refused_with_the_one_we_have),
        cmocka_unit_test(a_node_without_files_refuses),
        cmocka_unit_test(what_cannot_be_read_is_for_the_runtime_to_judge),
        cmocka_unit_test(fields_of_a_later_kubelet_reach_the_runtime),
        cmocka_unit_test(the_request_of_a_real_kubelet_gains_the_two_binds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
