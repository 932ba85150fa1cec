// SPDX-License-Identifier: Apache-2.0
/*
 * A strict pull reader for JSON (RFC 8259) over bytes in memory, for lists, watches and streams:
 * no tree, no heap. The caller walks and skips; strings come as slices into the input, or through
 * a buffer when they hold escapes. It validates syntax, UTF-8, surrogate pairs and depth as it
 * goes, also in what is skipped; duplicate keys are the caller's to judge (trees refuse them). The
 * first error sticks: every later call fails, the caller checks once.
 *
 *     struct osb_json_reader r;
 *     osb_json_reader_init(&r, input);
 *     struct osb_slice key;
 *     osb_json_enter_object(&r);
 *     while (osb_json_next_key(&r, &key)) {
 *         if (osb_slice_eq_str(key, "name")) osb_json_read_string(&r, &name);
 *         else osb_json_skip(&r);
 *     }
 *     int r = osb_json_reader_finish(&r, err);
 */
#ifndef OSB_JSON_READER_H
#define OSB_JSON_READER_H

#include <osb/arena.h>
#include <osb/buf.h>
#include <osb/err.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

enum { OSB_JSON_MAX_DEPTH = 64 };

enum osb_json_type {
    OSB_JSON_NONE, /* end of input, or the reader failed */
    OSB_JSON_NULL,
    OSB_JSON_BOOL,
    OSB_JSON_NUMBER,
    OSB_JSON_STRING,
    OSB_JSON_ARRAY,
    OSB_JSON_OBJECT,
};

struct osb_json_reader {
    const char *begin;
    const char *p;
    const char *end;
    int depth;
    int err;            /* sticky: 0, -OSB_E_SYNTAX, -OSB_E_TOO_DEEP, -OSB_E_INVALID (wrong type) */
    const char *what;   /* static text of the first error */
    uint64_t is_first;  /* private: one bit a level, set until the first element was read */
    uint64_t is_object; /* private: one bit a level */
    bool has_value;     /* private: a value is due (after a key) */
};

void osb_json_reader_init(struct osb_json_reader *r, struct osb_slice input);
/* The type of the value that comes next; does not consume it. */
enum osb_json_type osb_json_peek(struct osb_json_reader *r);

/* Objects: enter, then next_key until false; each key's value must be read or skipped. */
void osb_json_enter_object(struct osb_json_reader *r);
/* The key as it stands in the input: one with escapes comes undecoded, and so is no known key. */
bool osb_json_next_key(struct osb_json_reader *r, struct osb_slice *ret_key);
/* The key decoded; into ARENA when it has escapes. */
bool osb_json_next_key_arena(struct osb_json_reader *r, struct osb_arena *arena,
                             struct osb_slice *ret_key);
/* Arrays: enter, then next_item until false; each item must be read or skipped. */
void osb_json_enter_array(struct osb_json_reader *r);
bool osb_json_next_item(struct osb_json_reader *r);

/* Scalars. A value of another type is -OSB_E_INVALID; RET is untouched then. */
void osb_json_read_bool(struct osb_json_reader *r, bool *ret);
/* Integers only: "1.0" and "1e2" are refused; out of range is -OSB_E_INVALID. */
void osb_json_read_i64(struct osb_json_reader *r, int64_t *ret);
void osb_json_read_double(struct osb_json_reader *r, double *ret);
/* Consumes null and returns true; false (nothing consumed) when the value is another. */
bool osb_json_read_null(struct osb_json_reader *r);
/* The string decoded into ARENA when it has escapes, else a slice of the input. */
void osb_json_read_string(struct osb_json_reader *r, struct osb_arena *arena,
                          struct osb_slice *ret);
/* Appends the decoded string to OUT. */
void osb_json_read_string_buf(struct osb_json_reader *r, struct osb_buf *out);
/* A NUL-terminated copy in ARENA; a string that holds U+0000 is -OSB_E_INVALID. */
void osb_json_read_cstr(struct osb_json_reader *r, struct osb_arena *arena, char **ret);
/* Validates and skips the next value of any type. */
void osb_json_skip(struct osb_json_reader *r);
/* Validates and skips the next value, and returns its bytes as they stand in the input. */
void osb_json_read_raw(struct osb_json_reader *r, struct osb_slice *ret);
/* Fails the reader from outside: the value read is not acceptable. WHAT is static text. */
void osb_json_reader_fail(struct osb_json_reader *r, int code, const char *what);
/* Byte offset of the next byte to be read. */
size_t osb_json_reader_offset(const struct osb_json_reader *r);
/* Nothing but blanks may follow. Returns 0 or the sticky error, with offset and reason in ERR. */
int osb_json_reader_finish(struct osb_json_reader *r, struct osb_err *err);
/* Only the sticky error: for streams in which more values follow. */
int osb_json_reader_check(struct osb_json_reader *r, struct osb_err *err);

#endif
