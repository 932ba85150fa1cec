// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps a store equal to a collection of an API server: list in pages, then watch with bookmarks,
 * resume by version, list anew after 410, back off with jitter after errors. What it decides is in
 * a core free of I/O (src/reflector_core.h). Client and store are borrowed and outlive it.
 */
#ifndef OSB_KUBE_REFLECTOR_H
#define OSB_KUBE_REFLECTOR_H

#include <osb/kube_client.h>
#include <osb/kube_store.h>

struct osb_kube_reflector;

struct osb_kube_reflector_options {
    const struct osb_api_kind *kind;
    const char *namespace_;     /* NULL: all */
    const char *label_selector; /* NULL: all */
    int page_size;              /* 0: 500 */
    uint64_t seed;              /* of the jitter; 0: random */
    /* A list or watch failed with R; it is tried again. For the log; may be NULL. */
    void (*on_error)(int r, const struct osb_err *err, void *arg);
    void *on_error_arg;
};

struct osb_kube_reflector *osb_kube_reflector_new(struct osb_loop *loop,
                                                  struct osb_kube_client *client,
                                                  struct osb_kube_store *store,
                                                  const struct osb_kube_reflector_options *options);
void osb_kube_reflector_start(struct osb_kube_reflector *reflector);
void osb_kube_reflector_free(struct osb_kube_reflector *reflector);
/* Lists made after the first one: 410, and watches that could not go on. */
uint64_t osb_kube_reflector_relists(const struct osb_kube_reflector *reflector);
/* True once the first list is complete. */
bool osb_kube_reflector_is_synced(const struct osb_kube_reflector *reflector);
/* Called once when it becomes synced (or soon, when it is). */
void osb_kube_reflector_on_sync(struct osb_kube_reflector *reflector, void (*fn)(void *arg),
                                void *arg);

#endif
