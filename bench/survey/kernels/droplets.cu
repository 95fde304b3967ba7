// Erosion by drops of rain: each thread lets one drop run down the terrain and adds what it takes and leaves to a map
// of changes; a second kernel adds the changes to the terrain. Some rounds.
struct Drop {
    float x, y, dx, dy, speed, water, sediment;
};

__device__ unsigned int next_random(unsigned int &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__device__ float3 height_and_gradient(const float *map, int size, float x, float y) {
    int ix = (int)x, iy = (int)y;
    float u = x - ix, v = y - iy;
    int at = iy * size + ix;
    float nw = map[at], ne = map[at + 1], sw = map[at + size], se = map[at + size + 1];
    float3 result;
    result.x = nw * (1 - u) * (1 - v) + ne * u * (1 - v) + sw * (1 - u) * v + se * u * v;
    result.y = (ne - nw) * (1 - v) + (se - sw) * v;
    result.z = (sw - nw) * (1 - u) + (se - ne) * u;
    return result;
}

__device__ void spread(float *change, int size, float x, float y, float amount) {
    int ix = (int)x, iy = (int)y;
    float u = x - ix, v = y - iy;
    int at = iy * size + ix;
    atomicAdd(&change[at], amount * (1 - u) * (1 - v));
    atomicAdd(&change[at + 1], amount * u * (1 - v));
    atomicAdd(&change[at + size], amount * (1 - u) * v);
    atomicAdd(&change[at + size + 1], amount * u * v);
}

extern "C" __global__ void droplets(const float *map, float *change, int size, int drops, int lifetime,
                                    unsigned int seed) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= drops)
        return;
    unsigned int random = (id + 1) * 747796405u ^ seed;
    for (int k = 0; k < 4; k++)
        next_random(random);
    Drop drop;
    drop.x = (next_random(random) >> 8) * (1.0f / 16777216.0f) * (size - 2);
    drop.y = (next_random(random) >> 8) * (1.0f / 16777216.0f) * (size - 2);
    drop.dx = drop.dy = drop.sediment = 0.0f;
    drop.speed = 1.0f;
    drop.water = 1.0f;
    for (int life = 0; life < lifetime; life++) {
        float3 here = height_and_gradient(map, size, drop.x, drop.y);
        drop.dx = drop.dx * 0.3f - here.y * 0.7f;
        drop.dy = drop.dy * 0.3f - here.z * 0.7f;
        float length = sqrtf(drop.dx * drop.dx + drop.dy * drop.dy);
        if (length < 1e-6f)
            break;
        drop.dx /= length;
        drop.dy /= length;
        float old_x = drop.x, old_y = drop.y;
        drop.x += drop.dx;
        drop.y += drop.dy;
        if (drop.x < 0 || drop.x >= size - 1 || drop.y < 0 || drop.y >= size - 1)
            break;
        float fall = height_and_gradient(map, size, drop.x, drop.y).x - here.x;
        float capacity = fmaxf(-fall, 0.01f) * drop.speed * drop.water * 4.0f;
        if (fall > 0) { // a pit, where it stays
            spread(change, size, old_x, old_y, fminf(fall, drop.sediment));
            break;
        }
        if (drop.sediment > capacity) {
            float left = (drop.sediment - capacity) * 0.3f;
            drop.sediment -= left;
            spread(change, size, old_x, old_y, left);
        } else {
            float taken = fminf((capacity - drop.sediment) * 0.3f, -fall);
            drop.sediment += taken;
            spread(change, size, old_x, old_y, -taken);
        }
        drop.speed = sqrtf(fmaxf(drop.speed * drop.speed - fall * 4.0f, 0.0f));
        drop.water *= 0.98f;
    }
}

extern "C" __global__ void settle(float *map, float *change, int size, float share) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size) {
        map[y * size + x] += share * change[y * size + x];
        change[y * size + x] = 0.0f;
    }
}
