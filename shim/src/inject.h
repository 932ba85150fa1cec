// SPDX-License-Identifier: Apache-2.0
/*
 * The core of the shim: what a CreateContainer becomes. A function of bytes to bytes, free of I/O.
 *
 * Nothing that came is written anew. A message that stands twice in protobuf's wire format is
 * merged by its reader, lists are joined (protobuf encoding, "Last One Wins"); so two mounts are
 * added by a second, tiny `config` behind the request, and all that a later kubelet says, also what
 * we do not know, reaches the runtime as the kubelet wrote it.
 */
#ifndef SHIM_INJECT_H
#define SHIM_INJECT_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/slice.h>

/* docs/interfaces.md, "On Kubernetes". */
#define INJECT_ANNOTATION           "opensandbox.io/inject"
#define INJECT_VERSION_ANNOTATION   "opensandbox.io/inject-version"
#define INJECT_CONTAINER_ANNOTATION "opensandbox.io/inject-container"
#define INJECT_EXECD                "execd"
#define INJECT_VERSION              "1"
#define INJECT_DEFAULT_CONTAINER    "sandbox"
#define INJECT_FOLDER               "/opt/opensandbox"
#define INJECT_EXECD_PATH           INJECT_FOLDER "/execd"
#define INJECT_BOOTSTRAP_PATH       INJECT_FOLDER "/bootstrap.sh"
#define INJECT_WORDS                "opensandbox-shim: " /* begins each refusal */

/* Files on the node; NULL both when this node has none. */
struct inject_files {
    const char *execd;
    const char *bootstrap;
};

enum inject_outcome {
    INJECT_NOT_ASKED,  /* the pod has no mark, or another container is meant */
    INJECT_DONE,       /* OUT is the new request */
    INJECT_PRESENT,    /* the pod brings its own: its installer, or mounts of these files */
    INJECT_UNREADABLE, /* looks marked, but cannot be read: the runtime is to judge it */
    INJECT_NO_VERSION, /* refused: asked for a version that we do not have */
    INJECT_NO_FILES,   /* refused: asked for, but we were started without files */
    INJECT_OUTCOME_COUNT
};

enum { INJECT_NAME_MAX = 256 }; /* names in Kubernetes have at most 253 bytes */

/* Who asked, for logs; empty where the request was not looked into. */
struct inject_subject {
    char sandbox_id[INJECT_NAME_MAX];
    char namespace_[INJECT_NAME_MAX];
    char pod[INJECT_NAME_MAX];
    char container[INJECT_NAME_MAX];
};

/*
 * REQUEST is a runtime.v1.CreateContainerRequest. Refusals are -OSB_E_PRECONDITION. *RET_OUTCOME
 * and *RET_SUBJECT are always set; OUT is appended to with INJECT_DONE only.
 */
int inject_create_container(struct osb_slice request, const struct inject_files *files,
                            struct osb_buf *out, enum inject_outcome *ret_outcome,
                            struct inject_subject *ret_subject, struct osb_err *err);
/* A word for labels and logs. */
const char *inject_outcome_name(enum inject_outcome outcome);

#endif
