// SPDX-License-Identifier: Apache-2.0
/*
 * In which form objects are answered: as they are, as a Table (kubectl get), or as metadata only.
 * Chosen by the Accept header, written without trees where the stored text will do.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "cache.h"
#include "refusal.h"
#include "request.h"

#include <osb/buf.h>

enum output_form { OUTPUT_OBJECT, OUTPUT_TABLE, OUTPUT_METADATA };
enum table_include { INCLUDE_METADATA, INCLUDE_NONE, INCLUDE_OBJECT };

struct output {
    enum output_form form;
    enum table_include include; /* tables: what a row holds beside its cells */
    bool has_rows_before;       /* watched tables: columns were said already */
};

/* The first acceptable form of ACCEPT (empty: any); 406 when there is none. */
int output_negotiate(struct osb_slice accept, struct osb_arena *arena, struct request *request,
                     struct output *ret, struct refusal *refusal);

/* One object in the chosen form. */
void output_object(struct output *output, const struct object *object, int64_t now_ns,
                   struct osb_buf *out);

/* What a list says beside its items. */
struct list_meta {
    uint64_t revision;
    const char *continue_; /* NULL: the list is complete */
    int64_t remaining;     /* -1: not said */
};

void output_list(const struct output *output, const struct resource *resource,
                 struct object *const *items, size_t count, const struct list_meta *meta,
                 int64_t now_ns, struct osb_buf *out);

/* A bookmark in the chosen form; IS_INITIAL_END marks the end of initial events. */
void output_bookmark(const struct output *output, const struct resource *resource,
                     uint64_t revision, bool is_initial_end, struct osb_buf *out);

#endif
