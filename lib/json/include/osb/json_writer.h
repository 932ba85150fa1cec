// SPDX-License-Identifier: Apache-2.0
/*
 * A compact JSON writer over a buffer: one value, at most OSB_JSON_MAX_DEPTH levels. Commas and
 * colons are its business; errors (the buffer's limit, wrong nesting, a second value at the top)
 * stick and are checked once by osb_json_writer_finish(). Text that is not UTF-8 is repaired as
 * osb_json_escape() says.
 */
#ifndef OSB_JSON_WRITER_H
#define OSB_JSON_WRITER_H

#include <osb/buf.h>
#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

struct osb_json_writer {
    struct osb_buf *out;
    int depth;
    uint64_t has_items; /* private: one bit a level */
    uint64_t is_object; /* private: one bit a level */
    bool is_after_key;  /* private */
    bool is_complete;   /* private: the one value of the top level was begun */
    int err;            /* sticky */
};

void osb_json_writer_init(struct osb_json_writer *w, struct osb_buf *out);
void osb_json_begin_object(struct osb_json_writer *w);
void osb_json_end_object(struct osb_json_writer *w);
void osb_json_begin_array(struct osb_json_writer *w);
void osb_json_end_array(struct osb_json_writer *w);
void osb_json_key(struct osb_json_writer *w, const char *key);
void osb_json_key_slice(struct osb_json_writer *w, struct osb_slice key);
void osb_json_null(struct osb_json_writer *w);
void osb_json_bool(struct osb_json_writer *w, bool value);
void osb_json_i64(struct osb_json_writer *w, int64_t value);
/* Shortest text that reads back the same ("1.0" stays no integer); NaN and infinities: null. */
void osb_json_double(struct osb_json_writer *w, double value);
void osb_json_string(struct osb_json_writer *w, const char *value); /* NULL writes null */
void osb_json_slice(struct osb_json_writer *w, struct osb_slice value);
/* A value that is JSON already; not validated. */
void osb_json_raw(struct osb_json_writer *w, struct osb_slice json);
/* RFC 3339 in UTC with seconds (Kubernetes' metav1.Time). */
void osb_json_time(struct osb_json_writer *w, int64_t realtime_ns);

/* Key and value in one call. */
void osb_json_kv_string(struct osb_json_writer *w, const char *key, const char *value);
void osb_json_kv_slice(struct osb_json_writer *w, const char *key, struct osb_slice value);
void osb_json_kv_i64(struct osb_json_writer *w, const char *key, int64_t value);
void osb_json_kv_bool(struct osb_json_writer *w, const char *key, bool value);
void osb_json_kv_time(struct osb_json_writer *w, const char *key, int64_t realtime_ns);
/* Nothing when VALUE is NULL or empty. */
void osb_json_kv_string_opt(struct osb_json_writer *w, const char *key, const char *value);

/* 0, or the sticky error of the writer or its buffer; unclosed levels are -OSB_E_INTERNAL. */
int osb_json_writer_finish(struct osb_json_writer *w, struct osb_err *err);

#endif
