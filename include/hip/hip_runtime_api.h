// The HIP host API: valid C11, host C++ and HIP. hip_runtime.h adds the device-side language.
#ifndef BAREHIP_HIP_HIP_RUNTIME_API_H
#define BAREHIP_HIP_HIP_RUNTIME_API_H

#include <hip/detail/types.h>
#include <hip/hip_common.h>
#include <hip/hip_vector_types.h>

#ifdef HIP_API_PER_THREAD_DEFAULT_STREAM
#include <hip/detail/per_thread_stream.h>
#endif

#include <hip/detail/api_compiler.h>
#include <hip/detail/api_context.h>
#include <hip/detail/api_cooperative.h>
#include <hip/detail/api_device.h>
#include <hip/detail/api_error.h>
#include <hip/detail/api_event.h>
#include <hip/detail/api_execution.h>
#include <hip/detail/api_external.h>
#include <hip/detail/api_gl.h>
#include <hip/detail/api_graph.h>
#include <hip/detail/api_init.h>
#include <hip/detail/api_ipc.h>
#include <hip/detail/api_managed.h>
#include <hip/detail/api_memory.h>
#include <hip/detail/api_memory_2d.h>
#include <hip/detail/api_mempool.h>
#include <hip/detail/api_module.h>
#include <hip/detail/api_occupancy.h>
#include <hip/detail/api_peer.h>
#include <hip/detail/api_profiler.h>
#include <hip/detail/api_stream.h>
#include <hip/detail/api_stream_memops.h>
#include <hip/detail/api_texture.h>
#include <hip/detail/api_virtual_memory.h>

#if defined(__cplusplus) && !defined(__HIP_DISABLE_CPP_FUNCTIONS__)
#include <hip/detail/api_templates.h>
#endif

#endif
