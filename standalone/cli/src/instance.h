// SPDX-License-Identifier: Apache-2.0
/*
 * An instance of the embedded engine: one state folder with its own ports, bridge, subnet, nft
 * table and cgroup, written down once in instance.json (docs/interfaces.md) and read ever after.
 * Two instances run side by side because nothing here is shared or well-known.
 */
#ifndef CLI_INSTANCE_H
#define CLI_INSTANCE_H

#include <osb/err.h>
#include <stdbool.h>

enum {
    INSTANCE_ID_LEN = 8,
    INSTANCE_VERSION = 1,
    INSTANCE_REST_PORT = 8080, /* taken when it is free */
};

struct instance {
    char id[INSTANCE_ID_LEN + 1];
    char *state; /* absolute path */
    char *run;   /* /run/opensandbox/<id>: short, for sockets */
    char *rest_address;
    int rest_port;
    int api_port;
    char *bridge;
    char *subnet; /* "10.x.y.0/24" */
    char *table;
    char *cgroup; /* "/opensandbox-<id>" */
    char *node;
};

/*
 * The state folder that applies: FLAG, else $OPENSANDBOX_STATE, else /var/lib/opensandbox. Its path
 * is written into files of five syntaxes and into mount options, so some characters are refused.
 */
int instance_state_folder(const char *flag, char **ret_absolute, struct osb_err *err);
/* Reads instance.json; -OSB_E_NOT_FOUND when the folder holds no instance. */
int instance_load(const char *state, struct instance *ret, struct osb_err *err);
/* Makes the folders and picks id, ports and subnet for a new instance; writes instance.json. */
int instance_create(const char *state, struct instance *ret, struct osb_err *err);
/*
 * Before the parts start: a port that somebody else has taken since the last time is replaced by a
 * free one, and that is written down.
 */
int instance_ensure_ports(struct instance *instance, struct osb_err *err);
void instance_done(struct instance *instance);

/* "<state>/<rest>" and "<run>/<rest>"; owned by the caller. */
char *instance_state_path(const struct instance *instance, const char *rest);
char *instance_run_path(const struct instance *instance, const char *rest);
/* Makes the run folder, which a reboot may have removed. */
int instance_make_run(const struct instance *instance, struct osb_err *err);
/* Removes the run folder, and the state folder too with PURGE. */
int instance_remove(const struct instance *instance, bool is_purge, struct osb_err *err);

#endif
