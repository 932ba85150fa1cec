// SPDX-License-Identifier: Apache-2.0
#include "command_start.h"

#include "account.h"
#include "command_run.h"
#include "process_tree.h"

#include <fcntl.h>
#include <osb/alloc.h>
#include <osb/cleanup.h>
#include <osb/fd.h>
#include <osb/spawn.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reading ends stay here, writing ends go to the child; closed on every way out. */
struct pipe_pair {
    int read_fd;
    int write_fd;
};

static void pipe_pair_done(struct pipe_pair *pair)
{
    if (pair->read_fd >= 0)
        close(pair->read_fd);
    if (pair->write_fd >= 0)
        close(pair->write_fd);
}

#define _cleanup_pipe_ __attribute__((cleanup(pipe_pair_done)))

static int pipe_pair_open(struct pipe_pair *pair, struct osb_err *err)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return osb_fail(err, -errno, "pipe: %s", strerror(errno));
    *pair = (struct pipe_pair){fds[0], fds[1]};
    return osb_set_nonblocking(pair->read_fd, true);
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Looks NAME up in the absolute entries of PATH; owned by the caller, NULL when not there. */
static char *find_program(struct osb_slice path, const char *name)
{
    struct osb_slice dir;

    while (osb_slice_split(&path, ':', &dir)) {
        if (dir.len == 0 || dir.data[0] != '/')
            continue;
        char *file = osb_asprintf("%.*s/%s", OSB_SLICE_ARG(dir), name);
        if (is_program(file))
            return file;
        free(file);
    }
    return NULL;
}

static struct osb_slice search_path(const struct environment *env)
{
    const char *path = environment_get(env, OSB_SLICE("PATH"));

    return osb_slice_str(path ? path
                              : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
}

/* *RET_ARGV[0] is "bash" or "sh"; its file is returned. */
static char *find_shell(const struct environment *env, const char **ret_argv0)
{
    static const char *const shells[] = {"bash", "sh"};

    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        char *file = find_program(search_path(env), shells[i]);
        if (file) {
            *ret_argv0 = shells[i];
            return file;
        }
    }
    return NULL;
}

static int find_file(const struct command_spawn *spawn, const char **shell_argv, char **ret_file,
                     struct osb_err *err)
{
    const struct command_request *request = spawn->request;

    if (!request->argv) {
        *ret_file = find_shell(spawn->env, &shell_argv[0]);
        return *ret_file ? 0
                         : osb_fail(err, -ENOENT,
                                    "there is neither bash nor sh in PATH: use argv instead");
    }
    if (strchr(request->argv[0], '/')) {
        *ret_file = osb_strdup(request->argv[0]);
        return 0;
    }
    *ret_file = find_program(search_path(spawn->env), request->argv[0]);
    return *ret_file
               ? 0
               : osb_fail(err, -ENOENT, "%s: executable file not found in PATH", request->argv[0]);
}

/* Nothing to switch when the request asks for who we are: that works without CAP_SETGID. */
static void set_identity(struct osb_spawn *spawn, const struct command_request *request,
                         struct account *account)
{
    if (!request->has_uid)
        return;
    account_load((uid_t)request->uid, account);
    if (request->has_gid)
        account->gid = (gid_t)request->gid;
    if (account->uid == getuid() && account->gid == getgid())
        return;
    spawn->has_uid = true;
    spawn->uid = account->uid;
    spawn->gid = account->gid;
    spawn->groups = account->groups;
    spawn->group_count = account->group_count;
}

int command_start(const struct command_spawn *spawn, const char *id, int fds[static 2],
                  pid_t *ret_pid, struct osb_err *err)
{
    _cleanup_pipe_ struct pipe_pair out = {-1, -1};
    _cleanup_pipe_ struct pipe_pair errors = {-1, -1};
    _cleanup_free_ char *file = NULL;
    const struct command_request *request = spawn->request;
    const char *shell_argv[] = {NULL, "-c", request->command, NULL};
    struct account account;

    int r = find_file(spawn, shell_argv, &file, err);
    if (r == 0)
        r = pipe_pair_open(&out, err);
    if (r == 0 && !request->is_background)
        r = pipe_pair_open(&errors, err);
    if (r < 0)
        return r;
    environment_set(spawn->env, OSB_SLICE(PROCESS_MARK), osb_slice_str(id));
    if (spawn->cwd)
        environment_set(spawn->env, OSB_SLICE("PWD"), osb_slice_str(spawn->cwd));
    struct osb_spawn child = {
        .file = file,
        .argv = request->argv ? request->argv : shell_argv,
        .env = environment_list(spawn->env),
        .cwd = spawn->cwd,
        .fds = {-1, out.write_fd, request->is_background ? out.write_fd : errors.write_fd},
        .fd_count = 3,
        .has_own_group = true,
        .file_limit = spawn->file_limit,
    };
    set_identity(&child, request, &account);
    r = osb_spawn(&child, ret_pid, err);
    if (r < 0)
        return r;
    fds[0] = osb_take_fd(&out.read_fd);
    fds[1] = osb_take_fd(&errors.read_fd);
    return 0;
}
