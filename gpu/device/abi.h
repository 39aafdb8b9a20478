// The part of the C interface of wgpu-native 0.19 that this package uses, declared here because a cgo package cannot
// include a header of another module. Names follow webgpu.h and wgpu.h; only what is needed is present.
#ifndef POOLED_WGPU_ABI_H
#define POOLED_WGPU_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct WGPUInstanceImpl *WGPUInstance;
typedef struct WGPUAdapterImpl *WGPUAdapter;
typedef struct WGPUDeviceImpl *WGPUDevice;
typedef struct WGPUQueueImpl *WGPUQueue;
typedef struct WGPUBufferImpl *WGPUBuffer;
typedef struct WGPUShaderModuleImpl *WGPUShaderModule;
typedef struct WGPUBindGroupLayoutImpl *WGPUBindGroupLayout;
typedef struct WGPUBindGroupImpl *WGPUBindGroup;
typedef struct WGPUPipelineLayoutImpl *WGPUPipelineLayout;
typedef struct WGPUComputePipelineImpl *WGPUComputePipeline;
typedef struct WGPUCommandEncoderImpl *WGPUCommandEncoder;
typedef struct WGPUComputePassEncoderImpl *WGPUComputePassEncoder;
typedef struct WGPUCommandBufferImpl *WGPUCommandBuffer;
typedef uint32_t WGPUBool;
typedef uint32_t WGPUFlags;

typedef struct WGPUChainedStruct {
  struct WGPUChainedStruct const *next;
  uint32_t sType;
} WGPUChainedStruct;

enum {
  WGPUSType_ShaderModuleWGSLDescriptor = 6,
  WGPUSType_InstanceExtras = 0x00030006,
  WGPUInstanceBackend_Vulkan = 1,
  WGPUInstanceBackend_Metal = 4,
  WGPUInstanceBackend_DX12 = 8,
  WGPUErrorType_OutOfMemory = 2,
  WGPUErrorType_DeviceLost = 5,
  WGPUMapMode_Read = 1,
  WGPUShaderStage_Compute = 4,
  WGPULogLevel_Off = 0,
  WGPUAdapterType_CPU = 2,
  WGPUDeviceLostReason_Destroyed = 2,
};

typedef struct {
  WGPUChainedStruct chain;
  WGPUFlags backends;
  WGPUFlags flags;
  uint32_t dx12ShaderCompiler;
  uint32_t gles3MinorVersion;
  const char *dxilPath;
  const char *dxcPath;
} WGPUInstanceExtras;

typedef struct {
  WGPUChainedStruct const *nextInChain;
} WGPUInstanceDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  WGPUFlags backends;
} WGPUInstanceEnumerateAdapterOptions;

typedef struct {
  void *nextInChain;
  char const *vendor;
  char const *architecture;
  char const *device;
  char const *description;
  uint32_t backendType;
  uint32_t adapterType;
  uint32_t vendorID;
  uint32_t deviceID;
} WGPUAdapterInfo;

typedef struct {
  uint32_t maxTextureDimension1D;
  uint32_t maxTextureDimension2D;
  uint32_t maxTextureDimension3D;
  uint32_t maxTextureArrayLayers;
  uint32_t maxBindGroups;
  uint32_t maxBindGroupsPlusVertexBuffers;
  uint32_t maxBindingsPerBindGroup;
  uint32_t maxDynamicUniformBuffersPerPipelineLayout;
  uint32_t maxDynamicStorageBuffersPerPipelineLayout;
  uint32_t maxSampledTexturesPerShaderStage;
  uint32_t maxSamplersPerShaderStage;
  uint32_t maxStorageBuffersPerShaderStage;
  uint32_t maxStorageTexturesPerShaderStage;
  uint32_t maxUniformBuffersPerShaderStage;
  uint64_t maxUniformBufferBindingSize;
  uint64_t maxStorageBufferBindingSize;
  uint32_t minUniformBufferOffsetAlignment;
  uint32_t minStorageBufferOffsetAlignment;
  uint32_t maxVertexBuffers;
  uint64_t maxBufferSize;
  uint32_t maxVertexAttributes;
  uint32_t maxVertexBufferArrayStride;
  uint32_t maxInterStageShaderComponents;
  uint32_t maxInterStageShaderVariables;
  uint32_t maxColorAttachments;
  uint32_t maxColorAttachmentBytesPerSample;
  uint32_t maxComputeWorkgroupStorageSize;
  uint32_t maxComputeInvocationsPerWorkgroup;
  uint32_t maxComputeWorkgroupSizeX;
  uint32_t maxComputeWorkgroupSizeY;
  uint32_t maxComputeWorkgroupSizeZ;
  uint32_t maxComputeWorkgroupsPerDimension;
} WGPULimits;

typedef struct {
  void *nextInChain;
  WGPULimits limits;
} WGPUSupportedLimits;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  WGPULimits limits;
} WGPURequiredLimits;

typedef void (*WGPUErrorCallback)(uint32_t type, char const *message, void *userdata);
typedef void (*WGPUDeviceLostCallback)(uint32_t reason, char const *message, void *userdata);
typedef void (*WGPURequestDeviceCallback)(uint32_t status, WGPUDevice device, char const *message, void *userdata);
typedef void (*WGPUStatusCallback)(uint32_t status, void *userdata);
typedef void (*WGPULogCallback)(uint32_t level, char const *message, void *userdata);

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
} WGPULabelDescriptor; // of a queue, a command encoder and a command buffer

typedef struct {
  WGPUChainedStruct const *nextInChain;
  WGPUErrorCallback callback;
  void *userdata;
} WGPUUncapturedErrorCallbackInfo;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  size_t requiredFeatureCount;
  uint32_t const *requiredFeatures;
  WGPURequiredLimits const *requiredLimits;
  WGPULabelDescriptor defaultQueue;
  WGPUDeviceLostCallback deviceLostCallback;
  void *deviceLostUserdata;
  WGPUUncapturedErrorCallbackInfo uncapturedErrorCallbackInfo;
} WGPUDeviceDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  WGPUFlags usage;
  uint64_t size;
  WGPUBool mappedAtCreation;
} WGPUBufferDescriptor;

typedef struct {
  WGPUChainedStruct chain;
  char const *code;
} WGPUShaderModuleWGSLDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  size_t hintCount;
  void const *hints;
} WGPUShaderModuleDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  uint32_t type;
  WGPUBool hasDynamicOffset;
  uint64_t minBindingSize;
} WGPUBufferBindingLayout;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  uint32_t binding;
  WGPUFlags visibility;
  WGPUBufferBindingLayout buffer;
  struct {
    WGPUChainedStruct const *nextInChain;
    uint32_t type;
  } sampler;
  struct {
    WGPUChainedStruct const *nextInChain;
    uint32_t sampleType;
    uint32_t viewDimension;
    WGPUBool multisampled;
  } texture;
  struct {
    WGPUChainedStruct const *nextInChain;
    uint32_t access;
    uint32_t format;
    uint32_t viewDimension;
  } storageTexture;
} WGPUBindGroupLayoutEntry;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  size_t entryCount;
  WGPUBindGroupLayoutEntry const *entries;
} WGPUBindGroupLayoutDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  uint32_t binding;
  WGPUBuffer buffer;
  uint64_t offset;
  uint64_t size;
  void *sampler;
  void *textureView;
} WGPUBindGroupEntry;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  WGPUBindGroupLayout layout;
  size_t entryCount;
  WGPUBindGroupEntry const *entries;
} WGPUBindGroupDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  size_t bindGroupLayoutCount;
  WGPUBindGroupLayout const *bindGroupLayouts;
} WGPUPipelineLayoutDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  WGPUShaderModule module;
  char const *entryPoint;
  size_t constantCount;
  void const *constants;
} WGPUProgrammableStageDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  WGPUPipelineLayout layout;
  WGPUProgrammableStageDescriptor compute;
} WGPUComputePipelineDescriptor;

typedef struct {
  WGPUChainedStruct const *nextInChain;
  char const *label;
  void const *timestampWrites;
} WGPUComputePassDescriptor;

extern void wgpuSetLogLevel(uint32_t level);
extern void wgpuSetLogCallback(WGPULogCallback callback, void *userdata);
extern WGPUInstance wgpuCreateInstance(WGPUInstanceDescriptor const *descriptor);
extern size_t wgpuInstanceEnumerateAdapters(WGPUInstance, WGPUInstanceEnumerateAdapterOptions const *, WGPUAdapter *);
extern void wgpuAdapterGetInfo(WGPUAdapter, WGPUAdapterInfo *);
extern void wgpuAdapterInfoFreeMembers(WGPUAdapterInfo);
extern WGPUBool wgpuAdapterGetLimits(WGPUAdapter, WGPUSupportedLimits *);
extern void wgpuAdapterRequestDevice(WGPUAdapter, WGPUDeviceDescriptor const *, WGPURequestDeviceCallback, void *);
extern WGPUQueue wgpuDeviceGetQueue(WGPUDevice);
extern WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice, WGPUBufferDescriptor const *);
extern WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice, WGPUShaderModuleDescriptor const *);
extern WGPUBindGroupLayout wgpuDeviceCreateBindGroupLayout(WGPUDevice, WGPUBindGroupLayoutDescriptor const *);
extern WGPUBindGroup wgpuDeviceCreateBindGroup(WGPUDevice, WGPUBindGroupDescriptor const *);
extern WGPUPipelineLayout wgpuDeviceCreatePipelineLayout(WGPUDevice, WGPUPipelineLayoutDescriptor const *);
extern WGPUComputePipeline wgpuDeviceCreateComputePipeline(WGPUDevice, WGPUComputePipelineDescriptor const *);
extern WGPUCommandEncoder wgpuDeviceCreateCommandEncoder(WGPUDevice, WGPULabelDescriptor const *);
extern WGPUComputePassEncoder wgpuCommandEncoderBeginComputePass(WGPUCommandEncoder, WGPUComputePassDescriptor const *);
extern void wgpuCommandEncoderCopyBufferToBuffer(WGPUCommandEncoder, WGPUBuffer, uint64_t, WGPUBuffer, uint64_t, uint64_t);
extern void wgpuCommandEncoderClearBuffer(WGPUCommandEncoder, WGPUBuffer, uint64_t offset, uint64_t size);
extern WGPUCommandBuffer wgpuCommandEncoderFinish(WGPUCommandEncoder, WGPULabelDescriptor const *);
extern void wgpuComputePassEncoderSetPipeline(WGPUComputePassEncoder, WGPUComputePipeline);
extern void wgpuComputePassEncoderSetBindGroup(WGPUComputePassEncoder, uint32_t, WGPUBindGroup, size_t, uint32_t const *);
extern void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder, uint32_t, uint32_t, uint32_t);
extern void wgpuComputePassEncoderEnd(WGPUComputePassEncoder);
extern void wgpuQueueSubmit(WGPUQueue, size_t, WGPUCommandBuffer const *);
extern void wgpuQueueWriteBuffer(WGPUQueue, WGPUBuffer, uint64_t offset, void const *data, size_t size);
extern void wgpuQueueOnSubmittedWorkDone(WGPUQueue, WGPUStatusCallback, void *userdata);
extern WGPUBool wgpuDevicePoll(WGPUDevice, WGPUBool wait, void const *submission);
extern void wgpuBufferMapAsync(WGPUBuffer, WGPUFlags mode, size_t offset, size_t size, WGPUStatusCallback, void *);
extern void const *wgpuBufferGetConstMappedRange(WGPUBuffer, size_t offset, size_t size);
extern void wgpuBufferUnmap(WGPUBuffer);
extern void wgpuBufferDestroy(WGPUBuffer);
extern void wgpuDeviceDestroy(WGPUDevice);
extern void wgpuDeviceRelease(WGPUDevice);
extern void wgpuQueueRelease(WGPUQueue);
extern void wgpuBufferRelease(WGPUBuffer);
extern void wgpuShaderModuleRelease(WGPUShaderModule);
extern void wgpuBindGroupLayoutRelease(WGPUBindGroupLayout);
extern void wgpuBindGroupRelease(WGPUBindGroup);
extern void wgpuPipelineLayoutRelease(WGPUPipelineLayout);
extern void wgpuComputePipelineRelease(WGPUComputePipeline);
extern void wgpuComputePassEncoderRelease(WGPUComputePassEncoder);
extern void wgpuCommandEncoderRelease(WGPUCommandEncoder);
extern void wgpuCommandBufferRelease(WGPUCommandBuffer);

#endif
