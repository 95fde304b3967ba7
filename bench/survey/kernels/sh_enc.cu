// Spherical harmonics of directions up to a degree that is an argument, with derivatives if wanted, a thread a
// direction; the gradient of directions by a thread for each component.
#include <stdint.h>

template <typename T>
__host__ __device__ T div_round_up(T val, T divisor) {
    return (val + divisor - 1) / divisor;
}

extern "C" __global__ void sh_forward(const float *__restrict__ inputs, float *__restrict__ outputs, uint32_t B,
                                      uint32_t D, uint32_t C, float *__restrict__ dy_dx) {
    const uint32_t b = threadIdx.x + blockIdx.x * blockDim.x;
    if (b >= B)
        return;
    const uint32_t C2 = C * C;
    inputs += b * D;
    outputs += b * C2;
    float x = inputs[0], y = inputs[1], z = inputs[2];
    float xy = x * y, xz = x * z, yz = y * z, x2 = x * x, y2 = y * y, z2 = z * z;

    auto write_sh = [&]() {
        outputs[0] = 0.28209479177387814f;
        if (C <= 1)
            return;
        outputs[1] = -0.48860251190291987f * y;
        outputs[2] = 0.48860251190291987f * z;
        outputs[3] = -0.48860251190291987f * x;
        if (C <= 2)
            return;
        outputs[4] = 1.0925484305920792f * xy;
        outputs[5] = -1.0925484305920792f * yz;
        outputs[6] = 0.94617469575755997f * z2 - 0.31539156525251999f;
        outputs[7] = -1.0925484305920792f * xz;
        outputs[8] = 0.54627421529603959f * x2 - 0.54627421529603959f * y2;
        if (C <= 3)
            return;
        outputs[9] = 0.59004358992664352f * y * (-3.0f * x2 + y2);
        outputs[10] = 2.8906114426405538f * xy * z;
        outputs[11] = 0.45704579946446572f * y * (1.0f - 5.0f * z2);
        outputs[12] = 0.3731763325901154f * z * (5.0f * z2 - 3.0f);
        outputs[13] = 0.45704579946446572f * x * (1.0f - 5.0f * z2);
        outputs[14] = 1.4453057213202769f * z * (x2 - y2);
        outputs[15] = 0.59004358992664352f * x * (-x2 + 3.0f * y2);
    };
    write_sh();

    if (dy_dx) {
        float *dx = dy_dx + b * D * C2, *dy = dx + C2, *dz = dy + C2;
        auto write_sh_dx = [&]() {
            dx[0] = 0.0f;
            if (C <= 1)
                return;
            dx[1] = 0.0f;
            dx[2] = 0.0f;
            dx[3] = -0.48860251190291992f;
            if (C <= 2)
                return;
            dx[4] = 1.0925484305920792f * y;
            dx[5] = 0.0f;
            dx[6] = 0.0f;
            dx[7] = -1.0925484305920792f * z;
            dx[8] = 1.0925484305920792f * x;
            if (C <= 3)
                return;
            dx[9] = -3.5402615395598609f * xy;
            dx[10] = 2.8906114426405538f * yz;
            dx[11] = 0.0f;
            dx[12] = 0.0f;
            dx[13] = 0.45704579946446572f - 2.2852289973223288f * z2;
            dx[14] = 2.8906114426405538f * xz;
            dx[15] = -1.7701307697799304f * x2 + 1.7701307697799304f * y2;
        };
        auto write_sh_dy = [&]() {
            dy[0] = 0.0f;
            if (C <= 1)
                return;
            dy[1] = -0.48860251190291992f;
            dy[2] = 0.0f;
            dy[3] = 0.0f;
            if (C <= 2)
                return;
            dy[4] = 1.0925484305920792f * x;
            dy[5] = -1.0925484305920792f * z;
            dy[6] = 0.0f;
            dy[7] = 0.0f;
            dy[8] = -1.0925484305920792f * y;
            if (C <= 3)
                return;
            dy[9] = -1.7701307697799304f * x2 + 1.7701307697799304f * y2;
            dy[10] = 2.8906114426405538f * xz;
            dy[11] = 0.45704579946446572f - 2.2852289973223288f * z2;
            dy[12] = 0.0f;
            dy[13] = 0.0f;
            dy[14] = -2.8906114426405538f * yz;
            dy[15] = 3.5402615395598609f * xy;
        };
        auto write_sh_dz = [&]() {
            dz[0] = 0.0f;
            if (C <= 1)
                return;
            dz[1] = 0.0f;
            dz[2] = 0.48860251190291992f;
            dz[3] = 0.0f;
            if (C <= 2)
                return;
            dz[4] = 0.0f;
            dz[5] = -1.0925484305920792f * y;
            dz[6] = 1.8923493915151202f * z;
            dz[7] = -1.0925484305920792f * x;
            dz[8] = 0.0f;
            if (C <= 3)
                return;
            dz[9] = 0.0f;
            dz[10] = 2.8906114426405538f * xy;
            dz[11] = -4.5704579946446566f * yz;
            dz[12] = 5.597644988851731f * z2 - 1.1195289977703462f;
            dz[13] = -4.5704579946446566f * xz;
            dz[14] = 1.4453057213202769f * x2 - 1.4453057213202769f * y2;
            dz[15] = 0.0f;
        };
        write_sh_dx();
        write_sh_dy();
        write_sh_dz();
    }
}

extern "C" __global__ void sh_backward(const float *__restrict__ grad, const float *__restrict__ inputs, uint32_t B,
                                       uint32_t D, uint32_t C, const float *__restrict__ dy_dx, float *grad_inputs) {
    const uint32_t t = threadIdx.x + blockIdx.x * blockDim.x;
    const uint32_t b = t / D;
    if (b >= B)
        return;
    const uint32_t d = t - b * D;
    const uint32_t C2 = C * C;
    grad += b * C2;
    dy_dx += b * D * C2 + d * C2;
    for (int ch = 0; ch < C2; ch++)
        grad_inputs[t] += grad[ch] * dy_dx[ch];
}
