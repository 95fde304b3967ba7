// Ranks of a linked list's nodes by jumping over pointers (Wyllie): a node's successor and its distance from that are
// one 64-bit word, and every round doubles the distances.
typedef unsigned long long u64;

__device__ __forceinline__ u64 pack(unsigned next, unsigned rank) {
    return ((u64)next << 32) | rank;
}

extern "C" __global__ void list_init(const int *__restrict__ next, u64 *__restrict__ list, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int successor = next[i];
        list[i] = successor < 0 ? pack(i, 0u) : pack(successor, 1u);
    }
}

extern "C" __global__ void list_jump(const u64 *__restrict__ from, u64 *__restrict__ to, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        u64 node = from[i];
        unsigned next = (unsigned)(node >> 32);
        if (next != (unsigned)i) {
            u64 other = from[next];
            node = pack((unsigned)(other >> 32), (unsigned)node + (unsigned)other);
        }
        to[i] = node;
    }
}

extern "C" __global__ void list_order(const u64 *__restrict__ list, const float *__restrict__ value,
                                      float *__restrict__ ordered, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ordered[n - 1 - (unsigned)list[i]] = value[i];
}
