// SPDX-License-Identifier: Apache-2.0
/*
 * The first process of a pod sandbox: holds the namespaces, reaps what the kernel hands it when
 * containers share its PID namespace, and ends on SIGTERM or SIGINT.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

int main(int argc, char **argv)
{
    sigset_t signals;

    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("pause " OSB_VERSION " (" OSB_COMMIT ")");
        return 0;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    for (;;) {
        int signo = sigwaitinfo(&signals, NULL);

        if (signo == SIGTERM || signo == SIGINT)
            return 0;
        reap();
    }
}
