// Collective operations of a warp and a CTA, as libraries have them: segmented scans, sorts, aggregated
// atomics, votes and matches among lanes that parted, shuffles in all modes, named barriers.
#include "common.cuh"

typedef unsigned long long ull;
#define ALL 0xffffffffu

__device__ __forceinline__ unsigned lane() { return threadIdx.x & 31; }
KERNEL seg_scan(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    bool head = (y & 7) == 0 || lane() == 0;
    unsigned heads = __ballot_sync(ALL, head);
    unsigned start = 31 - __clz(heads & (0xffffffffu >> (31 - lane())));
    unsigned v = x;
    for (int d = 1; d < 32; d <<= 1) {
        unsigned o = __shfl_up_sync(ALL, v, d);
        if (lane() >= start + d) v += o;
    }
    ROW(v) ROW(start) float f = (float)(x & 1023);
    bool flag = head;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        float o = __shfl_up_sync(ALL, f, d);
        bool of = __shfl_up_sync(ALL, (int)flag, d);
        if (lane() >= d) {
            if (!flag) f = fmaxf(f, o);
            flag |= of;
        }
    }
    ROW(__float_as_uint(f))
    ROW(flag)
    // segment tails write counts
    unsigned next = lane() == 31 ? 0 : heads >> (lane() + 1);
    unsigned length = next ? __ffs(next) : 32 - lane();
    ROW(length) ROW(__shfl_sync(ALL, v, (lane() + length - 1) & 31))
}
template <class T> __device__ T cswap(T v, int mask, bool up) {
    T o = __shfl_xor_sync(ALL, v, mask);
    return (v < o) == up ? v : o;
}
KERNEL bitonic_warp(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned v = x;
    ull w = (ull)y << 20 ^ x;
    int s = (int)(x ^ y);
    for (int k = 2; k <= 32; k <<= 1)
        for (int j = k >> 1; j; j >>= 1) {
            bool up = ((lane() & k) == 0) == ((lane() & j) == 0);
            v = cswap(v, j, up);
            w = cswap(w, j, up);
            s = cswap(s, j, up);
        }
    ROW(v) ROW((unsigned)(w ^ w >> 32)) ROW(s)
}
KERNEL aggregated(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned *c = out + 2 * n;
    if (x % 3 == 1) {
        unsigned m = __activemask(), leader = __ffs(m) - 1, base = 0;
        if (lane() == leader) base = atomicAdd(c, __popc(m));
        base = __shfl_sync(m, base, leader);
        unsigned pos = base + __popc(m & ((1u << lane()) - 1));
        atomicAdd(&c[1], pos);
        ROW(__popc(m))
    } else {
        ROW(77)
    }
    unsigned key = y & 15;
    unsigned peers = __match_any_sync(ALL, key);
    if (lane() == 31 - __clz(peers)) atomicAdd(&c[8 + key], __popc(peers));
    unsigned total = x & 255, sum = 0;
    // peer reduction
    unsigned rel = __popc(peers & ((1u << lane()) - 1));
    unsigned mine = peers & (0xfffffffeu << lane());
    unsigned v = total;
    while (__any_sync(ALL, mine)) {
        int nx = __ffs(mine);
        unsigned t = __shfl_sync(ALL, v, nx ? nx - 1 : 0);
        if (nx) v += t;
        unsigned done = rel & 1;
        mine &= ~__ballot_sync(ALL, done);
        rel >>= 1;
    }
    sum = v;
    ROW(rel == 0 && (peers & ((1u << lane()) - 1)) == 0 ? sum : 0)
    if ((peers & ((1u << lane()) - 1)) == 0) atomicAdd(&c[24 + key], sum);
}
KERNEL votes_div(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned h = 0;
    switch (x & 3) {
    case 0: h = __ballot_sync(__activemask(), y & 1); break;
    case 1: h = __any_sync(__activemask(), y & 4) ? 3 : 5; break;
    case 2:
        if (y & 1) h = __all_sync(__activemask(), y & 8) + 10;
        else h = __popc(__activemask());
        break;
    default:
        for (unsigned k = 0; k <= (y & 3); k++) h = h * 7 + __popc(__ballot_sync(__activemask(), y >> k & 4));
    }
    ROW(h)
    __syncwarp();
    ROW(__ballot_sync(ALL, h & 1))
    ROW(__any_sync(ALL, h == 77)) ROW(__all_sync(ALL, h < 0x80000000u)) unsigned live = ALL, rounds = 0, v = x & 15;
    while ((live = __ballot_sync(live, v != 0)) >> lane() & 1) {
        v--;
        rounds += __popc(live);
    }
    ROW(rounds) ROW(live) unsigned q = 0;
    for (unsigned m = __ballot_sync(ALL, y & 16); m; m &= m - 1) q = q * 3 + __shfl_sync(ALL, x, __ffs(m) - 1);
    ROW(q)
    int p;
    unsigned r = __match_all_sync(ALL, x >> 31, &p);
    ROW(r * 2 + p)
}
KERNEL match_loops(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned todo = ALL, h = 0;
    bool done = false;
    while (!done) {
        unsigned act = __activemask();
        unsigned first = __shfl_sync(act, y & 7, __ffs(act) - 1);
        if ((y & 7) == first) {
            h = __popc(__ballot_sync(__activemask(), 1)) * 100 + first;
            done = true;
        }
    }
    __syncwarp();
    ROW(h)
    ROW(__match_any_sync(ALL, (float)(x & 3)))
    ROW(__match_any_sync(ALL, (double)(int)(y & 3) - 1.0))
    ROW(__match_any_sync(ALL, (ull)(x & 1) << 40 | (y & 1))) if (x & 1) { ROW(__match_any_sync(__activemask(), y & 3)) }
    else {
        int p;
        ROW(__match_all_sync(__activemask(), y & 0, &p) + p)
    }
    ROW(todo)
}
KERNEL shfl_all_modes(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
#define WID(w)                                                                                                         \
    ROW(__shfl_sync(ALL, x, y, w))                                                                                     \
    ROW(__shfl_up_sync(ALL, x, y & 7, w))                                                                              \
    ROW(__shfl_down_sync(ALL, x, y & 7, w)) ROW(__shfl_xor_sync(ALL, x, y & 31, w))                                    \
        ROW(__shfl_up_sync(ALL, x, w / 2, w)) ROW(__shfl_xor_sync(ALL, x, 3, w))
    WID(1) WID(2) WID(4) WID(8) WID(16) WID(32) unsigned r, p;
    asm volatile("{.reg .pred q; shfl.sync.idx.b32 %0|q, %2, %3, 0x181f, -1; selp.u32 %1, 1, 0, q;}"
                 : "=r"(r), "=r"(p)
                 : "r"(x), "r"(y));
    ROW(r)
    ROW(p)
    asm volatile("{.reg .pred q; shfl.sync.down.b32 %0|q, %2, %3, %4, -1; selp.u32 %1, 1, 0, q;}"
                 : "=r"(r), "=r"(p)
                 : "r"(x), "r"(y & 63), "r"((x & 3) == 0 ? 0x1f1f : 0x101f));
    ROW(r) ROW(p)
}
KERNEL shfl_div(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    if (lane() < 16) {
        ROW(__shfl_sync(0xffff, x, 3)) ROW(__shfl_down_sync(0xffff, x, 1, 16))
    } else {
        ROW(__shfl_sync(0xffff0000u, y, 20)) ROW(__shfl_up_sync(0xffff0000u, y, 1, 16))
    }
    double d = x;
    for (int k = 16; k; k >>= 1) d += __shfl_xor_sync(ALL, d, k);
    ROW((unsigned)__double_as_longlong(d))
    long long l = (long long)x * (int)y;
    for (int k = 1; k < 32; k <<= 1) {
        long long o = __shfl_up_sync(ALL, l, k);
        if (lane() >= k) l ^= o * 3;
    }
    ROW((unsigned)l) ROW((unsigned)(l >> 32))
}
KERNEL warp_queue(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned q[4][64];
    __shared__ unsigned len[4];
    BEGIN
    unsigned w = threadIdx.x / 32;
    if (lane() == 0) len[w] = 0;
    __syncwarp();
    for (int k = 0; k < 2; k++) {
        bool want = k ? (y & 1) : (x & 1);
        unsigned m = __ballot_sync(ALL, want);
        unsigned base = len[w];
        __syncwarp();
        if (want) q[w][base + __popc(m & ((1u << lane()) - 1))] = k ? y : x;
        if (lane() == 0) len[w] = base + __popc(m);
        __syncwarp();
    }
    unsigned h = 0;
    for (unsigned k = lane(); k < len[w]; k += 32) h = h * 31 + q[w][k];
    ROW(h) ROW(len[w]) unsigned c = 0;
    while (true) {
        unsigned k = 0;
        if (lane() == 0) k = atomicSub(&len[w], 1);
        k = __shfl_sync(ALL, k, 0);
        if ((int)k <= 0) break;
        c += q[w][k - 1] ^ lane();
    }
    ROW(c) ROW(len[w])
}
KERNEL legacy(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ volatile unsigned s[128];
    BEGIN
    unsigned t = threadIdx.x;
    s[t] = x;
    __syncthreads();
    if (t < 64) { s[t] += s[t + 64]; }
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        __syncwarp();
        if (t < 16) s[t] += s[t + 16];
        __syncwarp();
        if (t < 8) s[t] += s[t + 8];
        __syncwarp();
        if (t < 4) s[t] += s[t + 4];
        __syncwarp();
        if (t < 2) s[t] += s[t + 2];
        __syncwarp();
        if (t < 1) s[t] += s[t + 1];
    }
    __syncthreads();
    ROW(s[0]) ROW(s[5]) unsigned m;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                 : "=r"(m)
                 : "r"(x & 1));
    ROW(m)
    asm volatile("{.reg .pred p,q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q;}"
                 : "=r"(m)
                 : "r"(x & 0));
    ROW(m)
    unsigned a1, a2, a3, a4;
    asm("mov.u32 %0, %%lanemask_le; mov.u32 %1, %%lanemask_ge; mov.u32 %2, %%lanemask_gt; mov.u32 %3, %%lanemask_eq;"
        : "=r"(a1), "=r"(a2), "=r"(a3), "=r"(a4));
    ROW(a1 ^ a2 * 3)
    ROW(a3 ^ a4 * 5)
    asm("mov.u32 %0, %%warpid; mov.u32 %1, %%nwarpid; mov.u32 %2, %%ntid.x; mov.u32 %3, %%nctaid.x;"
        : "=r"(a1), "=r"(a2), "=r"(a3), "=r"(a4));
    ROW(a3 * 7 + a4) ROW(a3 / 32)
}
KERNEL syncthreads_variants(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned c = 0;
    for (unsigned k = 0; k < 5; k++) c = c * 11 + __syncthreads_count((x >> k & 3) == 0);
    ROW(c)
    int done = 0;
    unsigned v = x & 31, r = 0;
    while (!__syncthreads_and(done)) {
        if (v == 0) done = 1;
        else v--;
        r++;
    }
    ROW(r)
    r = 0;
    v = y & 15;
    do { r++; } while (__syncthreads_or(v-- > 2 && r < 40));
    ROW(r) ROW(v) ROW(__syncthreads_count(threadIdx.x < (blockIdx.x ? 17 : 93))) ROW(0)
}
KERNEL named(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned s[128];
    BEGIN
    unsigned t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    if (t < 64) {
        s[t] = x;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        s[t] = s[t - 64] * 3;
    }
    asm volatile("barrier.sync 2;" ::: "memory");
    ROW(s[127 - t])
    unsigned group = t / 32, id = 3 + group;
    asm volatile("bar.sync %0, 32;" ::"r"(id) : "memory");
    unsigned c;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; barrier.red.popc.u32 %0, %1, 64, p;}"
                 : "=r"(c)
                 : "r"(8 + t / 64), "r"(x & 1)
                 : "memory");
    ROW(c)
    asm volatile("{.reg .pred p, q; setp.ne.u32 p, %2, 0; bar.red.or.pred q, %1, 64, p; selp.u32 %0, 1, 0, q;}"
                 : "=r"(c)
                 : "r"(8 + t / 64), "r"((unsigned)(x > 0xf0000000u))
                 : "memory");
    ROW(c)
    asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.red.aligned.and.pred q, 0, !p; selp.u32 %0, 1, 0, q;}"
                 : "=r"(c)
                 : "r"((unsigned)(x == 5))
                 : "memory");
    ROW(c)
    __shared__ unsigned ring[2][32];
    unsigned sum = 0;
    if (group == 0)
        for (int k = 0; k < 6; k++) {
            if (k >= 2) asm volatile("bar.sync %0, 64;" ::"r"(10 + (k & 1)) : "memory");
            ring[k & 1][t] = x * (k + 1);
            asm volatile("bar.arrive %0, 64;" ::"r"(12 + (k & 1)) : "memory");
        }
    else if (group == 1)
        for (int k = 0; k < 6; k++) {
            asm volatile("bar.sync %0, 64;" ::"r"(12 + (k & 1)) : "memory");
            sum = sum * 5 + ring[k & 1][31 - (t & 31)];
            if (k < 4) asm volatile("bar.arrive %0, 64;" ::"r"(10 + (k & 1)) : "memory");
        }
    ROW(sum) ROW(group)
}
KERNEL sort_shared(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned k[128];
    __shared__ unsigned short v[128];
    BEGIN
    unsigned t = threadIdx.x;
    k[t] = x & 0xfff;
    v[t] = t;
    for (int size = 2; size <= 128; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned o = t ^ stride;
            if (o > t) {
                bool up = (t & size) == 0;
                if ((k[t] > k[o] || (k[t] == k[o] && v[t] > v[o])) == up) {
                    unsigned q = k[t];
                    k[t] = k[o];
                    k[o] = q;
                    unsigned short z = v[t];
                    v[t] = v[o];
                    v[o] = z;
                }
            }
        }
    __syncthreads();
    ROW(k[t]) ROW(v[t])
}
KERNEL radix(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned keys[2][128], warp_sums[4];
    BEGIN
    unsigned t = threadIdx.x, w = t / 32;
    keys[0][t] = x;
    int cur = 0;
    for (int bit = 0; bit < 32; bit++) {
        __syncthreads();
        unsigned key = keys[cur][t];
        bool zero = !(key >> bit & 1);
        unsigned m = __ballot_sync(ALL, zero);
        if (lane() == 0) warp_sums[w] = __popc(m);
        __syncthreads();
        unsigned before = 0, total = 0;
        for (unsigned q = 0; q < 4; q++) {
            if (q < w) before += warp_sums[q];
            total += warp_sums[q];
        }
        unsigned rank = before + __popc(m & ((1u << lane()) - 1));
        keys[cur ^ 1][zero ? rank : total + t - rank] = key;
        cur ^= 1;
    }
    __syncthreads();
    ROW(keys[cur][t])
    unsigned lo = 0, hi = 128;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (keys[cur][mid] < y) lo = mid + 1;
        else hi = mid;
    }
    ROW(lo) ROW(__popc(y))
}

// Values of lanes that do not take part are undefined in CUDA, and zero on an H200; programs count on it in CTAs
// that do not fill their last warp.
KERNEL missing(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    ROW(__shfl_down_sync(ALL, x, 16)) ROW(__shfl_down_sync(ALL, y * 3 + 1, 7)) ROW(__shfl_xor_sync(ALL, x, 31))
        ROW(__shfl_sync(ALL, x + 5, 30)) ROW(__shfl_sync(ALL, x, y)) unsigned s = x;
    for (int k = 16; k; k >>= 1) s += __shfl_down_sync(ALL, s, k);
    ROW(s) double d = x;
    for (int k = 16; k; k >>= 1) d += __shfl_xor_sync(ALL, d, k);
    ROW((unsigned)__double_as_longlong(d)) ROW(__shfl_down_sync(__activemask(), x ^ y, 3)) ROW(__ballot_sync(ALL, 1))
}
KERNEL diverged(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned lane = threadIdx.x & 31;
    unsigned r = 1234;
    if (lane < 16) r = __shfl_sync(0xffff, x, 20);
    ROW(r) r = 77;
    if (lane & 1) r = __shfl_xor_sync(0xaaaaaaaa, x, 1);
    ROW(r) r = 5;
    if (x & 1) r = __shfl_down_sync(__activemask(), y, 1);
    else r = __shfl_up_sync(__activemask(), x, 1);
    ROW(r) __syncwarp();
    if (lane == 3) r = __shfl_sync(8, x, 4);
    ROW(r)
    unsigned q = x * 3;
    if (lane > 8) {
        q += y;
        r = __shfl_xor_sync(0xfffffe00, q, 12);
    }
    ROW(r) ROW(q) for (unsigned k = 0; k < (x & 7); k++) r = r * 3 + __shfl_down_sync(__activemask(), y + k, 2);
    ROW(r) ROW(1)
}
KERNEL left(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    if (x & 1) return;
    unsigned m = __activemask();
    ROW(__shfl_xor_sync(m, x, 1)) ROW(__shfl_down_sync(m, y, 1)) ROW(__shfl_sync(m, x ^ y, 7)) ROW(m) unsigned s = y;
    for (int k = 16; k; k >>= 1) s += __shfl_down_sync(m, s, k);
    ROW(s) ROW(__shfl_up_sync(m, y * 2, 3))
}
