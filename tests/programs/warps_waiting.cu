// Lanes that spin while the others of their warp wait for them, or spin too.

extern "C" __global__ void lock_of_warp(int *lock, volatile int *owner, int *wrong, volatile int *sums, int rounds) {
    // The first lane takes the lock for its warp, whose lanes work together then.
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int round = 0; round < rounds; round++) {
        if (lane == 0) {
            while (atomicCAS(lock, 0, 1)) {
            }
            *owner = warp;
            __threadfence();
        }
        __syncwarp();
        if (*owner != warp) {
            atomicAdd(wrong, 1);
        }
        sums[lane] = sums[lane] + warp;
        __threadfence();
        __syncwarp();
        if (lane == 0) {
            atomicExch(lock, 0);
        }
    }
}

extern "C" __global__ void vote_after_wait(volatile int *flag, unsigned *out, int count) {
    // One lane waits for the other warp; its vote is to be among the others'.
    int lane = threadIdx.x % 32;
    for (int i = 0; i < count; i++) {
        if (threadIdx.x >= 32) {
            flag[i] = 1;
        } else {
            int seen = 0;
            if (lane == 3) {
                while (!flag[i]) {
                }
                seen = 1;
            }
            out[i * 32 + lane] = __ballot_sync(0xffffffff, seen);
        }
    }
}

extern "C" __global__ void upper_half_frees_lower(volatile int *flag, int *out) {
    // The upper half meets while the lower one spins; then all meet.
    int lane = threadIdx.x, value = lane;
    if (lane < 16) {
        while (!*flag) {
        }
        value += 100;
    } else {
        value = __shfl_xor_sync(0xffff0000, value, 1);
        __syncwarp(0xffff0000);
        if (lane == 16) {
            *flag = 1;
        }
    }
    __syncwarp();
    out[lane] = value + __shfl_xor_sync(0xffffffff, value, 16);
}

extern "C" __global__ void ring(const int *in, int *out, int count, int consumer) {
    // One thread sends words to another through a ring of 8; each waits for the other again and again.
    __shared__ volatile int words[8], head, tail;
    if (threadIdx.x == 0) {
        head = tail = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; i++) {
            while (head - tail >= 8) {
            }
            words[head % 8] = in[i];
            __threadfence_block();
            head = head + 1;
        }
    } else if (threadIdx.x == consumer) {
        for (int i = 0; i < count; i++) {
            while (tail == head) {
            }
            out[i] = 3 * words[tail % 8];
            __threadfence_block();
            tail = tail + 1;
        }
    }
}
