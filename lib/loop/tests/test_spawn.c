// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <fcntl.h>
#include <osb/spawn.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const usual_env[] = {"PATH=/usr/bin:/bin", NULL};

/* Runs a shell script with stdout in TEXT; returns its wait status. */
static int run_shell(struct osb_spawn *spawn, const char *script, char *text, size_t size)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    int fds[2];
    pid_t pid;
    struct osb_err err = {0};
    size_t len = 0;
    int status;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    spawn->file = "sh";
    spawn->argv = argv;
    if (!spawn->env)
        spawn->env = usual_env;
    if (spawn->fd_count == 0)
        spawn->fd_count = 3;
    spawn->fds[0] = -1;
    spawn->fds[1] = fds[1];
    spawn->fds[2] = STDERR_FILENO;
    if (osb_spawn(spawn, &pid, &err) < 0)
        fail_msg("%s", err.message);
    close(fds[1]);
    for (ssize_t n; (n = read(fds[0], text + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    spawn->argv = NULL;
    return status;
}

/* The error of a start that must fail; MESSAGE is a part of what it says. */
static int fail_to_start(struct osb_spawn *spawn, const char *message)
{
    static const char *const argv[] = {"x", NULL};
    struct osb_err err = {0};
    pid_t pid = -7;
    spawn->argv = argv;
    spawn->fd_count = 3;
    for (int i = 0; i < 3; i++)
        spawn->fds[i] = -1;
    int r = osb_spawn(spawn, &pid, &err);
    assert_true(r < 0);
    assert_int_equal(pid, -7);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" does not say \"%s\"", err.message, message);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie is left */
    assert_int_equal(errno, ECHILD);
    return r;
}

static void a_program_of_path_runs_with_the_given_environment(void **state)
{
    const char *env[] = {"PATH=/nowhere::/usr/bin:/bin", "GREETING=hello", NULL};
    struct osb_spawn spawn = {.env = env};
    char text[64];
    (void)state;
    int status = run_shell(&spawn, "echo $GREETING; exit 5", text, sizeof(text));
    assert_int_equal(WEXITSTATUS(status), 5);
    assert_string_equal(text, "hello\n");
}

static void a_missing_program_is_enoent(void **state)
{
    struct osb_spawn spawn = {.file = "no-such-program", .env = usual_env};
    (void)state;
    assert_int_equal(fail_to_start(&spawn, "start no-such-program: exec: No such file"), -ENOENT);
    spawn.file = "/no/such/program";
    assert_int_equal(fail_to_start(&spawn, "start /no/such/program: exec"), -ENOENT);
}

static void a_file_that_is_no_program_is_eacces(void **state)
{
    struct osb_spawn spawn = {.file = "/etc/passwd", .env = usual_env};
    (void)state;
    assert_int_equal(fail_to_start(&spawn, "start /etc/passwd: exec: Permission"), -EACCES);
}

static void a_place_of_path_without_permission_is_told_unless_a_later_one_works(void **state)
{
    char folder[] = "/tmp/loop-spawn-XXXXXX";
    char file[64];
    char path[128];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/sh", folder);
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    snprintf(path, sizeof(path), "PATH=%s", folder);
    const char *env[] = {path, NULL};
    struct osb_spawn spawn = {.file = "sh", .env = env};
    assert_int_equal(fail_to_start(&spawn, "exec: Permission"), -EACCES);
    snprintf(path, sizeof(path), "PATH=%s:/bin", folder);
    char text[16];
    struct osb_spawn works = {.env = env};
    assert_int_equal(run_shell(&works, "echo ok", text, sizeof(text)), 0);
    unlink(file);
    rmdir(folder);
}

static void a_missing_folder_is_named(void **state)
{
    struct osb_spawn spawn = {.file = "/bin/true", .env = usual_env, .cwd = "/no/such/folder"};
    (void)state;
    assert_int_equal(fail_to_start(&spawn, "change to the folder /no/such/folder"), -ENOENT);
}

static void the_folder_is_the_childs_only(void **state)
{
    struct osb_spawn spawn = {.cwd = "/usr/bin"};
    char text[64];
    char before[256];
    char after[256];
    (void)state;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(run_shell(&spawn, "pwd", text, sizeof(text)), 0);
    assert_string_equal(text, "/usr/bin\n");
    assert_non_null(getcwd(after, sizeof(after)));
    assert_string_equal(before, after);
}

static void signals_that_we_ignore_or_block_are_as_new_in_the_child(void **state)
{
    struct osb_spawn spawn = {0};
    char text[256];
    sigset_t set;
    (void)state;
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    run_shell(&spawn, "grep -E '^Sig(Blk|Ign):' /proc/self/status", text, sizeof(text));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    assert_string_equal(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void our_own_signal_handling_survives_a_spawn(void **state)
{
    struct osb_spawn spawn = {0};
    struct sigaction action;
    sigset_t mask;
    char text[16];
    (void)state;
    signal(SIGINT, SIG_IGN);
    run_shell(&spawn, "true", text, sizeof(text));
    sigaction(SIGINT, NULL, &action);
    assert_ptr_equal(action.sa_handler, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

static void only_the_named_descriptors_are_passed(void **state)
{
    struct osb_spawn spawn = {.fd_count = 5};
    /* Asked one by one: listing the folder would itself open a descriptor. */
    const char *script = "for f in 0 1 2 3 4 5 6 7 8 9 10 11 12; do "
                         "[ -e /proc/$$/fd/$f ] && echo -n $f; done";
    char text[64];
    int leaks[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        leaks[i] = dup(STDIN_FILENO); /* without close-on-exec */
    /* Swapped low numbers: no target may overwrite a source that is still needed. */
    spawn.fds[3] = leaks[1];
    spawn.fds[4] = -1;
    run_shell(&spawn, script, text, sizeof(text));
    assert_string_equal(text, "01234");
    for (int i = 0; i < 3; i++)
        close(leaks[i]);
}

static void descriptors_may_be_swapped(void **state)
{
    const char *argv[] = {"sh", "-c", "echo out; echo err >&2", NULL};
    struct osb_spawn spawn = {.file = "sh", .argv = argv, .env = usual_env, .fd_count = 3};
    int out[2];
    int status;
    char text[16] = {0};
    pid_t pid;
    (void)state;
    int saved_out = dup(1);
    int saved_err = dup(2);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    dup2(out[1], 1);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
    spawn.fds[0] = -1;
    spawn.fds[1] = 2;
    spawn.fds[2] = 1;
    int r = osb_spawn(&spawn, &pid, NULL);
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    close(saved_out);
    close(saved_err);
    close(out[1]);
    assert_int_equal(r, 0);
    assert_int_equal(read(out[0], text, sizeof(text) - 1), 4);
    assert_string_equal(text, "err\n");
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_group_or_a_session_of_its_own(void **state)
{
    struct osb_spawn spawn = {.has_own_session = true};
    struct osb_spawn grouped = {.has_own_group = true};
    const char *script = "set -- $(cat /proc/$$/stat); echo $1 $5 $6";
    char text[64];
    int pid;
    int group;
    int session;
    (void)state;
    run_shell(&spawn, script, text, sizeof(text));
    assert_int_equal(sscanf(text, "%d %d %d", &pid, &group, &session), 3);
    assert_int_equal(pid, group);
    assert_int_equal(pid, session);
    run_shell(&grouped, script, text, sizeof(text));
    assert_int_equal(sscanf(text, "%d %d %d", &pid, &group, &session), 3);
    assert_int_equal(pid, group);
    assert_int_equal(getsid(0), session);
}

static void the_slave_of_a_terminal_becomes_the_controlling_one(void **state)
{
    const char *argv[] = {"sh", "-c", "exec 3<>/dev/tty && echo yes >&3", NULL};
    struct osb_spawn spawn = {.file = "sh",
                              .argv = argv,
                              .env = usual_env,
                              .fd_count = 3,
                              .has_own_session = true,
                              .has_terminal = true};
    char text[16] = {0};
    pid_t pid;
    int status;
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(slave >= 0);
    for (int i = 0; i < 3; i++)
        spawn.fds[i] = slave;
    assert_int_equal(osb_spawn(&spawn, &pid, NULL), 0);
    close(slave);
    assert_true(read(master, text, sizeof(text) - 1) >= 3);
    assert_memory_equal(text, "yes", 3);
    close(master);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void another_user_is_set_with_groups_or_refused(void **state)
{
    static const gid_t groups[] = {12345, 12346};
    struct osb_spawn spawn = {
        .has_uid = true, .uid = 65534, .gid = 65534, .groups = groups, .group_count = 2};
    char text[128];
    (void)state;
    if (geteuid() != 0) {
        spawn.file = "/bin/true";
        assert_int_equal(fail_to_start(&spawn, "set groups"), -EPERM);
        return;
    }
    run_shell(&spawn, "id -u; id -g; id -G", text, sizeof(text));
    assert_string_equal(text, "65534\n65534\n65534 12345 12346\n");
    assert_int_equal(geteuid(), 0); /* the ids are the child's only */
}

/* Spawns from a child process that has given up root. */
static void without_privileges_a_change_of_user_is_eperm(void **state)
{
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct osb_spawn spawn = {.file = "/bin/true", .env = usual_env, .has_uid = true};
        if (geteuid() == 0 && setuid(65534) < 0)
            _exit(2);
        _exit(fail_to_start(&spawn, "set groups: Operation not permitted") == -EPERM ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_namespace_that_may_not_be_made_is_named(void **state)
{
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct osb_spawn spawn = {
            .file = "/bin/true", .env = usual_env, .clone_namespaces = CLONE_NEWNS};
        if (geteuid() == 0 && setuid(65534) < 0)
            _exit(2);
        _exit(fail_to_start(&spawn, "make namespaces") == -EPERM ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void errors_are_told_across_a_user_namespace(void **state)
{
    struct osb_spawn spawn = {
        .file = "/no/such/program", .env = usual_env, .clone_namespaces = CLONE_NEWUSER};
    struct osb_err err = {0};
    static const char *const argv[] = {"x", NULL};
    pid_t pid;
    (void)state;
    spawn.argv = argv;
    spawn.fd_count = 3;
    spawn.fds[0] = spawn.fds[1] = spawn.fds[2] = -1;
    int r = osb_spawn(&spawn, &pid, &err);
    /* Some machines forbid user namespaces; that, too, must be said by the right step. */
    if (r == -ENOENT)
        assert_non_null(strstr(err.message, "exec"));
    else
        assert_non_null(strstr(err.message, "make namespaces"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_path_runs_with_the_given_environment),
        cmocka_unit_test(a_missing_program_is_enoent),
        cmocka_unit_test(a_file_that_is_no_program_is_eacces),
        cmocka_unit_test(a_place_of_path_without_permission_is_told_unless_a_later_one_works),
        cmocka_unit_test(a_missing_folder_is_named),
        cmocka_unit_test(the_folder_is_the_childs_only),
        cmocka_unit_test(signals_that_we_ignore_or_block_are_as_new_in_the_child),
        cmocka_unit_test(our_own_signal_handling_survives_a_spawn),
        cmocka_unit_test(only_the_named_descriptors_are_passed),
        cmocka_unit_test(descriptors_may_be_swapped),
        cmocka_unit_test(a_group_or_a_session_of_its_own),
        cmocka_unit_test(the_slave_of_a_terminal_becomes_the_controlling_one),
        cmocka_unit_test(another_user_is_set_with_groups_or_refused),
        cmocka_unit_test(without_privileges_a_change_of_user_is_eperm),
        cmocka_unit_test(a_namespace_that_may_not_be_made_is_named),
        cmocka_unit_test(errors_are_told_across_a_user_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
