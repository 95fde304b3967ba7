// Compression of a texture to DXT1: 16 threads, a tile of a warp, for each square of 4 x 4 pixels find the main axis of
// its colours, two ends on it in 16 bits, and for each pixel the nearest of four colours between.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

typedef cg::thread_block_tile<16> Tile;

__device__ float tile_sum(const Tile &tile, float v) {
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    return v;
}

__device__ float tile_max(const Tile &tile, float v) {
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v = fmaxf(v, tile.shfl_xor(v, d));
    return v;
}

__device__ unsigned short to_565(float3 c) {
    unsigned r = (unsigned)(__saturatef(c.x) * 31.0f + 0.5f);
    unsigned g = (unsigned)(__saturatef(c.y) * 63.0f + 0.5f);
    unsigned b = (unsigned)(__saturatef(c.z) * 31.0f + 0.5f);
    return (unsigned short)(r << 11 | g << 5 | b);
}

__device__ float3 from_565(unsigned short v) {
    return make_float3((v >> 11) / 31.0f, (v >> 5 & 63) / 63.0f, (v & 31) / 31.0f);
}

__device__ float distance2(float3 a, float3 b) {
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

extern "C" __global__ void dxt1(const uchar4 *__restrict__ image, uint2 *__restrict__ blocks, int width, int height) {
    cg::thread_block block = cg::this_thread_block();
    Tile tile = cg::tiled_partition<16>(block);
    int squares_x = (width + 3) / 4, squares_y = (height + 3) / 4;
    int square = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16;
    if (square >= squares_x * squares_y)
        return;

    int k = tile.thread_rank();
    int x = min(square % squares_x * 4 + k % 4, width - 1);
    int y = min(square / squares_x * 4 + k / 4, height - 1);
    uchar4 pixel = image[y * width + x];
    float3 c = make_float3(pixel.x / 255.0f, pixel.y / 255.0f, pixel.z / 255.0f);

    float3 mean = make_float3(tile_sum(tile, c.x) / 16.0f, tile_sum(tile, c.y) / 16.0f, tile_sum(tile, c.z) / 16.0f);
    float3 d = make_float3(c.x - mean.x, c.y - mean.y, c.z - mean.z);
    float xx = tile_sum(tile, d.x * d.x), xy = tile_sum(tile, d.x * d.y), xz = tile_sum(tile, d.x * d.z);
    float yy = tile_sum(tile, d.y * d.y), yz = tile_sum(tile, d.y * d.z), zz = tile_sum(tile, d.z * d.z);

    float3 axis = make_float3(1.0f, 1.0f, 1.0f);
    for (int i = 0; i < 8; i++) {
        float3 next = make_float3(xx * axis.x + xy * axis.y + xz * axis.z, xy * axis.x + yy * axis.y + yz * axis.z,
                                  xz * axis.x + yz * axis.y + zz * axis.z);
        float norm = fmaxf(fabsf(next.x), fmaxf(fabsf(next.y), fabsf(next.z)));
        if (norm < 1e-8f)
            break;
        axis = make_float3(next.x / norm, next.y / norm, next.z / norm);
    }
    float length2 = axis.x * axis.x + axis.y * axis.y + axis.z * axis.z;
    float along = (d.x * axis.x + d.y * axis.y + d.z * axis.z) / length2;
    float high = tile_max(tile, along), low = -tile_max(tile, -along);

    unsigned short e0 = to_565(make_float3(mean.x + high * axis.x, mean.y + high * axis.y, mean.z + high * axis.z));
    unsigned short e1 = to_565(make_float3(mean.x + low * axis.x, mean.y + low * axis.y, mean.z + low * axis.z));
    if (e0 < e1) {
        unsigned short t = e0;
        e0 = e1;
        e1 = t;
    }
    float3 p0 = from_565(e0), p1 = from_565(e1);
    float3 palette[4];
    palette[0] = p0;
    palette[1] = p1;
    palette[2] = make_float3((2 * p0.x + p1.x) / 3, (2 * p0.y + p1.y) / 3, (2 * p0.z + p1.z) / 3);
    palette[3] = make_float3((p0.x + 2 * p1.x) / 3, (p0.y + 2 * p1.y) / 3, (p0.z + 2 * p1.z) / 3);
    unsigned best = 0;
    float least = distance2(c, palette[0]);
    if (e0 != e1)
        for (int i = 1; i < 4; i++) {
            float distance = distance2(c, palette[i]);
            if (distance < least) {
                least = distance;
                best = i;
            }
        }

    unsigned bits = best << 2 * k;
    for (int s = tile.size() / 2; s > 0; s /= 2)
        bits |= tile.shfl_xor(bits, s);
    if (k == 0)
        blocks[square] = make_uint2(e0 | (unsigned)e1 << 16, bits);
}
