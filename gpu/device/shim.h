// A small C layer between Go and wgpu-native: every callback lives here, so that C never holds a Go pointer, and a whole
// pass is recorded in one call.
#ifndef POOLED_SHIM_H
#define POOLED_SHIM_H

#include "abi.h"

typedef struct {
  char name[256];
  char driver[256];
  uint32_t backend; // WGPUBackendType
  uint32_t type;    // WGPUAdapterType
  uint64_t max_buffer, max_binding;
  uint32_t shared_bytes, invocations, groups, storage_buffers, bindings;
} pg_adapter;

enum { PG_OK = 0, PG_INVALID = 1, PG_MEMORY = 2, PG_LOST = 3 };

typedef struct {
  WGPUDevice device;
  WGPUQueue queue;
  int code; // the first error since it was last taken
  int lost;
  int software;
  WGPUCommandBuffer ahead; // recorded for the next pg_step, or NULL
  char message[1024];
} pg_device;

typedef struct {
  WGPUComputePipeline pipeline;
  WGPUBindGroupLayout layout;
} pg_pipeline;

enum { PG_DISPATCH = 0, PG_COPY = 1, PG_CLEAR = 2 };

// pg_command is a dispatch (a pipeline, b bind group, x y z workgroups), a copy (a to b, x source offset, y target
// offset, z bytes) or a clearing with zeros (a buffer, x offset, z bytes).
typedef struct {
  uint64_t kind;
  void *a, *b;
  uint64_t x, y, z;
} pg_command;

typedef struct {
  WGPUBuffer buffer;
  uint64_t offset, size;
} pg_view;

size_t pg_adapters(pg_adapter *out, size_t room);
// pg_open asks for buffers and bindings of so many bytes.
pg_device *pg_open(size_t adapter, uint64_t buffer, uint64_t binding, pg_adapter *limits, char *message, size_t room);
WGPUBuffer pg_buffer(pg_device *d, uint64_t size, uint32_t usage);
void pg_buffer_free(pg_device *d, WGPUBuffer b);
void pg_write(pg_device *d, WGPUBuffer b, uint64_t offset, void const *data, size_t size);
void pg_pipeline_new(pg_device *d, char const *label, char const *code, uint32_t const *types, size_t n, pg_pipeline *out);
void pg_pipeline_free(pg_device *d, pg_pipeline p);
WGPUBindGroup pg_group(pg_device *d, WGPUBindGroupLayout layout, pg_view const *views, size_t n);
void pg_group_free(pg_device *d, WGPUBindGroup g);
// pg_run records and submits commands. With bytes it maps them of the buffer read, waits and copies them to out; without,
// it waits when wait is set.
void pg_run(pg_device *d, pg_command const *c, size_t n, WGPUBuffer read, size_t bytes, void *out, int wait);
// pg_step is pg_run that waits; between the two it records next, which a later call with ready submits instead of c.
void pg_step(pg_device *d, pg_command const *c, size_t n, int ready, WGPUBuffer read, size_t bytes, void *out, pg_command const *next, size_t next_n);
// pg_forget drops what was recorded ahead.
void pg_forget(pg_device *d);
// pg_misuse makes wgpu-native panic; a test's way to see that the panic stays an error.
void pg_misuse(pg_device *d, WGPUBuffer b);

#endif
