// SPDX-License-Identifier: Apache-2.0
// Runs a libFuzzer target over the files of the folders named on the command line, so that a
// corpus is an ordinary test in builds without libFuzzer.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    size_t size = 0;
    size_t capacity = 1 << 16;
    uint8_t *data = malloc(capacity);
    for (size_t n; data && (n = fread(data + size, 1, capacity - size, file)) > 0;) {
        size += n;
        if (size == capacity) {
            capacity *= 2;
            data = realloc(data, capacity);
        }
    }
    fclose(file);
    if (!data)
        return -1;
    /* An exact-size copy, so that AddressSanitizer sees the first byte read past the end. */
    uint8_t *exact = malloc(size ? size : 1);
    if (exact) {
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(dir));) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
            if (replay_file(path) < 0)
                return 1;
            files++;
        }
        closedir(dir);
    }
    if (!files) {
        fprintf(stderr, "no corpus file: a replay of nothing proves nothing\n");
        return 1;
    }
    printf("replayed %d files\n", files);
    return 0;
}
