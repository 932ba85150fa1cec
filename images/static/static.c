// SPDX-License-Identifier: Apache-2.0
/*
 * All of a test image that has no shell, no C library and no users:
 *
 *   static hold            until SIGTERM or SIGINT (also without a word)
 *   static args A…         prints each argument on a line
 *   static env NAME        prints a variable; status 1 if there is none
 *   static say TEXT        to standard output
 *   static complain TEXT   to standard error
 *   static cat             standard input to standard output
 *   static sleep SECONDS
 *   static exit STATUS
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WRONG_USE = 2 };

static int hold(void)
{
    sigset_t signals;
    int signo;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return sigwait(&signals, &signo);
}

static int print_args(int count, char **args)
{
    for (int i = 0; i < count; i++)
        puts(args[i]);
    return 0;
}

static int print_env(const char *name)
{
    const char *value = getenv(name);

    return value && puts(value) >= 0 ? 0 : 1;
}

static int copy(void)
{
    char buffer[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(STDOUT_FILENO, buffer + done, (size_t)(n - done))) < 0)
                return 1;
    return n < 0;
}

static int sleep_for(const char *seconds)
{
    double wanted = strtod(seconds, NULL);
    struct timespec left = {.tv_sec = (time_t)wanted,
                            .tv_nsec = (long)((wanted - (double)(time_t)wanted) * 1e9)};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "hold";
    const char *value = argc > 2 ? argv[2] : NULL;

    if (strcmp(word, "hold") == 0)
        return hold();
    if (strcmp(word, "args") == 0)
        return print_args(argc - 2, argv + 2);
    if (strcmp(word, "cat") == 0)
        return copy();
    if (strcmp(word, "env") == 0 && value)
        return print_env(value);
    if (strcmp(word, "say") == 0 && value)
        return puts(value) < 0;
    if (strcmp(word, "complain") == 0 && value)
        return fprintf(stderr, "%s\n", value) < 0;
    if (strcmp(word, "sleep") == 0 && value)
        return sleep_for(value);
    if (strcmp(word, "exit") == 0 && value)
        return atoi(value);
    fprintf(stderr,
            "hold | args A... | env NAME | say TEXT | complain TEXT | cat | sleep S | exit N\n");
    return WRONG_USE;
}
