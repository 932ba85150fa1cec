// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <osb/clock.h>
#include <osb/slice.h>
#include <stdlib.h>

const char *options_help(void)
{
    return "usage: execd [OPTION…]\n"
           "Serves commands and files of a sandbox over HTTP.\n"
           "\n"
           "  --port N                  TCP port (44772)\n"
           "  --address ADDRESS         address to listen on (all, of both families)\n"
           "  --access-token-fd N       read the access token from this descriptor\n"
           "  --output-newlines MODE    line ends in output texts: auto, keep, strip (auto)\n"
           "  --log-level LEVEL         0 to 7, or debug, info, warn, error (6)\n"
           "  --graceful-shutdown-timeout D, --jupyter-idle-poll-interval D,\n"
           "  --jupyter-host URL, --jupyter-token TOKEN\n"
           "                            accepted and not used\n"
           "  --help, --version\n"
           "\n"
           "environment: EXECD_ACCESS_TOKEN (empty: no authentication), EXECD_ENVS,\n"
           "EXECD_OUTPUT_NEWLINES, EXECD_LOG_FILE, TMPDIR, HOME\n";
}

static int parse_port(struct execd_options *options, struct osb_slice value)
{
    uint64_t port;

    if (osb_slice_to_u64(value, &port) < 0 || port > UINT16_MAX)
        return -OSB_E_INVALID;
    options->port = (int)port;
    return 0;
}

static int parse_address(struct execd_options *options, struct osb_slice value)
{
    options->address = value.data;
    return 0;
}

static int parse_token_fd(struct execd_options *options, struct osb_slice value)
{
    uint64_t fd;

    if (osb_slice_to_u64(value, &fd) < 0 || fd > INT32_MAX)
        return -OSB_E_INVALID;
    options->token_fd = (int)fd;
    return 0;
}

/* The contract's numbers: up to 3 errors, 4 warnings, 5 and 6 info, 7 debug. */
static int parse_log_level(struct execd_options *options, struct osb_slice value)
{
    uint64_t number;

    if (osb_slice_to_u64(value, &number) < 0)
        return osb_log_level_parse(value.data, &options->log_level);
    options->log_level = number >= 7   ? OSB_LOG_DEBUG
                         : number >= 5 ? OSB_LOG_INFO
                         : number == 4 ? OSB_LOG_WARN
                                       : OSB_LOG_ERROR;
    return 0;
}

static int parse_newlines(struct execd_options *options, struct osb_slice value)
{
    static const char *const names[] = {
        [NEWLINES_AUTO] = "auto", [NEWLINES_KEEP] = "keep", [NEWLINES_STRIP] = "strip"};

    for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
        if (osb_slice_eq_str(value, names[i])) {
            options->newlines = (enum output_newlines)i;
            return 0;
        }
    }
    return -OSB_E_INVALID;
}

/* Nothing waits here, but what is given must be a duration, as in the reference. */
static int check_duration(struct execd_options *options, struct osb_slice value)
{
    int64_t ns;

    (void)options;
    return osb_duration_parse(value, &ns);
}

static int ignore(struct execd_options *options, struct osb_slice value)
{
    (void)options;
    (void)value;
    return 0;
}

static const struct flag {
    const char *name;
    const char *variable; /* or NULL */
    int (*parse)(struct execd_options *options, struct osb_slice value);
} flags[] = {
    {"port", NULL, parse_port},
    {"address", NULL, parse_address},
    {"access-token-fd", NULL, parse_token_fd},
    {"log-level", NULL, parse_log_level},
    {"output-newlines", "EXECD_OUTPUT_NEWLINES", parse_newlines},
    {"graceful-shutdown-timeout", "EXECD_API_GRACE_SHUTDOWN", check_duration},
    {"jupyter-idle-poll-interval", "EXECD_JUPYTER_IDLE_POLL_INTERVAL", check_duration},
    {"jupyter-host", NULL, ignore},
    {"jupyter-token", NULL, ignore},
};

static const struct flag *find_flag(struct osb_slice name)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (osb_slice_eq_str(name, flags[i].name))
            return &flags[i];
    return NULL;
}

static int read_variables(struct execd_options *options, struct osb_err *err)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const char *value = flags[i].variable ? getenv(flags[i].variable) : NULL;
        if (value && *value && flags[i].parse(options, osb_slice_str(value)) < 0)
            return osb_fail(err, -OSB_E_INVALID, "%s: bad value", flags[i].variable);
    }
    return 0;
}

/* "--name=value", "--name value", with one dash or two. *INDEX moves to the last word used. */
static int read_flag(int argc, char **argv, int *index, struct execd_options *options,
                     struct osb_err *err)
{
    struct osb_slice word = osb_slice_str(argv[*index]);

    if (word.len < 2 || word.data[0] != '-')
        return osb_fail(err, -OSB_E_INVALID, "unexpected argument %s", argv[*index]);
    word = osb_slice_from(word, word.data[1] == '-' ? 2 : 1);
    ptrdiff_t equals = osb_slice_find(word, '=');
    struct osb_slice name = equals < 0 ? word : osb_slice_first(word, (size_t)equals);
    if (osb_slice_eq_str(name, "help") || osb_slice_eq_str(name, "version")) {
        options->is_help = options->is_help || osb_slice_eq_str(name, "help");
        options->is_version = options->is_version || osb_slice_eq_str(name, "version");
        return 0;
    }
    /* A token on a command line is in everybody's process list. */
    if (osb_slice_eq_str(name, "access-token"))
        return osb_fail(err, -OSB_E_INVALID,
                        "--access-token: use EXECD_ACCESS_TOKEN or --access-token-fd");
    const struct flag *flag = find_flag(name);
    if (!flag)
        return osb_fail(err, -OSB_E_INVALID, "unknown option --%.*s", OSB_SLICE_ARG(name));
    if (equals < 0 && *index + 1 >= argc)
        return osb_fail(err, -OSB_E_INVALID, "--%s needs a value", flag->name);
    struct osb_slice value =
        equals < 0 ? osb_slice_str(argv[++*index]) : osb_slice_from(word, (size_t)equals + 1);
    if (flag->parse(options, value) < 0)
        return osb_fail(err, -OSB_E_INVALID, "--%s: bad value", flag->name);
    return 0;
}

int options_parse(int argc, char **argv, struct execd_options *ret, struct osb_err *err)
{
    struct execd_options options = {.port = EXECD_PORT, .token_fd = -1, .log_level = OSB_LOG_INFO};
    int r = read_variables(&options, err);

    for (int i = 1; r == 0 && i < argc; i++)
        r = read_flag(argc, argv, &i, &options, err);
    if (r == 0)
        *ret = options;
    return r;
}
