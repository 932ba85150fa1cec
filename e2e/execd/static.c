// SPDX-License-Identifier: Apache-2.0
/* The one program of a test image: does what its words say, needs nothing of an image. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int leave_orphans(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (fork() == 0)
                _exit(0);
            _exit(0);
        }
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    const char *word = argc > 2 ? argv[2] : "0";

    if (strcmp(verb, "print") == 0)
        return puts(word) < 0;
    if (strcmp(verb, "exit") == 0)
        return atoi(word);
    if (strcmp(verb, "kill") == 0)
        kill(getpid(), atoi(word));
    if (strcmp(verb, "environment") == 0)
        for (char **var = environ; *var; var++)
            puts(*var);
    if (strcmp(verb, "orphans") == 0)
        return leave_orphans(atoi(word));
    while (strcmp(verb, "sleep") == 0)
        pause();
    return 0;
}
