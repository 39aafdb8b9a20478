#ifndef POOLED_GUARD_H
#define POOLED_GUARD_H

// pg_guard calls f(arg) and returns 1, or 0 when f was left by a Rust panic.
int pg_guard(void (*f)(void *), void *arg);

#endif
