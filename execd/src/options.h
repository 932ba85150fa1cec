// SPDX-License-Identifier: Apache-2.0
/* execd's command line and environment (execd contract 1.2, 1.3); a flag beats a variable. */
#ifndef EXECD_OPTIONS_H
#define EXECD_OPTIONS_H

#include <osb/err.h>
#include <osb/log.h>
#include <stdbool.h>

enum {
    EXECD_PORT = 44772,
};

/* What the line ends of output texts are (design 8.14). */
enum output_newlines {
    NEWLINES_AUTO, /* by the client: kept for those that are made for it */
    NEWLINES_KEEP,
    NEWLINES_STRIP,
};

struct execd_options {
    int port;
    const char *address; /* to listen on; NULL: all */
    int token_fd;        /* -1: the environment */
    enum osb_log_level log_level;
    enum output_newlines newlines;
    bool is_help;
    bool is_version;
};

/* Strings are borrowed from ARGV. -OSB_E_INVALID with what is wrong. */
int options_parse(int argc, char **argv, struct execd_options *ret, struct osb_err *err);
/* The text of --help. */
const char *options_help(void);

#endif
