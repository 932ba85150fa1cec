// SPDX-License-Identifier: Apache-2.0
/*
 * Whole requests: lines of "METHOD TARGET BODY" (methods as in fixture.h) against an empty world,
 * then the collectors and a list. Whatever comes in, each is answered or refused with a status.
 */
#include "fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 12 };

static struct world *world;

static bool is_json(const char *text)
{
    struct osb_json *tree = NULL;
    int r = osb_json_parse(osb_slice_str(text), &tree, NULL);
    osb_json_free(tree);
    return r >= 0;
}

static void run_line(struct osb_slice line)
{
    struct osb_slice word;
    osb_slice_split(&line, ' ', &word);
    _cleanup_free_ char *method = osb_slice_dup(word);
    if (!osb_slice_split(&line, ' ', &word))
        return;
    _cleanup_free_ char *target = osb_slice_dup(word);
    _cleanup_free_ char *body = osb_slice_dup(line);
    if (body[0] && !is_json(body))
        return;
    int status = world_call(world, method, target, body[0] ? body : NULL);
    osb_assert(status >= 200 && status <= 599);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_slice rest = osb_slice(data, size), line;
    if (!world)
        world = world_new();
    for (int n = 0; n < LINES_MAX && osb_slice_split(&rest, '\n', &line); n++)
        run_line(line);
    world_collect(world);
    world_call(world, "TABLE", PODS, NULL);
    world_call(world, "GET", SANDBOXES "?limit=1", NULL);
    world_empty(world);
    return 0;
}
