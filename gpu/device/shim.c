//go:build cgo && !js

#include "shim.h"
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static WGPUAdapter *adapters;
static size_t adapter_count;

static void no_log(uint32_t level, char const *message, void *userdata) {
  (void)level, (void)message, (void)userdata;
}

static void copy_text(char *to, size_t room, char const *from) { snprintf(to, room, "%s", from ? from : ""); }

static void describe(WGPUAdapter a, pg_adapter *out) {
  memset(out, 0, sizeof *out);
  WGPUAdapterInfo info;
  memset(&info, 0, sizeof info);
  wgpuAdapterGetInfo(a, &info);
  // wgpu-native puts the name into the description, and numbers into the vendor and the device.
  copy_text(out->name, sizeof out->name, info.description && *info.description ? info.description : info.device);
  copy_text(out->driver, sizeof out->driver, info.architecture);
  out->backend = info.backendType;
  out->type = info.adapterType;
  wgpuAdapterInfoFreeMembers(info);
  WGPUSupportedLimits s;
  memset(&s, 0, sizeof s);
  wgpuAdapterGetLimits(a, &s);
  out->max_buffer = s.limits.maxBufferSize;
  out->max_binding = s.limits.maxStorageBufferBindingSize;
  out->shared_bytes = s.limits.maxComputeWorkgroupStorageSize;
  out->invocations = s.limits.maxComputeInvocationsPerWorkgroup;
  out->groups = s.limits.maxComputeWorkgroupsPerDimension;
  out->storage_buffers = s.limits.maxStorageBuffersPerShaderStage;
  out->bindings = s.limits.maxBindingsPerBindGroup;
}

// pg_adapters lists the adapters. OpenGL is left out: it computes wrongly or not at all, and its loader writes to stderr.
// The adapters are kept for the life of the process, so that their numbers stay valid.
size_t pg_adapters(pg_adapter *out, size_t room) {
  if (!adapters) {
    wgpuSetLogCallback(no_log, NULL);
    wgpuSetLogLevel(WGPULogLevel_Off);
    WGPUFlags backends = WGPUInstanceBackend_Vulkan | WGPUInstanceBackend_Metal | WGPUInstanceBackend_DX12;
    WGPUInstanceExtras extras;
    memset(&extras, 0, sizeof extras);
    extras.chain.sType = WGPUSType_InstanceExtras;
    extras.backends = backends;
    WGPUInstanceDescriptor desc = {&extras.chain};
#ifdef __linux__
    // Mesa's layer that picks a default GPU is of no use here, and without a desktop it writes to stderr.
    int chosen = getenv("NODEVICE_SELECT") != NULL;
    if (!chosen) setenv("NODEVICE_SELECT", "1", 1);
#endif
    WGPUInstance instance = wgpuCreateInstance(&desc);
    WGPUInstanceEnumerateAdapterOptions options = {NULL, backends};
    size_t n = wgpuInstanceEnumerateAdapters(instance, &options, NULL);
    adapters = calloc(n + 1, sizeof *adapters);
    if (!adapters) abort();
    adapter_count = wgpuInstanceEnumerateAdapters(instance, &options, adapters);
#ifdef __linux__
    if (!chosen) unsetenv("NODEVICE_SELECT");
#endif
  }
  for (size_t i = 0; i < adapter_count && i < room; i++) describe(adapters[i], &out[i]);
  return adapter_count;
}

static void set_error(pg_device *d, int code, char const *message) {
  if (code == PG_LOST) d->lost = 1;
  if (d->code == PG_OK) {
    d->code = code;
    copy_text(d->message, sizeof d->message, message);
  }
}

static void on_error(uint32_t type, char const *message, void *userdata) {
  int code = type == WGPUErrorType_DeviceLost ? PG_LOST : type == WGPUErrorType_OutOfMemory ? PG_MEMORY : PG_INVALID;
  set_error(userdata, code, message);
}

static void on_lost(uint32_t reason, char const *message, void *userdata) {
  (void)reason;
  set_error(userdata, PG_LOST, message);
}

struct request {
  WGPUDevice device;
  char *message;
  size_t room;
};

static void on_device(uint32_t status, WGPUDevice device, char const *message, void *userdata) {
  struct request *r = userdata;
  if (status == 0) r->device = device;
  else copy_text(r->message, r->room, message);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// default_limits are those that every WebGPU device has; wgpu's own "what the adapter has" leaves fields unset.
static WGPULimits default_limits(void) {
  WGPULimits l;
  memset(&l, 0, sizeof l);
  l.maxTextureDimension1D = l.maxTextureDimension2D = 8192;
  l.maxTextureDimension3D = 2048;
  l.maxTextureArrayLayers = 256;
  l.maxBindGroups = 4;
  l.maxBindGroupsPlusVertexBuffers = 24;
  l.maxBindingsPerBindGroup = 1000;
  l.maxDynamicUniformBuffersPerPipelineLayout = 8;
  l.maxDynamicStorageBuffersPerPipelineLayout = 4;
  l.maxSampledTexturesPerShaderStage = l.maxSamplersPerShaderStage = 16;
  l.maxStorageBuffersPerShaderStage = 8;
  l.maxStorageTexturesPerShaderStage = 4;
  l.maxUniformBuffersPerShaderStage = 12;
  l.maxUniformBufferBindingSize = 64 << 10;
  l.maxStorageBufferBindingSize = 128 << 20;
  l.minUniformBufferOffsetAlignment = l.minStorageBufferOffsetAlignment = 256;
  l.maxVertexBuffers = 8;
  l.maxBufferSize = 256 << 20;
  l.maxVertexAttributes = 16;
  l.maxVertexBufferArrayStride = 2048;
  l.maxInterStageShaderComponents = 60;
  l.maxInterStageShaderVariables = 16;
  l.maxColorAttachments = 8;
  l.maxColorAttachmentBytesPerSample = 32;
  l.maxComputeWorkgroupStorageSize = 16 << 10;
  l.maxComputeInvocationsPerWorkgroup = l.maxComputeWorkgroupSizeX = l.maxComputeWorkgroupSizeY = 256;
  l.maxComputeWorkgroupSizeZ = 64;
  l.maxComputeWorkgroupsPerDimension = 65535;
  return l;
}

pg_device *pg_open(size_t adapter, uint64_t buffer, uint64_t binding, pg_adapter *limits, char *message, size_t room) {
  if (adapter >= adapter_count) {
    copy_text(message, room, "no such adapter");
    return NULL;
  }
  pg_device *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  WGPURequiredLimits required = {NULL, default_limits()};
  WGPUSupportedLimits have;
  memset(&have, 0, sizeof have);
  wgpuAdapterGetLimits(adapters[adapter], &have);
  WGPULimits *l = &required.limits;
  l->maxBufferSize = buffer;
  l->maxStorageBufferBindingSize = binding;
  l->maxComputeWorkgroupStorageSize = have.limits.maxComputeWorkgroupStorageSize;
  l->maxComputeInvocationsPerWorkgroup = have.limits.maxComputeInvocationsPerWorkgroup;
  l->maxComputeWorkgroupSizeX = have.limits.maxComputeWorkgroupSizeX;
  l->maxStorageBuffersPerShaderStage = least(16, have.limits.maxStorageBuffersPerShaderStage);
  // What a compute device does not use is taken as low as the adapter has it.
  l->maxTextureDimension1D = least(l->maxTextureDimension1D, have.limits.maxTextureDimension1D);
  l->maxTextureDimension2D = least(l->maxTextureDimension2D, have.limits.maxTextureDimension2D);
  l->maxTextureDimension3D = least(l->maxTextureDimension3D, have.limits.maxTextureDimension3D);
  WGPUDeviceDescriptor desc;
  memset(&desc, 0, sizeof desc);
  desc.requiredLimits = &required;
  desc.deviceLostCallback = on_lost;
  desc.deviceLostUserdata = d;
  desc.uncapturedErrorCallbackInfo.callback = on_error;
  desc.uncapturedErrorCallbackInfo.userdata = d;
  struct request r = {NULL, message, room};
  wgpuAdapterRequestDevice(adapters[adapter], &desc, on_device, &r);
  if (!r.device) {
    free(d);
    return NULL;
  }
  d->device = r.device;
  d->queue = wgpuDeviceGetQueue(r.device);
  describe(adapters[adapter], limits);
  d->software = limits->type == WGPUAdapterType_CPU;
  return d;
}

static int try(pg_device *d, void (*f)(void *), void *arg) {
  if (d->lost) {
    set_error(d, PG_LOST, "the device was lost before");
    return 0;
  }
  if (pg_guard(f, arg)) return 1;
  set_error(d, PG_LOST, "the driver gave up");
  return 0;
}

struct buffer_args {
  pg_device *d;
  WGPUBufferDescriptor desc;
  WGPUBuffer out;
};

static void make_buffer(void *arg) {
  struct buffer_args *a = arg;
  a->out = wgpuDeviceCreateBuffer(a->d->device, &a->desc);
}

WGPUBuffer pg_buffer(pg_device *d, uint64_t size, uint32_t usage) {
  struct buffer_args a = {d, {NULL, NULL, usage, size, 0}, NULL};
  try(d, make_buffer, &a);
  return a.out;
}

static void drop_buffer(void *arg) {
  wgpuBufferDestroy(arg);
  wgpuBufferRelease(arg);
}

void pg_buffer_free(pg_device *d, WGPUBuffer b) {
  if (!d->lost) try(d, drop_buffer, b);
}

struct write_args {
  pg_device *d;
  WGPUBuffer b;
  uint64_t offset;
  void const *data;
  size_t size;
};

static void write_buffer(void *arg) {
  struct write_args *a = arg;
  wgpuQueueWriteBuffer(a->d->queue, a->b, a->offset, a->data, a->size);
}

void pg_write(pg_device *d, WGPUBuffer b, uint64_t offset, void const *data, size_t size) {
  struct write_args a = {d, b, offset, data, size};
  try(d, write_buffer, &a);
}

struct pipeline_args {
  pg_device *d;
  char const *label, *code;
  uint32_t const *types;
  size_t n;
  pg_pipeline *out;
};

static void make_pipeline(void *arg) {
  struct pipeline_args *a = arg;
  WGPUBindGroupLayoutEntry entries[32];
  memset(entries, 0, sizeof entries);
  for (size_t i = 0; i < a->n && i < 32; i++) {
    entries[i].binding = i;
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = a->types[i];
  }
  WGPUShaderModuleWGSLDescriptor wgsl = {{NULL, WGPUSType_ShaderModuleWGSLDescriptor}, a->code};
  WGPUShaderModuleDescriptor module_desc = {&wgsl.chain, a->label, 0, NULL};
  WGPUShaderModule module = wgpuDeviceCreateShaderModule(a->d->device, &module_desc);
  if (!module || a->d->code != PG_OK) return;
  WGPUBindGroupLayoutDescriptor layout_desc = {NULL, a->label, a->n, entries};
  a->out->layout = wgpuDeviceCreateBindGroupLayout(a->d->device, &layout_desc);
  if (a->d->code != PG_OK) return;
  WGPUPipelineLayoutDescriptor pl_desc = {NULL, a->label, 1, &a->out->layout};
  WGPUPipelineLayout pl = wgpuDeviceCreatePipelineLayout(a->d->device, &pl_desc);
  if (a->d->code != PG_OK) return;
  WGPUComputePipelineDescriptor desc = {NULL, a->label, pl, {NULL, module, "main", 0, NULL}};
  a->out->pipeline = wgpuDeviceCreateComputePipeline(a->d->device, &desc);
  wgpuPipelineLayoutRelease(pl);
  wgpuShaderModuleRelease(module);
}

void pg_pipeline_new(pg_device *d, char const *label, char const *code, uint32_t const *types, size_t n, pg_pipeline *out) {
  memset(out, 0, sizeof *out);
  struct pipeline_args a = {d, label, code, types, n, out};
  try(d, make_pipeline, &a);
}

static void drop_pipeline(void *arg) {
  pg_pipeline *p = arg;
  if (p->pipeline) wgpuComputePipelineRelease(p->pipeline);
  if (p->layout) wgpuBindGroupLayoutRelease(p->layout);
}

void pg_pipeline_free(pg_device *d, pg_pipeline p) {
  if (!d->lost) try(d, drop_pipeline, &p);
}

struct group_args {
  pg_device *d;
  WGPUBindGroupLayout layout;
  pg_view const *views;
  size_t n;
  WGPUBindGroup out;
};

static void make_group(void *arg) {
  struct group_args *a = arg;
  WGPUBindGroupEntry entries[32];
  memset(entries, 0, sizeof entries);
  for (size_t i = 0; i < a->n && i < 32; i++) {
    entries[i].binding = i;
    entries[i].buffer = a->views[i].buffer;
    entries[i].offset = a->views[i].offset;
    entries[i].size = a->views[i].size;
  }
  WGPUBindGroupDescriptor desc = {NULL, NULL, a->layout, a->n, entries};
  a->out = wgpuDeviceCreateBindGroup(a->d->device, &desc);
}

WGPUBindGroup pg_group(pg_device *d, WGPUBindGroupLayout layout, pg_view const *views, size_t n) {
  struct group_args a = {d, layout, views, n, NULL};
  try(d, make_group, &a);
  return a.out;
}

static void drop_group(void *arg) { wgpuBindGroupRelease(arg); }

void pg_group_free(pg_device *d, WGPUBindGroup g) {
  if (!d->lost) try(d, drop_group, g);
}

struct run_args {
  pg_device *d;
  pg_command const *c;
  size_t n;
  WGPUBuffer read;
  size_t bytes;
  void *out;
  int wait;
  int ready;
  pg_command const *next;
  size_t next_n;
};

static void on_status(uint32_t status, void *userdata) { *(volatile int *)userdata = (int)status; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// wait_for polls until *status is set. A blocking poll would be simpler and is wrong: after 5 seconds wgpu-native 0.19
// takes unfinished work for done. For the first 200 µs it polls without pause, since a decode step's end is near; a
// software device needs the processor itself. Later the pause is an eighth of what has been waited.
static void wait_for(pg_device *d, volatile int *status) {
  double begin = now();
  double least = d->software ? 100e-6 : 20e-6;
  while (*status < 0 && !d->lost) {
    wgpuDevicePoll(d->device, 0, NULL);
    if (*status >= 0) return;
    double waited = now() - begin;
    if (waited > 200e-6 || d->software) {
      double pause = waited / 8 < least ? least : waited / 8 > 1e-3 ? 1e-3 : waited / 8;
      struct timespec t = {0, (long)(pause * 1e9)};
      nanosleep(&t, NULL);
    }
  }
}

static WGPUCommandBuffer record(pg_device *d, pg_command const *list, size_t n) {
  WGPULabelDescriptor none = {NULL, NULL};
  WGPUComputePassDescriptor pass_desc = {NULL, NULL, NULL};
  WGPUCommandEncoder enc = wgpuDeviceCreateCommandEncoder(d->device, &none);
  WGPUComputePassEncoder pass = NULL;
  void *pipeline = NULL;
  for (size_t i = 0; i < n; i++) {
    pg_command const *c = &list[i];
    if (c->kind != PG_DISPATCH && pass) {
      wgpuComputePassEncoderEnd(pass);
      wgpuComputePassEncoderRelease(pass);
      pass = NULL;
    }
    switch (c->kind) {
    case PG_DISPATCH:
      if (!pass) {
        pass = wgpuCommandEncoderBeginComputePass(enc, &pass_desc);
        pipeline = NULL;
      }
      if (pipeline != c->a) wgpuComputePassEncoderSetPipeline(pass, c->a);
      pipeline = c->a;
      wgpuComputePassEncoderSetBindGroup(pass, 0, c->b, 0, NULL);
      wgpuComputePassEncoderDispatchWorkgroups(pass, c->x, c->y, c->z);
      break;
    case PG_COPY:
      wgpuCommandEncoderCopyBufferToBuffer(enc, c->a, c->x, c->b, c->y, c->z);
      break;
    case PG_CLEAR:
      wgpuCommandEncoderClearBuffer(enc, c->a, c->x, c->z);
      break;
    }
  }
  if (pass) {
    wgpuComputePassEncoderEnd(pass);
    wgpuComputePassEncoderRelease(pass);
  }
  return wgpuCommandEncoderFinish(enc, &none);
}

static void drop_ahead(pg_device *d) {
  if (d->ahead) wgpuCommandBufferRelease(d->ahead);
  d->ahead = NULL;
}

static void forget(void *arg) { drop_ahead(arg); }

void pg_forget(pg_device *d) {
  if (d->ahead && !d->lost) try(d, forget, d);
}

static void run(void *arg) {
  struct run_args *a = arg;
  pg_device *d = a->d;
  if (!a->ready) drop_ahead(d);
  WGPUCommandBuffer commands = a->ready ? d->ahead : record(d, a->c, a->n);
  d->ahead = NULL;
  if (d->code == PG_OK) wgpuQueueSubmit(d->queue, 1, &commands);
  if (commands) wgpuCommandBufferRelease(commands);
  if (d->code != PG_OK || d->lost) return;
  if (a->next_n) d->ahead = record(d, a->next, a->next_n);
  if (d->code != PG_OK || d->lost) return;
  // The status outlives this call only where the device is lost, and then nothing calls back any more; still, it is not
  // on the stack, so that a late callback could do no harm.
  static _Thread_local volatile int status;
  status = -1;
  if (a->bytes) {
    wgpuBufferMapAsync(a->read, WGPUMapMode_Read, 0, a->bytes, on_status, (void *)&status);
    wait_for(d, &status);
    if (status != 0) {
      set_error(d, status == 3 ? PG_LOST : PG_INVALID, "mapping the result");
      return;
    }
    void const *data = wgpuBufferGetConstMappedRange(a->read, 0, a->bytes);
    memcpy(a->out, data, a->bytes);
    wgpuBufferUnmap(a->read);
  } else if (a->wait) {
    wgpuQueueOnSubmittedWorkDone(d->queue, on_status, (void *)&status);
    wait_for(d, &status);
    if (status != 0) set_error(d, PG_LOST, "waiting for the queue");
  }
}

void pg_run(pg_device *d, pg_command const *c, size_t n, WGPUBuffer read, size_t bytes, void *out, int wait) {
  struct run_args a = {d, c, n, read, bytes, out, wait, 0, NULL, 0};
  try(d, run, &a);
}

void pg_step(pg_device *d, pg_command const *c, size_t n, int ready, WGPUBuffer read, size_t bytes, void *out, pg_command const *next, size_t next_n) {
  struct run_args a = {d, c, n, read, bytes, out, 1, ready && d->ahead, next, next_n};
  try(d, run, &a);
}

static void misuse(void *arg) { wgpuBufferGetConstMappedRange(arg, 0, 4); }

void pg_misuse(pg_device *d, WGPUBuffer b) { try(d, misuse, b); }
