// SPDX-License-Identifier: Apache-2.0
// bench-deps: json
// bench-libs: json-c
/*
 * Decodes four fields a pod from a list of 2,000 pods of 3.8 kB, as the operator's reflector does,
 * with the pull reader and, for comparison, with a json-c tree. Prints the median of the rounds,
 * by processor time of this thread, so that a busy machine does not spoil the figure.
 *
 *     build/release/bench/json_list [rounds]
 */
#include <json-c/json.h>
#include <osb/json_reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    PODS = 2000,
    DEFAULT_ROUNDS = 50,
    MAX_ROUNDS = 1000,
    WARM_UP = 3,
    TARGET_MB_S = 500,
};

/* What is kept of a pod; summed up so that no decoding can be left out. */
struct pod {
    struct osb_slice name;
    struct osb_slice resource_version;
    struct osb_slice node;
    struct osb_slice phase;
};

static void append_managed_fields(struct osb_buf *out)
{
    osb_buf_append_str(out, "\"managedFields\":[");
    for (int i = 0; i < 3; i++) {
        osb_buf_appendf(out,
                        "%s{\"manager\":\"kubelet-%d\",\"operation\":\"Update\",\"apiVersion\":"
                        "\"v1\",\"time\":\"2026-01-01T00:00:00Z\",\"fieldsType\":\"FieldsV1\","
                        "\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:app\":{},"
                        "\"f:pool\":{}}},\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"main"
                        "\\\"}\":{\".\":{},\"f:image\":{},\"f:name\":{},\"f:resources\":{},"
                        "\"f:env\":{\".\":{},\"k:{\\\"name\\\":\\\"TOKEN\\\"}\":{\".\":{},"
                        "\"f:name\":{},\"f:value\":{}}}}}}}}",
                        i ? "," : "", i);
    }
    osb_buf_append_str(out, "]");
}

static void append_spec(struct osb_buf *out, int i)
{
    osb_buf_append_str(out, "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":"
                            "\"registry.example.com/sandboxes/python:3.12-slim\",\"command\":["
                            "\"/opt/opensandbox/bootstrap.sh\",\"sleep\",\"infinity\"],\"env\":[");
    for (int k = 0; k < 8; k++)
        osb_buf_appendf(out, "%s{\"name\":\"VARIABLE_%d\",\"value\":\"value number %d of pod %d\"}",
                        k ? "," : "", k, k, i);
    osb_buf_appendf(
        out,
        "],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"512Mi\"},"
        "\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},\"volumeMounts\":[{"
        "\"name\":\"data\",\"mountPath\":\"/data\"},{\"name\":\"kube-api-access\","
        "\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/"
        "serviceaccount\"}],\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":"
        "\"Never\",\"terminationGracePeriodSeconds\":30,\"nodeName\":\"node-%d\","
        "\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":"
        "\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"priority\":0},",
        i % 50);
}

static void append_status(struct osb_buf *out, int i)
{
    static const char *const CONDITIONS[] = {"Initialized", "Ready", "ContainersReady",
                                             "PodScheduled"};
    osb_buf_append_str(out, "\"status\":{\"phase\":\"Running\",\"conditions\":[");
    for (int k = 0; k < 4; k++)
        osb_buf_appendf(out,
                        "%s{\"type\":\"%s\",\"status\":\"True\",\"lastProbeTime\":null,"
                        "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                        k ? "," : "", CONDITIONS[k]);
    osb_buf_appendf(out,
                    "],\"hostIP\":\"10.0.0.%d\",\"podIP\":\"10.1.%d.%d\",\"startTime\":"
                    "\"2026-01-01T00:00:00Z\",\"containerStatuses\":[{\"name\":\"main\",\"state\":{"
                    "\"running\":{\"startedAt\":\"2026-01-01T00:00:00Z\"}},\"ready\":true,"
                    "\"restartCount\":0,\"imageID\":\"registry.example.com/sandboxes/python@sha256:"
                    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                    "\"containerID\":\"containerd://0123456789abcdef0123456789abcdef\"}],"
                    "\"qosClass\":\"Burstable\"}}",
                    i % 250, i / 250, i % 250);
}

static void make_list(struct osb_buf *out)
{
    osb_buf_append_str(out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
                            "\"resourceVersion\":\"1\"},\"items\":[");
    for (int i = 0; i < PODS; i++) {
        osb_buf_appendf(out,
                        "%s{\"metadata\":{\"name\":\"pool-%d\",\"namespace\":\"sandboxes\",\"uid\":"
                        "\"00000000-0000-4000-8000-%012d\",\"resourceVersion\":\"%d\",\"labels\":{"
                        "\"app\":\"sandbox\",\"sandbox.opensandbox.io/pool-name\":\"pool\"},",
                        i ? "," : "", i, i, 1000 + i);
        append_managed_fields(out);
        osb_buf_append_str(out, "},");
        append_spec(out, i);
        append_status(out, i);
    }
    osb_buf_append_str(out, "]}");
}

/* One string member of the object that comes next; everything else is skipped. */
static void read_metadata(struct osb_json_reader *r, struct osb_arena *arena, struct pod *pod)
{
    struct osb_slice key;
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "name"))
            osb_json_read_string(r, arena, &pod->name);
        else if (osb_slice_eq_str(key, "resourceVersion"))
            osb_json_read_string(r, arena, &pod->resource_version);
        else
            osb_json_skip(r);
    }
}

static void read_member(struct osb_json_reader *r, struct osb_arena *arena, const char *name,
                        struct osb_slice *ret)
{
    struct osb_slice key;
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, name))
            osb_json_read_string(r, arena, ret);
        else
            osb_json_skip(r);
    }
}

static size_t read_pod(struct osb_json_reader *r, struct osb_arena *arena)
{
    struct osb_slice key;
    struct pod pod = {0};
    osb_json_enter_object(r);
    while (osb_json_next_key(r, &key)) {
        if (osb_slice_eq_str(key, "metadata"))
            read_metadata(r, arena, &pod);
        else if (osb_slice_eq_str(key, "spec"))
            read_member(r, arena, "nodeName", &pod.node);
        else if (osb_slice_eq_str(key, "status"))
            read_member(r, arena, "phase", &pod.phase);
        else
            osb_json_skip(r);
    }
    return pod.name.len + pod.resource_version.len + pod.node.len + pod.phase.len;
}

static size_t decode_by_reader(struct osb_slice text)
{
    struct osb_json_reader r;
    struct osb_slice key;
    struct osb_arena arena = {0};
    size_t sum = 0;
    osb_json_reader_init(&r, text);
    osb_json_enter_object(&r);
    while (osb_json_next_key(&r, &key)) {
        if (!osb_slice_eq_str(key, "items")) {
            osb_json_skip(&r);
            continue;
        }
        osb_json_enter_array(&r);
        while (osb_json_next_item(&r))
            sum += read_pod(&r, &arena);
    }
    if (osb_json_reader_finish(&r, NULL) < 0)
        sum = 0;
    osb_arena_done(&arena);
    return sum;
}

static size_t length_at(struct json_object *pod, const char *object, const char *member)
{
    return (size_t)json_object_get_string_len(
        json_object_object_get(json_object_object_get(pod, object), member));
}

static size_t decode_by_json_c(struct osb_slice text)
{
    struct json_tokener *tokener = json_tokener_new();
    struct json_object *list = json_tokener_parse_ex(tokener, text.data, (int)text.len);
    struct json_object *items = json_object_object_get(list, "items");
    size_t sum = 0;
    for (size_t i = 0; i < json_object_array_length(items); i++) {
        struct json_object *pod = json_object_array_get_idx(items, i);
        sum += length_at(pod, "metadata", "name") + length_at(pod, "metadata", "resourceVersion") +
               length_at(pod, "spec", "nodeName") + length_at(pod, "status", "phase");
    }
    json_object_put(list);
    json_tokener_free(tokener);
    return sum;
}

static uint64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Median throughput in MB/s; ends the program when a round decodes something else. */
static double measure(size_t (*decode)(struct osb_slice), struct osb_slice text, int rounds,
                      size_t expected)
{
    static uint64_t times[MAX_ROUNDS];
    for (int i = -WARM_UP; i < rounds; i++) {
        uint64_t start = processor_ns();
        size_t sum = decode(text);
        uint64_t end = processor_ns();
        if (sum != expected) {
            fprintf(stderr, "decoded %zu bytes of fields, not %zu\n", sum, expected);
            exit(1);
        }
        if (i >= 0)
            times[i] = end - start;
    }
    qsort(times, (size_t)rounds, sizeof(times[0]), compare_times);
    uint64_t median = times[rounds / 2];
    return (double)text.len * 1000.0 / (double)median;
}

int main(int argc, char **argv)
{
    struct osb_buf list = {0};
    int rounds = argc > 1 ? atoi(argv[1]) : DEFAULT_ROUNDS;
    if (rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "rounds: 1 to %d\n", MAX_ROUNDS);
        return 2;
    }
    make_list(&list);
    struct osb_slice text = osb_buf_slice(&list);
    size_t expected = decode_by_json_c(text);
    double reader = measure(decode_by_reader, text, rounds, expected);
    double json_c = measure(decode_by_json_c, text, rounds, expected);
    printf("list_decode value=%.0f unit=MB/s target=%d %s peer=json-c peer_value=%.0f ratio=%.1f "
           "pods=%d bytes=%zu rounds=%d\n",
           reader, TARGET_MB_S, reader >= TARGET_MB_S ? "met" : "missed", json_c, reader / json_c,
           PODS, text.len, rounds);
    osb_buf_done(&list);
    return 0;
}
