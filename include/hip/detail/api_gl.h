// OpenGL interoperability.
#ifndef BAREHIP_HIP_DETAIL_API_GL_H
#define BAREHIP_HIP_DETAIL_API_GL_H

#include <hip/detail/types.h>

typedef unsigned int GLuint;
typedef unsigned int GLenum;

HIP_API_BEGIN

hipError_t hipGLGetDevices(unsigned int* pHipDeviceCount, int* pHipDevices, unsigned int hipDeviceCount,
                           hipGLDeviceList deviceList);
hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource** resource, GLuint buffer, unsigned int flags);
hipError_t hipGraphicsGLRegisterImage(hipGraphicsResource** resource, GLuint image, GLenum target, unsigned int flags);
hipError_t hipGraphicsMapResources(int count, hipGraphicsResource_t* resources, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipGraphicsResourceGetMappedPointer(void** devPtr, size_t* size, hipGraphicsResource_t resource);
hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t* array, hipGraphicsResource_t resource,
                                                unsigned int arrayIndex, unsigned int mipLevel);
hipError_t hipGraphicsUnmapResources(int count, hipGraphicsResource_t* resources,
                                     hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource);

HIP_API_END

#endif
