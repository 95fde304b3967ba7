// Bundle adjustment's normal equations: residuals and their derivatives by dual numbers (nine of the camera, three of
// the point), robust weights, and J^T J of cameras (a block each) and of points (atomics).
#include <cuda_runtime.h>
#define N 12
#define PACKED 45

struct Jet {
    float a, v[N];
    __device__ Jet() {}
    __device__ Jet(float x) : a(x) {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = 0.0f;
    }
    __device__ Jet(float x, int k) : Jet(x) { v[k] = 1.0f; }
};

__device__ __forceinline__ Jet operator+(const Jet &x, const Jet &y) {
    Jet r;
    r.a = x.a + y.a;
#pragma unroll
    for (int i = 0; i < N; i++)
        r.v[i] = x.v[i] + y.v[i];
    return r;
}
__device__ __forceinline__ Jet operator-(const Jet &x, const Jet &y) {
    Jet r;
    r.a = x.a - y.a;
#pragma unroll
    for (int i = 0; i < N; i++)
        r.v[i] = x.v[i] - y.v[i];
    return r;
}
__device__ __forceinline__ Jet operator*(const Jet &x, const Jet &y) {
    Jet r;
    r.a = x.a * y.a;
#pragma unroll
    for (int i = 0; i < N; i++)
        r.v[i] = x.a * y.v[i] + x.v[i] * y.a;
    return r;
}
__device__ __forceinline__ Jet operator/(const Jet &x, const Jet &y) {
    Jet r;
    float inv = 1.0f / y.a;
    r.a = x.a * inv;
#pragma unroll
    for (int i = 0; i < N; i++)
        r.v[i] = (x.v[i] - r.a * y.v[i]) * inv;
    return r;
}
__device__ __forceinline__ Jet chain(const Jet &x, float value, float slope) {
    Jet r;
    r.a = value;
#pragma unroll
    for (int i = 0; i < N; i++)
        r.v[i] = slope * x.v[i];
    return r;
}
__device__ __forceinline__ Jet sqrt(const Jet &x) {
    float s = sqrtf(x.a);
    return chain(x, s, 0.5f / s);
}
__device__ __forceinline__ Jet sin(const Jet &x) {
    return chain(x, sinf(x.a), cosf(x.a));
}
__device__ __forceinline__ Jet cos(const Jet &x) {
    return chain(x, cosf(x.a), -sinf(x.a));
}

// Camera: rotation as a vector, translation, focal length, two of distortion (Snavely's model).
template <typename T> __device__ void project(const T *camera, const T *point, T *pixel) {
    T theta2 = camera[0] * camera[0] + camera[1] * camera[1] + camera[2] * camera[2];
    T theta = sqrt(theta2), c = cos(theta), s = sin(theta);
    T axis[3] = {camera[0] / theta, camera[1] / theta, camera[2] / theta};
    T cross[3] = {axis[1] * point[2] - axis[2] * point[1], axis[2] * point[0] - axis[0] * point[2],
                  axis[0] * point[1] - axis[1] * point[0]};
    T along = (axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2]) * (T(1.0f) - c);
    T p[3];
    for (int i = 0; i < 3; i++)
        p[i] = point[i] * c + cross[i] * s + axis[i] * along + camera[3 + i];
    T x = T(0.0f) - p[0] / p[2], y = T(0.0f) - p[1] / p[2];
    T r2 = x * x + y * y;
    T scale = camera[6] * (T(1.0f) + r2 * (camera[7] + r2 * camera[8]));
    pixel[0] = scale * x;
    pixel[1] = scale * y;
}

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset; offset >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

// A block of 128 a camera, whose observations lie together.
extern "C" __global__ void __launch_bounds__(128)
ba_normal(const float *__restrict__ cameras, const float *__restrict__ points, const int *__restrict__ first,
          const int *__restrict__ point_of, const float2 *__restrict__ seen, float *__restrict__ camera_hessian,
          float *__restrict__ camera_gradient, float *__restrict__ point_hessian, float *__restrict__ point_gradient,
          float2 *__restrict__ residuals, float huber) {
    __shared__ float sums[4][PACKED + 9];
    const int cam = blockIdx.x;
    float mine[PACKED + 9];
    for (int i = 0; i < PACKED + 9; i++)
        mine[i] = 0.0f;
    for (int o = first[cam] + threadIdx.x; o < first[cam + 1]; o += blockDim.x) {
        int which = point_of[o];
        Jet camera[9], point[3], pixel[2];
        for (int i = 0; i < 9; i++)
            camera[i] = Jet(cameras[cam * 9 + i], i);
        for (int i = 0; i < 3; i++)
            point[i] = Jet(points[which * 3 + i], 9 + i);
        project(camera, point, pixel);
        float2 target = seen[o];
        float rx = pixel[0].a - target.x, ry = pixel[1].a - target.y;
        residuals[o] = make_float2(rx, ry);
        float norm = sqrtf(rx * rx + ry * ry);
        float weight = norm > huber ? huber / norm : 1.0f;
        int k = 0;
        for (int i = 0; i < 9; i++)
            for (int j = 0; j <= i; j++)
                mine[k++] += weight * (pixel[0].v[i] * pixel[0].v[j] + pixel[1].v[i] * pixel[1].v[j]);
        for (int i = 0; i < 9; i++)
            mine[k++] += weight * (pixel[0].v[i] * rx + pixel[1].v[i] * ry);
        for (int i = 9, at = 0; i < 12; i++) {
            for (int j = 9; j <= i; j++, at++)
                atomicAdd(&point_hessian[which * 6 + at],
                          weight * (pixel[0].v[i] * pixel[0].v[j] + pixel[1].v[i] * pixel[1].v[j]));
            atomicAdd(&point_gradient[which * 3 + i - 9], weight * (pixel[0].v[i] * rx + pixel[1].v[i] * ry));
        }
    }
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < PACKED + 9; i++) {
        float v = warp_sum(mine[i]);
        if (lane == 0)
            sums[warp][i] = v;
    }
    __syncthreads();
    if (threadIdx.x < PACKED + 9) {
        float v = sums[0][threadIdx.x] + sums[1][threadIdx.x] + sums[2][threadIdx.x] + sums[3][threadIdx.x];
        if (threadIdx.x < PACKED)
            camera_hessian[cam * PACKED + threadIdx.x] = v;
        else
            camera_gradient[cam * 9 + threadIdx.x - PACKED] = v;
    }
}
