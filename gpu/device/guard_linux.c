//go:build cgo && !js

// wgpu-native 0.19 answers some errors, a device lost while it is polled among them, with a Rust panic, which would end
// the process: C cannot catch it. Here it becomes a return value. Rust throws through _Unwind_RaiseException, which this
// file puts itself in front of: a Rust panic inside pg_guard is turned into a forced unwinding, which runs the
// destructors of every Rust frame (locks are given back) and stops at pg_guard. Everything else goes to the real one.

#define _GNU_SOURCE
#include "guard.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>

struct frame {
  jmp_buf env;
  uintptr_t sp; // of pg_guard's own frame: unwinding stops when it is reached
};

static _Thread_local struct frame *innermost;

// rust is the exception class of Rust panics, "MOZ\0RUST".
static const _Unwind_Exception_Class rust = 0x4d4f5a0052555354;

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *e, struct _Unwind_Context *context, void *arg) {
  (void)version, (void)class, (void)e;
  struct frame *f = arg;
  if ((actions & _UA_END_OF_STACK) || (uintptr_t)_Unwind_GetCFA(context) >= f->sp) longjmp(f->env, 1);
  return _URC_NO_REASON;
}

_Unwind_Reason_Code _Unwind_RaiseException(struct _Unwind_Exception *e) {
  if (innermost && e->exception_class == rust) return _Unwind_ForcedUnwind(e, stop, innermost);
  _Unwind_Reason_Code (*real)(struct _Unwind_Exception *) =
      (_Unwind_Reason_Code(*)(struct _Unwind_Exception *))dlsym(RTLD_NEXT, "_Unwind_RaiseException");
  if (!real) abort();
  return real(e);
}

int __attribute__((noinline)) pg_guard(void (*f)(void *), void *arg) {
  struct frame *outer = innermost, here;
  here.sp = (uintptr_t)__builtin_frame_address(0);
  if (setjmp(here.env)) {
    innermost = outer;
    return 0;
  }
  innermost = &here;
  f(arg);
  innermost = outer;
  return 1;
}
