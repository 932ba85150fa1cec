// SPDX-License-Identifier: Apache-2.0
/*
 * The library is not built with ThreadSanitizer, which therefore does not see that a batch which
 * was started on one thread happens before its event on another. These two words tell it; without
 * the sanitizer they are nothing.
 */
#ifndef RPC_TSAN_H
#define RPC_TSAN_H

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define rpc_handed_over(tag) __tsan_release(tag)
#define rpc_taken_over(tag)  __tsan_acquire(tag)
#else
#define rpc_handed_over(tag) ((void)(tag))
#define rpc_taken_over(tag)  ((void)(tag))
#endif

#endif
