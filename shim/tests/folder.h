// SPDX-License-Identifier: Apache-2.0
/* A temporary folder for a test, as cmocka's setup and teardown; *state is its path. */
#ifndef SHIM_TESTS_FOLDER_H
#define SHIM_TESTS_FOLDER_H

int folder_setup(void **state);
int folder_teardown(void **state);
/* FOLDER/NAME, valid until the next but three calls. */
const char *folder_path(void **state, const char *name);

#endif
