// Integer functions, words as vectors of bytes and half words, integers of 128 bits.
#include "common.cuh"

KERNEL bits_u32(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned z = x * 2654435761u ^ y;
    ROW(__clz(x)) ROW(__popc(x)) ROW(__brev(x)) ROW(__ffs(x)) ROW(__byte_perm(x, y, 0x5140)) ROW(__byte_perm(x, y, z))
    ROW(__funnelshift_l(x, y, z)) ROW(__funnelshift_r(x, y, z)) ROW(__funnelshift_lc(x, y, z)) ROW(__funnelshift_rc(x, y, z))
    ROW(__mulhi((int)x, (int)y)) ROW(__umulhi(x, y)) ROW(__mul24((int)x, (int)y)) ROW(__umul24(x, y))
    ROW(__sad((int)x, (int)y, z)) ROW(__usad(x, y, z)) ROW(__hadd((int)x, (int)y)) ROW(__rhadd((int)x, (int)y))
    ROW(__uhadd(x, y)) ROW(__urhadd(x, y)) ROW(abs((int)x)) ROW(min((int)x, (int)y)) ROW(max(x, y)) ROW(__vcmpgts4(x, y))
    ROW(__dp4a((int)x, (int)y, (int)z)) ROW(__dp4a(x, y, z)) ROW(__dp2a_lo((int)x, (int)y, (int)z))
    ROW(__dp2a_hi(x, y, z)) ROW(__fns(x, z & 31, (int)(y & 7) - 3)) ROW(x << (y & 31)) ROW((int)x >> (y & 31))
    ROW((x >> 5) & 0x3ff) ROW((x & ~0xff0u) | ((y & 0xff) << 4)) ROW(x / (y | 1)) ROW(x % (y | 1)) ROW((int)x / (int)(y | 1))
    ROW((int)x % (int)(y | 1)) ROW(x / 7) ROW((int)x % 10) ROW(__byte_perm(x, 0, 0x0123))
}

KERNEL bits_u64(const unsigned long long *a, const unsigned long long *b, unsigned long long *out, unsigned n) {
    BEGIN
    ROW(__clzll(x)) ROW(__popcll(x)) ROW(__brevll(x)) ROW(__ffsll(x)) ROW(__mul64hi((long long)x, (long long)y))
    ROW(__umul64hi(x, y)) ROW(llabs((long long)x)) ROW(llmin((long long)x, (long long)y)) ROW(ullmax(x, y))
    ROW(x / (y | 1)) ROW(x % (y >> 40 | 1)) ROW((long long)x / (long long)(y | 1)) ROW((long long)x % (long long)(y >> 33 | 1))
    ROW(x << (y & 63)) ROW((long long)x >> (y & 63)) ROW(x / 1000000007u) ROW((x >> 17) & 0xffff)
}

KERNEL bits_u128(const unsigned long long *a, const unsigned long long *b, unsigned long long *out, unsigned n) {
    BEGIN
    using wide = unsigned __int128;
    wide p = (wide)x * y, q = ((wide)y << 64) | x, d = (wide)(y >> 20 | 1) << 3;
    __int128 s = (__int128)(long long)x * (long long)y;
#define BOTH(v) ROW((unsigned long long)(v)) ROW((unsigned long long)((v) >> 64))
    BOTH(p) BOTH(p + q) BOTH(p - q) BOTH(p * q) BOTH(q / d) BOTH(q % d) BOTH(q << (x & 127)) BOTH(q >> (y & 127))
    BOTH(s) BOTH(s >> (x & 127)) BOTH(s / (__int128)((long long)y | 1)) BOTH(-s) BOTH(p ^ ~q) ROW(p < q) ROW(s < (__int128)q)
}

KERNEL simd_u32(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
#define WIDTHS(name) ROW(name##2(x, y)) ROW(name##4(x, y))
    WIDTHS(__vadd) WIDTHS(__vsub) WIDTHS(__vaddss) WIDTHS(__vaddus) WIDTHS(__vsubss) WIDTHS(__vsubus) WIDTHS(__vavgs)
    WIDTHS(__vavgu) WIDTHS(__vhaddu) WIDTHS(__vmaxs) WIDTHS(__vmaxu) WIDTHS(__vmins) WIDTHS(__vminu) WIDTHS(__vabsdiffs)
    WIDTHS(__vabsdiffu) WIDTHS(__vsads) WIDTHS(__vsadu) WIDTHS(__vcmpeq) WIDTHS(__vcmpgeu) WIDTHS(__vcmplts) WIDTHS(__vseteq)
    WIDTHS(__vsetgtu) WIDTHS(__vsetles)
    ROW(__vabs2(x)) ROW(__vabs4(x)) ROW(__vabsss2(x)) ROW(__vabsss4(x)) ROW(__vneg2(x)) ROW(__vneg4(x)) ROW(__vnegss2(x))
    ROW(__viaddmax_s32(x, y, 5)) ROW(__viaddmin_u16x2(x, y, 77)) ROW(__vimax3_s32(x, y, 9)) ROW(__vimin3_u16x2(x, y, 0x12345678))
    ROW(__vimax_s32_relu(x, y)) ROW(__vimax_s16x2_relu(x, y)) ROW(__viaddmax_s16x2_relu(x, y, 0x00010002))
}

KERNEL narrow(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    signed char c = x; short h = y; unsigned char u = y; unsigned short w = x; bool p = x & 1;
    ROW((unsigned)(c * h)) ROW((unsigned)(signed char)(c + h)) ROW((unsigned short)(w * w)) ROW(u / (c | 1)) ROW(h % (u | 1))
    ROW(h >> 3) ROW(w >> 3) ROW((short)(h << 4)) ROW(p ? c : h) ROW(max(h, (short)c)) ROW((unsigned)-h) ROW(!p) ROW(c < h) ROW(u < w)
    ROW((short)min((int)x, 32767)) ROW((unsigned char)min(max((int)x, 0), 255)) ROW(abs(h))
}
