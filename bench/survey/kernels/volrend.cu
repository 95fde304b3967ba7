// A volume as light sees it: rays from an eye through a cube of bytes, whose values between its points are
// interpolated, get colours from a table; a ray ends where little more is seen.
typedef unsigned int uint;
typedef unsigned char uchar;

struct float3x4 {
    float4 m[3];
};

struct Ray {
    float3 o, d;
};

struct Extent {
    int w, h, d;
};

struct Look {
    float density, brightness, transferOffset, transferScale;
};

__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
__device__ inline float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ inline float3 min3(float3 a, float3 b) {
    return make_float3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}
__device__ inline float3 max3(float3 a, float3 b) {
    return make_float3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float lerp(float a, float b, float t) { return a + t * (b - a); }

__device__ int intersectBox(Ray r, float3 boxmin, float3 boxmax, float *tnear, float *tfar) {
    float3 invR = make_float3(1.0f / r.d.x, 1.0f / r.d.y, 1.0f / r.d.z);
    float3 tbot = invR * (boxmin - r.o);
    float3 ttop = invR * (boxmax - r.o);
    float3 tmin = min3(ttop, tbot);
    float3 tmax = max3(ttop, tbot);
    float largest_tmin = fmaxf(fmaxf(tmin.x, tmin.y), fmaxf(tmin.x, tmin.z));
    float smallest_tmax = fminf(fminf(tmax.x, tmax.y), fminf(tmax.x, tmax.z));
    *tnear = largest_tmin;
    *tfar = smallest_tmax;
    return smallest_tmax > largest_tmin;
}

__device__ float3 mul(const float3x4 &M, float3 v) {
    float3 r;
    r.x = dot(v, make_float3(M.m[0].x, M.m[0].y, M.m[0].z));
    r.y = dot(v, make_float3(M.m[1].x, M.m[1].y, M.m[1].z));
    r.z = dot(v, make_float3(M.m[2].x, M.m[2].y, M.m[2].z));
    return r;
}

__device__ inline void axis(float at, int n, int &i0, int &i1, float &t) {
    float x = fminf(fmaxf(at * n - 0.5f, 0.0f), n - 1.0f);
    i0 = (int)x;
    i1 = min(i0 + 1, n - 1);
    t = x - i0;
}

__device__ float tex3D(const uchar *volume, Extent e, float x, float y, float z) {
    int x0, x1, y0, y1, z0, z1;
    float tx, ty, tz;
    axis(x, e.w, x0, x1, tx);
    axis(y, e.h, y0, y1, ty);
    axis(z, e.d, z0, z1, tz);
    const uchar *p = volume + (z0 * e.h + y0) * e.w, *q = volume + (z0 * e.h + y1) * e.w;
    const uchar *r = volume + (z1 * e.h + y0) * e.w, *s = volume + (z1 * e.h + y1) * e.w;
    float front = lerp(lerp(p[x0], p[x1], tx), lerp(q[x0], q[x1], tx), ty);
    float back = lerp(lerp(r[x0], r[x1], tx), lerp(s[x0], s[x1], tx), ty);
    return lerp(front, back, tz) * (1.0f / 255.0f);
}

__device__ float4 tex1D(const float4 *table, int n, float at) {
    int i0, i1;
    float t;
    axis(at, n, i0, i1, t);
    float4 a = table[i0], b = table[i1];
    return make_float4(lerp(a.x, b.x, t), lerp(a.y, b.y, t), lerp(a.z, b.z, t), lerp(a.w, b.w, t));
}

__device__ uint rgbaFloatToInt(float4 rgba) {
    rgba.x = __saturatef(rgba.x);
    rgba.y = __saturatef(rgba.y);
    rgba.z = __saturatef(rgba.z);
    rgba.w = __saturatef(rgba.w);
    return (uint(rgba.w * 255) << 24) | (uint(rgba.z * 255) << 16) | (uint(rgba.y * 255) << 8) | uint(rgba.x * 255);
}

extern "C" __global__ void volrend(uint *d_output, const uchar *__restrict__ volume,
                                   const float4 *__restrict__ transfer, int entries, uint imageW, uint imageH,
                                   Extent extent, float3x4 view, Look look, int maxSteps, float tstep) {
    const float opacityThreshold = 0.95f;
    const float3 boxMin = make_float3(-1.0f, -1.0f, -1.0f);
    const float3 boxMax = make_float3(1.0f, 1.0f, 1.0f);

    uint x = blockIdx.x * blockDim.x + threadIdx.x;
    uint y = blockIdx.y * blockDim.y + threadIdx.y;
    if ((x >= imageW) || (y >= imageH))
        return;
    float u = (x / (float)imageW) * 2.0f - 1.0f;
    float v = (y / (float)imageH) * 2.0f - 1.0f;

    Ray eyeRay;
    eyeRay.o = make_float3(view.m[0].w, view.m[1].w, view.m[2].w);
    float3 d = make_float3(u, v, -2.0f);
    eyeRay.d = mul(view, d * (1.0f / sqrtf(dot(d, d))));

    float tnear, tfar;
    if (!intersectBox(eyeRay, boxMin, boxMax, &tnear, &tfar)) {
        d_output[y * imageW + x] = 0;
        return;
    }
    if (tnear < 0.0f)
        tnear = 0.0f;

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float t = tnear;
    float3 pos = eyeRay.o + eyeRay.d * tnear;
    float3 step = eyeRay.d * tstep;
    for (int i = 0; i < maxSteps; i++) {
        float sample = tex3D(volume, extent, pos.x * 0.5f + 0.5f, pos.y * 0.5f + 0.5f, pos.z * 0.5f + 0.5f);
        float4 col = tex1D(transfer, entries, (sample - look.transferOffset) * look.transferScale);
        col.w *= look.density;
        col.x *= col.w;
        col.y *= col.w;
        col.z *= col.w;
        float left = 1.0f - sum.w;
        sum.x += col.x * left;
        sum.y += col.y * left;
        sum.z += col.z * left;
        sum.w += col.w * left;
        if (sum.w > opacityThreshold)
            break;
        t += tstep;
        if (t > tfar)
            break;
        pos = pos + step;
    }
    sum.x *= look.brightness;
    sum.y *= look.brightness;
    sum.z *= look.brightness;
    sum.w *= look.brightness;
    d_output[y * imageW + x] = rgbaFloatToInt(sum);
}
