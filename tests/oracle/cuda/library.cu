// Parts of the C++ libraries of CUDA: cuda::std, cuda::atomic, barriers, pipelines, cub.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/optional>
#include <cuda/std/variant>
#include <cuda/std/bit>
#include <cuda/std/span>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/expected>
#include <cuda/std/cmath>
#include <cuda/std/mdspan>
#include <cuda/std/utility>
#include <cuda/std/numeric>
#include <cuda/std/inplace_vector>
#include <cuda/cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_exchange.cuh>
#include "common.cuh"

typedef unsigned long long ull;
#define ALL 0xffffffffu

namespace cs = cuda::std;
namespace cg = cooperative_groups;

KERNEL tuples(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    auto t = cs::make_tuple(x, (short)y, (double)x, (unsigned char)(y >> 9));
    cs::get<0>(t) += cs::get<1>(t);
    ROW(cs::get<0>(t)) ROW((unsigned)cs::get<2>(t)) cs::array<unsigned, 6> v{x, y, x ^ y, x + y, x - y, x & y};
    cs::swap(v[x % 6], v[y % 6]);
    unsigned h = 0;
    for (auto e : v) h = h * 31 + e;
    ROW(h) auto [p, q] = cs::pair<int, unsigned>((int)x, y);
    ROW(p < 0 ? q : p) cs::optional<unsigned> o;
    if (x & 1) o = y;
    ROW(o.value_or(17))
    cs::expected<unsigned, int> e =
        y & 1 ? cs::expected<unsigned, int>(x) : cs::expected<unsigned, int>(cs::unexpect, 5);
    ROW(e ? *e : e.error())
    ROW(cs::apply([](auto... z) { return ((unsigned)z + ...); }, v))
        ROW(cs::make_tuple(x & 3, y) < cs::make_tuple(y & 3, x))
}
KERNEL spans(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned s[128];
    BEGIN
    s[threadIdx.x] = x;
    __syncthreads();
    cs::span<unsigned> sp(s, 128);
    auto sub = sp.subspan(threadIdx.x & ~7, 8);
    unsigned m = 0;
    for (auto e : sub) m = max(m, e);
    ROW(m) ROW(sub.size()) ROW(sub.front() ^ sub.back()) cs::span<unsigned, 4> f = sub.first<4>();
    ROW(cs::accumulate(f.begin(), f.end(), 0u))
    ROW(cs::inner_product(
            f.begin(), f.end(), sub.begin() + 2, 1u, [](unsigned p, unsigned q) { return p ^ q; },
            [](unsigned p, unsigned q) { return p | q; }) &
        0) ROW(cs::numeric_limits<short>::max() + (unsigned)cs::size(sub))
}
KERNEL atomics_cxx(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned *g = out + 8 * n;
    cuda::atomic_ref<unsigned> r0(g[0]);
    r0 += x;
    cuda::atomic_ref<unsigned> r9(g[30]);
    r9.fetch_xor(y);
    cuda::atomic_ref<int, cuda::thread_scope_device> r1(((int *)g)[1]);
    r1.fetch_max((int)x);
    cuda::atomic_ref<int> r8(((int *)g)[31]);
    r8.fetch_min((int)x | 0x70000000, cs::memory_order_relaxed);
    cuda::atomic_ref<float, cuda::thread_scope_device> f(((float *)g)[2]);
    f.fetch_add((float)(x & 7));
    cuda::atomic_ref<double, cuda::thread_scope_block> d(((double *)g)[2]);
    (void)d;
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device> b0(((unsigned char *)g)[24 + (i & 3)]);
    b0.fetch_add(1);
    cuda::atomic_ref<unsigned short, cuda::thread_scope_device> h0(((unsigned short *)g)[14 + (i & 1)]);
    h0.fetch_or((unsigned short)(1 << (x & 15)));
    cuda::atomic_ref<ull, cuda::thread_scope_device> l(((ull *)g)[4]);
    l.fetch_add((ull)x << 20);
    l.fetch_or(1);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> sc;
    __shared__ cs::atomic_flag fl;
    if (threadIdx.x == 0) { new (&sc) cuda::atomic<int, cuda::thread_scope_block>(5); }
    __syncthreads();
    sc.fetch_sub((int)(x & 3), cuda::memory_order_acq_rel);
    __syncthreads();
    ROW(sc.load()) __syncthreads();
    int e = sc.load();
    while (!sc.compare_exchange_strong(e, e ^ (int)(y & 0xff))) {}
    __syncthreads();
    ROW(sc) ROW(sc.is_lock_free()) __syncthreads();
    if (threadIdx.x == 7) ROW(sc.exchange(9)) else ROW(1)(void) fl;
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
    ROW(2)
    struct P {
        float p, q;
    };
    cuda::atomic_ref<P, cuda::thread_scope_device> pr(*(P *)(g + 20));
    P old = pr.load(), nw;
    do { nw = {old.p + 1, fmaxf(old.q, (float)(x & 1023))}; } while (!pr.compare_exchange_weak(old, nw));
    ROW(3) ROW(4) ROW(5)
}
KERNEL barrier_cxx(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ unsigned s[128];
    BEGIN
    auto blk = cg::this_thread_block();
    if (blk.thread_rank() == 0) init(&bar, blk.size());
    blk.sync();
    s[threadIdx.x] = x;
    auto tok = bar.arrive();
    unsigned busy = y * 3;
    bar.wait(cs::move(tok));
    ROW(s[127 - threadIdx.x] + busy) bar.arrive_and_wait();
    s[threadIdx.x] = s[threadIdx.x] * 2 + threadIdx.x;
    bar.arrive_and_wait();
    ROW(s[threadIdx.x ^ 5]) bar.arrive_and_wait();
    if (threadIdx.x & 1) {
        bar.arrive_and_drop();
    } else {
        for (int k = 0; k < 3; k++) {
            s[threadIdx.x] += k;
            bar.arrive_and_wait();
        }
    }
    __syncthreads();
    ROW(s[threadIdx.x]) __shared__ unsigned done;
    if (!threadIdx.x) done = 0;
    __syncthreads();
    auto fin = [] __device__() noexcept {};
    (void)fin;
    ROW(done)
}
KERNEL semaphores(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned *g = out + 2 * n;
    __shared__ cuda::counting_semaphore<cuda::thread_scope_block, 3> sem;
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block> mtx;
    __shared__ unsigned cnt, inside, most;
    if (!threadIdx.x) {
        new (&sem) cuda::counting_semaphore<cuda::thread_scope_block, 3>(3);
        new (&mtx) cuda::binary_semaphore<cuda::thread_scope_block>(1);
        cnt = inside = most = 0;
    }
    __syncthreads();
    if (threadIdx.x % 16 == 0) {
        sem.acquire();
        unsigned q = atomicAdd(&inside, 1) + 1;
        atomicMax(&most, q);
        atomicSub(&inside, 1);
        sem.release();
        mtx.acquire();
        cnt = cnt + (x & 7) + 1;
        mtx.release();
    }
    __syncthreads();
    ROW(cnt) ROW(most <= 3 && most > 0) g[blockIdx.x] = cnt;
}
struct Circle {
    unsigned r;
};
struct Rect {
    unsigned w, h;
};
struct None {};
KERNEL variants(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    cs::variant<None, Circle, Rect> v;
    switch (x % 3) {
    case 0: v = Circle{y & 255}; break;
    case 1: v = Rect{x & 15, y & 15}; break;
    }
    ROW(v.index()) struct Vis {
        __device__ unsigned operator()(None) { return 1; }
        __device__ unsigned operator()(Circle c) { return 3 * c.r * c.r; }
        __device__ unsigned operator()(Rect r) { return r.w * r.h; }
    };
    ROW(cs::visit(Vis{}, v)) ROW(cs::holds_alternative<Rect>(v)) if (auto *c = cs::get_if<Circle>(&v)) { ROW(c->r) }
    else {ROW(0)} cs::inplace_vector<unsigned, 8> iv;
    for (unsigned k = 0; k < (x & 7); k++) iv.push_back(y >> k);
    ROW(iv.size()) unsigned h = 0;
    for (auto e : iv) h += e * e;
    ROW(h)
}
KERNEL bitlib(const unsigned *a, const unsigned *b, unsigned *out, unsigned n){
    BEGIN
    ROW(cs::popcount(x)) ROW(cs::countl_zero(x)) ROW(cs::countr_zero(y)) ROW(cs::countl_one(x))
        ROW(cs::bit_width(x)) ROW(cs::bit_floor(y)) ROW(cs::rotl(x, (int)y)) ROW(cs::rotr(x, 7))
            ROW(cs::has_single_bit(x & 12)) ROW(cs::byteswap(x)) ROW((unsigned)cs::byteswap((unsigned short)x))
                ROW(cuda::ceil_div(x, 7u)) ROW(cuda::round_up(x >> 3, 24u))
                    ROW((unsigned)cs::countl_zero((unsigned char)y)) ROW(cs::bit_cast<unsigned>((float)x))
                        ROW((unsigned)cs::countr_one((ull)x << 32 | y))} KERNEL
    complexes(const float *a, const float *b, float *out, unsigned n) {
    BEGIN
    cs::complex<float> p(x, y), q(y, 1.5f);
    auto r = p * q;
    ROW(r.real()) ROW(r.imag()) r = p / q;
    ROW(r.real()) ROW(r.imag()) ROW(cs::norm(p)) ROW(cs::abs(p)) r = p + q - cs::conj(p);
    ROW(r.real()) ROW(r.imag()) ROW(cs::arg(p)) r = cs::sqrt(p);
    ROW(r.real())
}
KERNEL complexesd(const double *a, const double *b, double *out, unsigned n) {
    BEGIN
    cs::complex<double> p(x, y), q(y, 1.5);
    auto r = p * q;
    ROW(r.real()) ROW(r.imag()) r = p / q;
    ROW(r.real()) ROW(r.imag()) ROW(cs::norm(p)) ROW(cs::abs(p)) r = cs::exp(p);
    ROW(r.real()) ROW(r.imag()) ROW(cs::arg(p)) r = cs::sqrt(p);
    ROW(r.real())
}
KERNEL mathlib(const double *a, const double *b, double *out, unsigned n){
    BEGIN
    ROW(cs::hypot(x, y)) ROW(cs::lerp(x, y, 0.25)) ROW(cs::fma(x, y, 1.0)) ROW(cs::trunc(x)) ROW(cs::isnan(x))
        ROW(cs::signbit(x)) ROW(cs::fmod(x, y)) ROW(cs::log2(x)) ROW(cs::exp2(x)) ROW(cs::cbrt(x)) ROW(cs::pow(x, y))
            ROW(cs::tgamma(x)) ROW(cs::round(x)) ROW(cs::midpoint(x, y))} KERNEL
    latches(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    using LT = cuda::latch<cuda::thread_scope_block>;
    __shared__ __align__(16) char raw[sizeof(LT)];
    LT &l = *(LT *)raw;
    __shared__ unsigned s[128];
    BEGIN
    if (!threadIdx.x) new (&l) cuda::latch<cuda::thread_scope_block>(96);
    __syncthreads();
    s[threadIdx.x] = y;
    if (threadIdx.x < 96) l.count_down();
    if (threadIdx.x >= 64) {
        l.wait();
        ROW(s[threadIdx.x - 64])
    } else ROW(3) __syncthreads();
    ROW(l.try_wait()) ROW(s[127 - threadIdx.x])
}
KERNEL pipeline_cxx(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned buf[2][128];
    BEGIN
    auto p = cuda::make_pipeline();
    unsigned h = 0;
    for (int k = 0; k < 4; k++) {
        p.producer_acquire();
        cuda::memcpy_async(&buf[k & 1][threadIdx.x], &a[(i + k * 32) % n], cuda::aligned_size_t<4>(4), p);
        p.producer_commit();
        p.consumer_wait();
        __syncthreads();
        h = h * 31 + buf[k & 1][threadIdx.x ^ 1];
        __syncthreads();
        p.consumer_release();
    }
    ROW(h) __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    auto q = cuda::make_pipeline(cg::this_thread_block(), &st);
    q.producer_acquire();
    cuda::memcpy_async(cg::this_thread_block(), buf[0], b + blockIdx.x * 128, 512, q);
    q.producer_commit();
    q.consumer_wait();
    ROW(buf[0][127 - threadIdx.x]) q.consumer_release();
}
template <class T> struct Poly {
    T c[3];
    __device__ T operator()(T v) const { return c[0] + v * (c[1] + v * c[2]); }
};
KERNEL functional(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    ROW(cs::plus<>{}(x, y)) ROW(cs::invoke(Poly<unsigned>{1, 2, x}, y)) auto f = cs::bit_xor<unsigned>{};
    ROW(f(x, y)) ROW(cs::greater<>{}(x, y)) auto g = cs::not_fn([](unsigned v) { return v & 1; });
    ROW(g(x)) auto mem = cs::mem_fn(&Rect::w);
    Rect r{x, y};
    ROW(mem(r))
}
KERNEL mdspans(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned s[128];
    BEGIN
    s[threadIdx.x] = x;
    __syncthreads();
    cs::mdspan<unsigned, cs::extents<int, 8, 16>> m(s);
    cs::mdspan<unsigned, cs::dextents<int, 2>, cs::layout_left> l(s, 16, 8);
    ROW(m(threadIdx.x & 7, threadIdx.x >> 3))
    ROW(l(threadIdx.x & 15, threadIdx.x >> 4)) ROW(m.extent(1)) ROW((unsigned)m.mapping()(3, 5))
}
KERNEL ints128(const ull *a, const ull *b, ull *out, unsigned n) {
    BEGIN
    __int128 p = (__int128)(long long)x << 64 | y;
    unsigned __int128 q = (unsigned __int128)y << 50 | x >> 3;
    q |= 1;
    auto lo = [](unsigned __int128 v) { return (ull)v ^ (ull)(v >> 64); };
    ROW(lo(p / (long long)(y | 1)))
    ROW(lo(p % 1000000007)) ROW(lo((unsigned __int128)p / q)) ROW(lo((unsigned __int128)p % q)) ROW(lo(p * (__int128)q))
        ROW(p < 0) ROW(lo(p >> (x & 127))) ROW(__double_as_longlong((double)p))
            ROW(__double_as_longlong((double)(unsigned __int128)p))
                ROW(lo((__int128)(__longlong_as_double(x & 0x4fffffffffffffffull)))) ROW(__float_as_uint((float)p))
                    ROW(p > (__int128)q)
}
KERNEL memcpy_async_cg(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ __align__(16) unsigned s[256];
    BEGIN
    auto blk = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(blk);
    cg::memcpy_async(blk, s, a + blockIdx.x * 128, 512);
    cg::wait(blk);
    ROW(s[threadIdx.x ^ 3])
    cg::memcpy_async(tile, s + 128 + 32 * tile.meta_group_rank(), b + blockIdx.x * 128 + 32 * tile.meta_group_rank(),
                     128);
    cg::wait(tile);
    ROW(s[128 + (threadIdx.x ^ 9)]) blk.sync();
    cg::memcpy_async(blk, s, cuda::aligned_size_t<16>(256), b + blockIdx.x * 128, cuda::aligned_size_t<16>(256));
    cg::wait_prior<0>(blk);
    ROW(s[(threadIdx.x * 7) & 63])
}
KERNEL cubblock(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    using R = cub::BlockReduce<unsigned, 128>;
    using S = cub::BlockScan<unsigned, 128>;
    using RS = cub::BlockRadixSort<unsigned, 128, 2, unsigned>;
    using H = cub::BlockHistogram<unsigned char, 128, 4, 256>;
    using DD_ = cub::BlockDiscontinuity<unsigned, 128>;
    using RW = cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING>;
    using SW = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
    using EX = cub::BlockExchange<unsigned, 128, 4>;
    __shared__ union {
        R::TempStorage r;
        S::TempStorage s;
        RS::TempStorage rs;
        H::TempStorage h;
        DD_::TempStorage d;
        RW::TempStorage rw;
        SW::TempStorage sw;
        EX::TempStorage ex;
    } t;
    __shared__ unsigned hist[256];
    BEGIN
    unsigned v = R(t.r).Sum(x);
    __syncthreads();
    ROW(threadIdx.x ? 0 : v) v = R(t.r).Reduce(y, cs::bit_xor<>{}, 77);
    __syncthreads();
    ROW(threadIdx.x ? 0 : v) S(t.s).InclusiveSum(x, v);
    __syncthreads();
    ROW(v) unsigned agg;
    S(t.s).ExclusiveScan(
        y, v, 5u, [](unsigned p, unsigned q) { return max(p, q); }, agg);
    __syncthreads();
    ROW(v ^ agg) unsigned k[2] = {x, y}, w[2] = {threadIdx.x, threadIdx.x + 1000};
    RS(t.rs).Sort(k, w);
    __syncthreads();
    ROW(k[0] ^ k[1] * 3)
    ROW(w[0] * 1000 + w[1]) unsigned char c[4] = {(unsigned char)x, (unsigned char)y, (unsigned char)(x >> 8),
                                                  (unsigned char)(y >> 8)};
    H(t.h).Histogram(c, hist);
    __syncthreads();
    ROW(hist[threadIdx.x] + hist[threadIdx.x + 128] * 1000) int fl[1];
    unsigned it[1] = {x >> 31};
    DD_(t.d).FlagHeads(fl, it, cs::not_equal_to<>{});
    __syncthreads();
    ROW(fl[0]) float f = RW(t.rw).Sum((float)(x & 255), 100);
    __syncthreads();
    ROW(threadIdx.x ? 0 : __float_as_uint(f)) unsigned e[4] = {x, y, x + 1, y + 1};
    EX(t.ex).StripedToBlocked(e);
    __syncthreads();
    ROW(e[0] ^ e[1] * 3 ^ e[2] * 5 ^ e[3] * 7)
}
KERNEL cubwarp(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    using R = cub::WarpReduce<unsigned>;
    using R8 = cub::WarpReduce<int, 8>;
    using S = cub::WarpScan<unsigned>;
    using SD = cub::WarpScan<double, 16>;
    using M = cub::WarpMergeSort<unsigned, 4, 32>;
    __shared__ R::TempStorage r[4];
    __shared__ R8::TempStorage r8[16];
    __shared__ S::TempStorage s[4];
    __shared__ SD::TempStorage sd[8];
    __shared__ M::TempStorage ms[4];
    BEGIN
    unsigned w = threadIdx.x / 32;
    unsigned v = R(r[w]).Sum(x);
    ROW(threadIdx.x & 31 ? 0 : v) v = R(r[w]).HeadSegmentedSum(x, (y & 3) == 0);
    ROW(((y & 3) == 0 || !(threadIdx.x & 31)) ? v : 0)
    int q = R8(r8[threadIdx.x / 8]).Reduce((int)y, [](int p, int q) { return max(p, q); });
    ROW(threadIdx.x & 7 ? 0 : q) S(s[w]).InclusiveScan(x, v, [](unsigned p, unsigned q) { return p * 3 + q; });
    ROW(v) double d;
    SD(sd[threadIdx.x / 16]).ExclusiveSum((double)(x & 1023), d);
    ROW((unsigned)d) unsigned k[4] = {x, y, x * 3, y * 5};
    M(ms[w]).Sort(k, cs::less<>{});
    ROW(k[0]) ROW(k[3]) ROW(S(s[w]).Broadcast(y, 7))
}
