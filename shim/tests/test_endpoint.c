// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <osb/fd.h>
#include <osb/metric.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "endpoint.h"
#include "folder.h"
#include "lock_file.h"

struct fixture {
    struct osb_loop *loop;
    struct endpoint *endpoint;
    const char *path;
    int accepted;
    int last_fd;
};

static void on_connection(int fd, void *arg)
{
    struct fixture *f = arg;

    f->accepted++;
    f->last_fd = fd;
}

static int begin(struct fixture *f, void **state, struct osb_err *err)
{
    *f = (struct fixture){.path = folder_path(state, "shim.sock"), .last_fd = -1};
    assert_int_equal(osb_loop_new_epoll(&f->loop, NULL), 0);
    return endpoint_new(f->loop, f->path, on_connection, f, &f->endpoint, err);
}

static void end(struct fixture *f)
{
    endpoint_free(f->endpoint);
    osb_loop_free(f->loop);
    if (f->last_fd >= 0)
        close(f->last_fd);
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    return address;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static void a_connection_of_our_own_user_is_handed_over(void **state)
{
    struct fixture f;
    struct stat st;
    int fd;

    assert_int_equal(begin(&f, state, NULL), 0);
    assert_int_equal(endpoint_start(f.endpoint, NULL), 0);
    assert_int_equal(stat(f.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, ENDPOINT_MODE);
    fd = connect_to(f.path);
    assert_true(fd >= 0);
    while (!f.accepted)
        osb_loop_turn(f.loop, -1);
    assert_true(f.last_fd >= 0);
    close(fd);
    end(&f);
    assert_int_equal(access(f.path, F_OK), -1);
}

static void whoever_connects_before_the_start_waits_in_the_queue(void **state)
{
    struct fixture f;
    int fd;

    assert_int_equal(begin(&f, state, NULL), 0);
    fd = connect_to(f.path);
    assert_true(fd >= 0);
    assert_int_equal(endpoint_start(f.endpoint, NULL), 0);
    while (!f.accepted)
        osb_loop_turn(f.loop, -1);
    close(fd);
    end(&f);
}

static void a_second_one_on_the_path_is_refused_and_the_first_serves_on(void **state)
{
    struct fixture first;
    struct fixture second;
    struct osb_err err = {0};
    int fd;

    assert_int_equal(begin(&first, state, NULL), 0);
    assert_int_equal(begin(&second, state, &err), -EADDRINUSE);
    assert_non_null(strstr(err.message, "held by another shim, process"));
    second.endpoint = NULL;
    end(&second);
    fd = connect_to(first.path);
    assert_true(fd >= 0);
    close(fd);
    end(&first);
}

static void a_socket_that_another_program_serves_is_never_taken(void **state)
{
    struct fixture f;
    struct osb_err err = {0};
    int other = listen_at(folder_path(state, "shim.sock"));
    int fd;

    assert_int_equal(begin(&f, state, &err), -EADDRINUSE);
    assert_non_null(strstr(err.message, "served by another process"));
    f.endpoint = NULL;
    fd = connect_to(f.path);
    assert_true(fd >= 0);
    close(fd);
    end(&f);
    close(other);
}

static void a_socket_that_a_dead_process_left_is_replaced(void **state)
{
    struct fixture f;
    int fd;

    close(listen_at(folder_path(state, "shim.sock")));
    assert_int_equal(connect_to(folder_path(state, "shim.sock")), -1);
    assert_int_equal(begin(&f, state, NULL), 0);
    fd = connect_to(f.path);
    assert_true(fd >= 0);
    close(fd);
    end(&f);
}

static void a_file_that_is_no_socket_is_left(void **state)
{
    struct fixture f;
    struct osb_err err = {0};

    assert_int_equal(osb_write_file(folder_path(state, "shim.sock"), OSB_SLICE("x"), 0600, NULL),
                     0);
    assert_int_equal(begin(&f, state, &err), -EEXIST);
    assert_non_null(strstr(err.message, "no socket"));
    assert_int_equal(access(f.path, F_OK), 0);
    f.endpoint = NULL;
    end(&f);
}

static void a_socket_of_a_successor_is_not_removed(void **state)
{
    struct fixture f;
    int other;

    assert_int_equal(begin(&f, state, NULL), 0);
    assert_int_equal(unlink(f.path), 0);
    other = listen_at(f.path);
    endpoint_stop(f.endpoint);
    assert_int_equal(access(f.path, F_OK), 0);
    close(other);
    end(&f);
}

static void a_path_that_is_too_long_is_told(void **state)
{
    static const char name[] = "a-name-of-a-socket-that-together-with-the-folder-that-it-is-in-is-"
                               "longer-than-the-kernel-takes-them";
    struct osb_loop *loop;
    struct endpoint *endpoint;
    struct osb_err err = {0};

    assert_int_equal(osb_loop_new_epoll(&loop, NULL), 0);
    assert_int_equal(endpoint_new(loop, folder_path(state, name), NULL, NULL, &endpoint, &err),
                     -ENAMETOOLONG);
    osb_loop_free(loop);
}

static void a_lock_is_free_again_when_its_holder_is_gone(void **state)
{
    const char *path = folder_path(state, "x.lock");
    int first = -1;
    int second = -1;

    assert_int_equal(lock_file_take(path, &first, NULL), 0);
    assert_int_equal(lock_file_take(path, &second, NULL), -EADDRINUSE);
    close(first);
    assert_int_equal(lock_file_take(path, &second, NULL), 0);
    close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_connection_of_our_own_user_is_handed_over, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(whoever_connects_before_the_start_waits_in_the_queue,
                                        folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(a_second_one_on_the_path_is_refused_and_the_first_serves_on,
                                        folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(a_socket_that_another_program_serves_is_never_taken,
                                        folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(a_socket_that_a_dead_process_left_is_replaced, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_no_socket_is_left, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_socket_of_a_successor_is_not_removed, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_told, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_lock_is_free_again_when_its_holder_is_gone, folder_setup,
                                        folder_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
