//go:build cgo && !js && !linux

#include "guard.h"

// Where the unwinder cannot be hooked a panic of wgpu-native still ends the process.
int pg_guard(void (*f)(void *), void *arg) {
  f(arg);
  return 1;
}
