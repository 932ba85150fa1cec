// SPDX-License-Identifier: Apache-2.0
/*
 * Log files on disk, the reader on the simulated loop. There inotify is not watched, so that it is
 * the poll that finds news.
 */
#include "log_stream.h"

#include "../../../lib/http/tests/rig.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pod.h"
#include "pod_table.h"

#include "node_fixture.h"
#include "pod_fixture.h"

#define STAMP              "2026-01-01T00:00:0"
#define LINE(second, text) STAMP #second "Z stdout F " text "\n"
#define POLL_MS            1000

struct fixture {
    struct fixture_node here;
    struct rig *rig;
    struct pod pod;
    struct log_query query;
    char path[128];
};

static struct fixture *fixture;

/* Stands for the table of pods: there is one. */
struct pod *pod_table_find(struct pod_table *table, const char *namespace_, const char *name)
{
    (void)table;
    assert_string_equal(namespace_, "default");
    assert_string_equal(name, "web");
    return &fixture->pod;
}

static void answer(struct osb_http_exchange *x, void *arg)
{
    struct fixture *f = arg;
    log_stream_start(&f->here.node, x, f->path, "default", "web", 0, &f->query);
}

static int set_up(void **state)
{
    struct fixture *f = osb_new(struct fixture);
    fixture = f;
    fixture_node_init(&f->here);
    f->rig = rig_new(answer, f, NULL);
    f->here.node.loop = f->rig->loop;
    f->pod.spec = fixture_pod("\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]");
    f->pod.state.containers[0].phase = CONTAINER_PHASE_EXITED;
    f->query = (struct log_query){.tail_lines = -1, .limit_bytes = -1};
    snprintf(f->path, sizeof(f->path), "%s/0.log", f->here.root);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rig_free(f->rig);
    pod_spec_free(f->pod.spec);
    fixture_node_done(&f->here);
    free(f);
    return 0;
}

static void append(const struct fixture *f, const char *suffix, const char *text)
{
    char path[160];
    snprintf(path, sizeof(path), "%s%s", f->path, suffix);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void rotate(const struct fixture *f)
{
    char old[160];
    snprintf(old, sizeof(old), "%s.old", f->path);
    assert_int_equal(rename(f->path, old), 0);
    append(f, "", ""); /* as the runtime: empty first */
}

static void ask(struct fixture *f)
{
    rig_send_str(f->rig, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
}

/* The text of the answer's chunks since the last call. */
static const char *read_text(struct fixture *f)
{
    static char text[64 * 1024];
    const char *seen = rig_seen(f->rig);
    size_t len = 0;
    const char *body = strstr(seen, "\r\n\r\n");
    seen = !strncmp(seen, "HTTP/", 5) && body ? body + 4 : seen;
    for (char *data; *seen; seen = data + 2) { /* behind the chunk's own line end */
        size_t size = strtoul(seen, &data, 16);
        assert_true(data > seen && !strncmp(data, "\r\n", 2));
        data += 2;
        memcpy(text + len, data, size);
        len += size;
        data += size;
    }
    text[len] = '\0';
    return text;
}

static void a_log_is_the_text_of_its_lines(void **state)
{
    struct fixture *f = *state;
    append(f, "",
           LINE(1, "one") LINE(2, "two") STAMP "3Z stdout P pa"
                                               "\n" LINE(3, "rt"));
    ask(f);
    assert_string_equal(read_text(f), "one\ntwo\npart\n");
}

static void the_older_file_comes_first(void **state)
{
    struct fixture *f = *state;
    append(f, "", LINE(1, "one"));
    rotate(f);
    append(f, "", LINE(2, "two"));
    ask(f);
    assert_string_equal(read_text(f), "one\ntwo\n");
}

static void the_last_lines_are_counted_over_both_files(void **state)
{
    struct fixture *f = *state;
    append(f, "", LINE(1, "one") LINE(2, "two"));
    rotate(f);
    append(f, "", LINE(3, "three"));
    f->query.tail_lines = 2;
    ask(f);
    assert_string_equal(read_text(f), "two\nthree\n");
}

static void lines_before_the_given_time_are_left_out(void **state)
{
    struct fixture *f = *state;
    append(f, "", LINE(1, "one") LINE(2, "two"));
    f->query.since_ns = INT64_C(1767225602) * OSB_NS_PER_S;
    f->query.has_timestamps = true;
    ask(f);
    assert_string_equal(read_text(f), STAMP "2Z two\n");
}

static void no_more_bytes_are_sent_than_were_asked_for(void **state)
{
    struct fixture *f = *state;
    append(f, "", LINE(1, "one") LINE(2, "two"));
    f->query.limit_bytes = 6;
    ask(f);
    assert_string_equal(read_text(f), "one\ntw");
}

static void following_ends_with_the_container_and_not_before(void **state)
{
    struct fixture *f = *state;
    f->pod.state.containers[0].phase = CONTAINER_PHASE_RUNNING;
    f->query.is_follow = true;
    append(f, "", LINE(1, "one"));
    ask(f);
    assert_string_equal(read_text(f), "one\n");
    append(f, "", LINE(2, "two"));
    rig_advance_ms(f->rig, POLL_MS);
    assert_string_equal(read_text(f), "two\n");
    append(f, "", LINE(3, "last"));
    f->pod.state.containers[0].phase = CONTAINER_PHASE_EXITED;
    rig_advance_ms(f->rig, POLL_MS);
    assert_true(rig_saw(f->rig, "last\r\n"));
    assert_true(rig_saw(f->rig, "\r\n0\r\n\r\n"));
}

/* The runtime writes to the old file until it has switched: nothing of that may be missed. */
static void following_goes_on_in_the_next_file_without_a_gap(void **state)
{
    struct fixture *f = *state;
    f->pod.state.containers[0].phase = CONTAINER_PHASE_RUNNING;
    f->query.is_follow = true;
    append(f, "", LINE(1, "one"));
    ask(f);
    rotate(f);
    rig_advance_ms(f->rig, POLL_MS);
    append(f, ".old", LINE(2, "two"));
    rig_advance_ms(f->rig, POLL_MS);
    append(f, ".old", LINE(3, "three"));
    append(f, "", LINE(4, "four"));
    rig_advance_ms(f->rig, POLL_MS);
    append(f, "", LINE(5, "five"));
    rig_advance_ms(f->rig, POLL_MS);
    assert_string_equal(read_text(f), "one\ntwo\nthree\nfour\nfive\n");
}

static void a_reader_that_is_two_files_behind_reads_both(void **state)
{
    struct fixture *f = *state;
    f->pod.state.containers[0].phase = CONTAINER_PHASE_RUNNING;
    f->query.is_follow = true;
    append(f, "", LINE(1, "one"));
    ask(f);
    rotate(f);
    append(f, "", LINE(2, "two"));
    rotate(f);
    append(f, "", LINE(3, "three"));
    rig_advance_ms(f->rig, POLL_MS);
    assert_string_equal(read_text(f), "one\ntwo\nthree\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_log_is_the_text_of_its_lines),
        T(the_older_file_comes_first),
        T(the_last_lines_are_counted_over_both_files),
        T(lines_before_the_given_time_are_left_out),
        T(no_more_bytes_are_sent_than_were_asked_for),
        T(following_ends_with_the_container_and_not_before),
        T(following_goes_on_in_the_next_file_without_a_gap),
        T(a_reader_that_is_two_files_behind_reads_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
