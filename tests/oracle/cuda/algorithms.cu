// Algorithms of many kinds, each within a thread or a CTA: ciphers and checksums, long integers, recursion,
// dynamic programming, trees, parsers, number theory.
#include "common.cuh"

typedef unsigned long long ull;
#define ALL 0xffffffffu

__device__ __forceinline__ unsigned rotl(unsigned v, int s) { return v << s | v >> (32 - s); }
__device__ unsigned lcg(unsigned &s) {
    s = s * 1664525u + 1013904223u;
    return s >> 8;
}
KERNEL sha1(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned w[80], h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (int k = 0; k < 16; k++) w[k] = k == 0 ? x : k == 1 ? y : x * k + y;
    for (int k = 16; k < 80; k++) w[k] = rotl(w[k - 3] ^ w[k - 8] ^ w[k - 14] ^ w[k - 16], 1);
    unsigned A = h[0], B = h[1], C = h[2], d = h[3], e = h[4];
    for (int k = 0; k < 80; k++) {
        unsigned f, c;
        if (k < 20) f = (B & C) | (~B & d), c = 0x5a827999;
        else if (k < 40) f = B ^ C ^ d, c = 0x6ed9eba1;
        else if (k < 60) f = (B & C) | (B & d) | (C & d), c = 0x8f1bbcdc;
        else f = B ^ C ^ d, c = 0xca62c1d6;
        unsigned t = rotl(A, 5) + f + e + c + w[k];
        e = d;
        d = C;
        C = rotl(B, 30);
        B = A;
        A = t;
    }
    ROW(h[0] + A) ROW(h[1] + B) ROW(h[2] + C) ROW(h[3] + d) ROW(h[4] + e)
}
__constant__ unsigned nibbles[16] = {0,          0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
KERNEL crc(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned c = ~0u;
    unsigned char bytes[8];
    *(uint2 *)bytes = make_uint2(x, y);
    for (unsigned k = 0; k < 3 + (x & 5); k++) {
        c = nibbles[(c ^ bytes[k]) & 15] ^ (c >> 4);
        c = nibbles[(c ^ bytes[k] >> 4) & 15] ^ (c >> 4);
    }
    ROW(~c)
    unsigned short s = 0xffff;
    for (int k = 0; k < 8; k++) {
        s ^= (unsigned short)bytes[k] << 8;
        for (int q = 0; q < 8; q++) s = s & 0x8000 ? s << 1 ^ 0x1021 : s << 1;
    }
    ROW(s)
    ull g = 0;
    for (int k = 0; k < 8; k++) {
        g ^= (ull)bytes[k] << 56;
        for (int q = 0; q < 8; q++) g = (long long)g < 0 ? g << 1 ^ 0x42f0e1eba9ea3693ull : g << 1;
    }
    ROW((unsigned)(g ^ g >> 32))
}
__device__ unsigned char xt(unsigned char v) { return v << 1 ^ (v & 128 ? 0x1b : 0); }
__device__ unsigned char gmul(unsigned char p, unsigned char q) {
    unsigned char r = 0;
    while (q) {
        if (q & 1) r ^= p;
        p = xt(p);
        q >>= 1;
    }
    return r;
}
__device__ __noinline__ unsigned char sbox(unsigned char v) {
    unsigned char inv = 0;
    if (v) {
        inv = v;
        for (int k = 0; k < 6; k++) inv = gmul(gmul(inv, inv), v);
        inv = gmul(inv, inv);
    }
    unsigned char r = inv;
    for (int k = 0; k < 4; k++) {
        inv = inv << 1 | inv >> 7;
        r ^= inv;
    }
    return r ^ 0x63;
}
KERNEL aes(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned char box[256];
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) box[k] = sbox(k);
    __syncthreads();
    BEGIN
    union {
        unsigned char s[16];
        uint4 v;
    } st;
    st.v = make_uint4(x, y, x ^ y, x + y);
    for (int r = 0; r < 4; r++) {
        unsigned char t[16];
        for (int k = 0; k < 16; k++) t[k] = box[st.s[(k + 4 * (k & 3)) & 15]];
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < 4; k++)
                st.s[4 * c + k] = xt(t[4 * c + k]) ^ (xt(t[4 * c + (k + 1 & 3)]) ^ t[4 * c + (k + 1 & 3)]) ^
                                  t[4 * c + (k + 2 & 3)] ^ t[4 * c + (k + 3 & 3)] ^ (r * 17 + k);
    }
    ROW(st.v.x) ROW(st.v.y) ROW(st.v.z) ROW(st.v.w)
}
#define QR(p, q, r, t)                                                                                                 \
    p += q;                                                                                                            \
    t = rotl(t ^ p, 16);                                                                                               \
    r += t;                                                                                                            \
    q = rotl(q ^ r, 12);                                                                                               \
    p += q;                                                                                                            \
    t = rotl(t ^ p, 8);                                                                                                \
    r += t;                                                                                                            \
    q = rotl(q ^ r, 7);
KERNEL chacha(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned s[16];
    for (int k = 0; k < 16; k++) s[k] = x * (k + 1) ^ y;
#pragma unroll 2
    for (int k = 0; k < 10; k++) {
        QR(s[0], s[4], s[8], s[12])
        QR(s[1], s[5], s[9], s[13]) QR(s[2], s[6], s[10], s[14]) QR(s[3], s[7], s[11], s[15])
            QR(s[0], s[5], s[10], s[15]) QR(s[1], s[6], s[11], s[12]) QR(s[2], s[7], s[8], s[13])
                QR(s[3], s[4], s[9], s[14])
    }
    ROW(s[0] ^ s[5]) ROW(s[1] + s[6]) ROW(s[2] - s[7]) ROW(s[3] * s[15])
}
struct Big {
    ull d[4];
};
__device__ Big add(Big p, Big q, ull &carry) {
    Big r;
    unsigned __int128 c = 0;
    for (int k = 0; k < 4; k++) {
        c += (unsigned __int128)p.d[k] + q.d[k];
        r.d[k] = (ull)c;
        c >>= 64;
    }
    carry = (ull)c;
    return r;
}
__device__ __noinline__ Big mul(const Big &p, const Big &q) {
    Big r = {};
    for (int k = 0; k < 4; k++) {
        ull c = 0;
        for (int j = 0; k + j < 4; j++) {
            unsigned __int128 t = (unsigned __int128)p.d[k] * q.d[j] + r.d[k + j] + c;
            r.d[k + j] = (ull)t;
            c = (ull)(t >> 64);
        }
    }
    return r;
}
KERNEL bigint(const ull *a, const ull *b, ull *out, unsigned n) {
    BEGIN
    Big p = {{x, y, ~x, x ^ y}}, q = {{y, x * 3, ~y, 1}};
    ull c;
    Big s = add(p, q, c), m = mul(p, q), e = {{1, 0, 0, 0}};
    for (unsigned k = x & 31; k; k >>= 1) {
        if (k & 1) e = mul(e, q);
        q = mul(q, q);
    }
    ROW(s.d[0]) ROW(s.d[3]) ROW(c) ROW(m.d[1]) ROW(m.d[3]) ROW(e.d[0]) ROW(e.d[2]) ull r0, r1, r2;
    asm("add.cc.u64 %0, %3, %4; addc.cc.u64 %1, %3, %5; addc.u64 %2, 0, 0;"
        : "=l"(r0), "=l"(r1), "=l"(r2)
        : "l"(x), "l"(y), "l"(~y));
    asm("mad.lo.cc.u64 %0, %3, %4, %0; madc.hi.cc.u64 %1, %3, %4, %1; madc.hi.u64 %2, %3, %3, %2;"
        : "+l"(r0), "+l"(r1), "+l"(r2)
        : "l"(x), "l"(y));
    ROW(r0 ^ r1 ^ r2)
}
__device__ unsigned place(unsigned n, unsigned cols, unsigned l, unsigned r) {
    unsigned full = (1u << n) - 1;
    if (cols == full) return 1;
    unsigned c = 0, open = full & ~(cols | l | r);
    while (open) {
        unsigned bit = open & -open;
        open ^= bit;
        c += place(n, cols | bit, (l | bit) << 1, (r | bit) >> 1);
    }
    return c;
}
KERNEL queens(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    ROW(place(4 + (x & 3), 0, 0, 0)) unsigned first = 1u << (y % 6);
    ROW(place(6, first, first << 1, first >> 1))
}
KERNEL edit(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned char s[12], t[12], d[13];
    unsigned p = x, q = y;
    int n1 = x % 13, n2 = y % 13;
    for (int k = 0; k < 12; k++) {
        s[k] = lcg(p) & 3;
        t[k] = lcg(q) & 3;
    }
    for (int k = 0; k <= n2; k++) d[k] = k;
    for (int k = 1; k <= n1; k++) {
        unsigned char diag = d[0];
        d[0] = k;
        for (int j = 1; j <= n2; j++) {
            unsigned char old = d[j];
            d[j] = min(min(d[j] + 1, d[j - 1] + 1), diag + (s[k - 1] != t[j - 1]));
            diag = old;
        }
    }
    ROW(d[n2])
    unsigned best = 0;
    for (int k = 0; k < 12; k++)
        for (int j = 0; j < 12; j++) {
            unsigned l = 0;
            while (k + l < 12 && j + l < 12 && s[k + l] == t[j + l]) l++;
            best = max(best, l);
        }
    ROW(best)
}
__device__ const char patterns[4][8] = {"a*b", "ab.", ".*c", "^ba$"};
__device__ bool here(const char *re, const char *s);
__device__ bool star(int c, const char *re, const char *s) {
    do {
        if (here(re, s)) return true;
    } while (*s && (*s++ == c || c == '.'));
    return false;
}
__device__ __noinline__ bool here(const char *re, const char *s) {
    if (!*re) return true;
    if (re[1] == '*') return star(re[0], re + 2, s);
    if (re[0] == '$' && !re[1]) return !*s;
    if (*s && (re[0] == '.' || re[0] == *s)) return here(re + 1, s + 1);
    return false;
}
__device__ bool match(const char *re, const char *s) {
    if (re[0] == '^') return here(re + 1, s);
    do {
        if (here(re, s)) return true;
    } while (*s++);
    return false;
}
KERNEL regex(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    char s[9];
    unsigned p = x;
    for (int k = 0; k < 8; k++) s[k] = 'a' + lcg(p) % 3;
    s[y % 9] = 0;
    s[8] = 0;
    ROW(match(patterns[x & 3], s)) ROW(match("b*a", s)) ROW(match(patterns[y & 3], s))
}
__device__ void qsort_(int *v, int lo, int hi) {
    while (lo < hi) {
        int p = v[(lo + hi) >> 1], i = lo, j = hi;
        while (i <= j) {
            while (v[i] < p) i++;
            while (v[j] > p) j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j - lo < hi - i) {
            qsort_(v, lo, j);
            lo = i;
        } else {
            qsort_(v, i, hi);
            hi = j;
        }
    }
}
KERNEL quicksort(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    int v[20];
    unsigned p = x;
    for (int k = 0; k < 20; k++) v[k] = (int)(lcg(p) << 9) >> (y & 15);
    qsort_(v, 0, 5 + x % 15);
    unsigned h = 0;
    for (int k = 0; k < 20; k++) h = h * 31 + v[k];
    ROW(h) ROW(v[0]) ROW(v[5])
}
KERNEL tokens(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    char s[24];
    unsigned p = x;
    const char *set = "12+*()- 9";
    for (int k = 0; k < 23; k++) s[k] = set[lcg(p) % 9];
    s[23] = 0;
    int depth = 0, err = 0, count = 0, sum = 0;
    for (char *q = s; *q;) {
        switch (*q) {
        case '(':
            depth++;
            q++;
            break;
        case ')':
            if (--depth < 0) {
                err = 1;
                goto stop;
            }
            q++;
            break;
        case '+':
        case '-':
            count += *q == '+' ? 1 : 2;
            q++;
            break;
        case '*':
            count += 5;
            q++;
            if (*q == '*') err |= 2;
            break;
        case ' ': q++; continue;
        default: {
            int v = 0;
            while (*q >= '0' && *q <= '9') v = v * 10 + *q++ - '0';
            sum += v;
        }
        }
    }
stop:
    ROW(depth) ROW(err) ROW(count) ROW(sum)
}
struct Node {
    float lo, hi;
    int left, right;
};
__constant__ Node tree[7] = {{0, 64, 1, 2},  {0, 30, 3, 4},   {25, 64, 5, 6}, {0, 10, -1, 0},
                             {8, 30, -1, 1}, {25, 40, -1, 2}, {39, 64, -1, 3}};
KERNEL bvh(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    int stack[8], top = 0, steps = 0;
    float q = (x & 127) * 0.5f;
    unsigned hit = 0;
    stack[top++] = 0;
    while (top) {
        Node nd = tree[stack[--top]];
        steps++;
        if (q < nd.lo || q >= nd.hi) continue;
        if (nd.left < 0) {
            hit |= 1u << nd.right;
            if (y & 1) break;
        } else {
            stack[top++] = nd.right;
            stack[top++] = nd.left;
        }
    }
    ROW(hit) ROW(steps)
}
KERNEL life(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned char g[2][18][34];
    BEGIN
    unsigned cx = threadIdx.x % 32 + 1, r = threadIdx.x / 32 * 4;
    for (unsigned k = threadIdx.x; k < 2 * 18 * 34; k += blockDim.x) ((unsigned char *)g)[k] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) g[0][r + k + 1][cx] = x >> k & 1;
    for (int t = 0; t < 5; t++) {
        __syncthreads();
        for (int k = 1; k <= 4; k++) {
            auto q = g[t & 1];
            int c = q[r + k - 1][cx - 1] + q[r + k - 1][cx] + q[r + k - 1][cx + 1] + q[r + k][cx - 1] +
                    q[r + k][cx + 1] + q[r + k + 1][cx - 1] + q[r + k + 1][cx] + q[r + k + 1][cx + 1];
            g[t & 1 ^ 1][r + k][cx] = c == 3 || (c == 2 && q[r + k][cx]);
        }
    }
    __syncthreads();
    ROW(g[1][r + 1][cx] | g[1][r + 2][cx] << 1 | g[1][r + 3][cx] << 2 | g[1][r + 4][cx] << 3)
    ROW(__syncthreads_count(g[1][r + 1][cx])) ROW(__ballot_sync(ALL, g[1][r + 2][cx]))
}
__device__ unsigned powmod(ull base, unsigned e, unsigned m) {
    ull r = 1;
    base %= m;
    while (e) {
        if (e & 1) r = r * base % m;
        base = base * base % m;
        e >>= 1;
    }
    return (unsigned)r;
}
KERNEL primes(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned v = x | 1;
    bool prime = v > 2;
    if (prime) {
        unsigned d = v - 1, s = 0;
        while (!(d & 1)) d >>= 1, s++;
        const unsigned w[3] = {2, 7, 61};
        for (int k = 0; k < 3 && prime; k++) {
            if (v % w[k] == 0) {
                prime = v == w[k];
                break;
            }
            ull t = powmod(w[k], d, v);
            if (t == 1 || t == v - 1) continue;
            bool ok = false;
            for (unsigned q = 1; q < s; q++) {
                t = t * t % v;
                if (t == v - 1) {
                    ok = true;
                    break;
                }
            }
            prime = ok;
        }
    }
    ROW(prime) unsigned c = 0;
    for (unsigned p = 2; p * p <= (y & 0xffff) && c < 1000; p++, c++)
        if ((y & 0xffff) % p == 0) break;
    ROW(c)
    unsigned r = (unsigned)sqrtf((float)x);
    while ((ull)r * r > x) r--;
    while ((ull)(r + 1) * (r + 1) <= x) r++;
    ROW(r)
    unsigned z = y, root = 0;
    for (unsigned bit = 1u << 30; bit; bit >>= 2) {
        if (z >= root + bit) {
            z -= root + bit;
            root = (root >> 1) + bit;
        } else root >>= 1;
    }
    ROW(root)
}
KERNEL lu(const float *a, const float *b, float *out, unsigned n) {
    BEGIN
    float m[4][4];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            m[r][c] = __fmul_rn(x, r + 1) + __fmul_rn(y, c * c + r) + (r == c ? 3.f : 0.25f * r);
    int swaps = 0;
    float det = 1;
    for (int k = 0; k < 4; k++) {
        int p = k;
        for (int r = k + 1; r < 4; r++)
            if (fabsf(m[r][k]) > fabsf(m[p][k])) p = r;
        if (p != k) {
            swaps++;
            for (int c = 0; c < 4; c++) {
                float t = m[k][c];
                m[k][c] = m[p][c];
                m[p][c] = t;
            }
        }
        det *= m[k][k];
        if (m[k][k] == 0) break;
        for (int r = k + 1; r < 4; r++) {
            float f = m[r][k] / m[k][k];
            m[r][k] = f;
            for (int c = k + 1; c < 4; c++) m[r][c] = fmaf(-f, m[k][c], m[r][c]);
        }
    }
    ROW(det) ROW(swaps) ROW(m[3][3]) ROW(m[2][1]) ROW(swaps & 1 ? -det : det)
}
KERNEL kepler(const double *a, const double *b, double *out, unsigned n) {
    BEGIN
    double e = fabs(x) < 1 ? fabs(x) : 0.5, M = fabs(y) < 1e6 ? y : 1.0, E = M;
    int k = 0;
    for (; k < 30; k++) {
        double d = (E - e * sin(E) - M) / (1 - e * cos(E));
        E -= d;
        if (fabs(d) < 1e-14) break;
    }
    ROW(E) ROW(k) ROW(sqrt(1 - e * e)) ROW(atan2(sqrt(1 - e * e) * sin(E), cos(E) - e)) ROW(fmod(M, 6.283185307179586))
}
KERNEL collatz(const ull *a, const ull *b, ull *out, unsigned n) {
    BEGIN
    ull v = (x >> 34) + 1;
    unsigned s = 0;
    ull top = v;
    while (v != 1 && s < 300) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        s++;
        top = max(top, v);
    }
    ROW(s) ROW(top) ROW(v) long long g = (long long)y;
    int d = 0;
    while (g) {
        g /= 10;
        d++;
    }
    ROW(d)
}
struct Trie {
    short child[4];
    unsigned char end;
};
KERNEL tries(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    Trie t[13];
    for (int k = 0; k < 13; k++) {
        t[k].end = 0;
        for (int c = 0; c < 4; c++) t[k].child[c] = -1;
    }
    int used = 1;
    for (int w = 0; w < 4; w++) {
        int at = 0;
        for (int c = 0; c < 3; c++) {
            int s = x >> (w * 6 + c * 2) & 3;
            if (t[at].child[s] < 0) t[at].child[s] = used++;
            at = t[at].child[s];
        }
        t[at].end++;
    }
    int at = 0, c = 0;
    for (; c < 3 && at >= 0; c++) at = t[at].child[y >> c * 2 & 3];
    ROW(used) ROW(at < 0 ? c : 100 + t[at].end)
}
KERNEL heap(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned h[16], m = 0, p = x, q = 0;
    for (int k = 0; k < 24; k++) {
        if (m < 15 && (lcg(p) & 3 || !m)) {
            unsigned j = m++;
            h[j] = lcg(p);
            while (j && h[(j - 1) / 2] > h[j]) {
                unsigned t = h[j];
                h[j] = h[(j - 1) / 2];
                h[(j - 1) / 2] = t;
                j = (j - 1) / 2;
            }
        } else {
            q = q * 5 + h[0];
            h[0] = h[--m];
            unsigned j = 0;
            for (;;) {
                unsigned s = j, l = 2 * j + 1;
                if (l < m && h[l] < h[s]) s = l;
                if (l + 1 < m && h[l + 1] < h[s]) s = l + 1;
                if (s == j) break;
                unsigned t = h[j];
                h[j] = h[s];
                h[s] = t;
                j = s;
            }
        }
    }
    ROW(q) ROW(m) ROW(m ? h[0] : y)
}
KERNEL vmachine(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned st[16] = {}, sp = 0, pc = 0, steps = 0, acc = 0, prog[16];
    unsigned p = x;
    for (int k = 0; k < 16; k++) prog[k] = lcg(p);
    while (steps++ < 60) {
        unsigned op = prog[pc & 15];
        pc++;
        switch (op % 11) {
        case 0:
            st[sp & 15] = op;
            sp++;
            break;
        case 1:
            if (sp) sp--;
            acc += st[sp & 15];
            if (!sp) st[0] = 1;
            break;
        case 2: acc = rotl(acc, 3) ^ y; break;
        case 3:
            if (acc & 1) pc += op >> 4 & 3;
            break;
        case 4: pc = op >> 3; break;
        case 5: acc *= op | 1; break;
        case 6:
            if (acc > 0x80000000u) goto out;
            break;
        case 7: acc = __popc(acc) + op; break;
        case 8:
            for (unsigned q = 0; q < (op & 7); q++) acc += q * acc;
            break;
        case 9: acc /= (op & 255) + 1; break;
        default:
            if (sp > 12) sp = 0;
        }
        if (sp <= 0) st[0] = acc;
    }
out:
    ROW(acc) ROW(pc) ROW(sp) ROW(steps)
}
__device__ ull gcd_(ull p, ull q) { return q ? gcd_(q, p % q) : p; }
KERNEL gcds(const ull *a, const ull *b, ull *out, unsigned n) {
    BEGIN
    ROW(gcd_(x, y)) ull p = x, q = y;
    int s = 0;
    if (p && q) {
        s = __ffsll(p | q) - 1;
        p >>= __ffsll(p) - 1;
        do {
            q >>= __ffsll(q) - 1;
            if (p > q) {
                ull t = p;
                p = q;
                q = t;
            }
            q -= p;
        } while (q);
    }
    ROW(p << s) long long a0 = 1, a1 = 0, u = x >> 1, v = y >> 1 | 1;
    while (v) {
        long long d = u / v, t = u - d * v;
        u = v;
        v = t;
        t = a0 - d * a1;
        a0 = a1;
        a1 = t;
    }
    ROW(a0) ROW(u) ROW(x % 1000000007ull * (y % 998244353ull) % 1000000009ull)
}
__device__ const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
KERNEL base64(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned char in[9] = {(unsigned char)x,         (unsigned char)(x >> 8),  (unsigned char)(x >> 16),
                                 (unsigned char)(x >> 24), (unsigned char)y,         (unsigned char)(y >> 8),
                                 (unsigned char)(y >> 16), (unsigned char)(y >> 24), 7};
    union {
        char c[12];
        unsigned u[3];
    } o;
    for (int k = 0; k < 3; k++) {
        unsigned v = in[3 * k] << 16 | in[3 * k + 1] << 8 | in[3 * k + 2];
        for (int j = 0; j < 4; j++) o.c[4 * k + j] = alphabet[v >> (18 - 6 * j) & 63];
    }
    ROW(o.u[0]) ROW(o.u[1]) ROW(o.u[2]) unsigned back = 0;
    for (int k = 0; k < 12; k++) {
        char c = o.c[k];
        int v = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+'             ? 62
                                       : 63;
        back = back * 37 + v;
    }
    ROW(back)
}
KERNEL floyd(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned short d[64][65];
    BEGIN
    unsigned t = threadIdx.x;
    for (int k = 0; k < 64; k++) d[t][k] = k == t ? 0 : (a[blockIdx.x * 64 + k] * (t + 3) >> 5) % 977 + 1;
    for (int k = 0; k < 64; k++) {
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            unsigned short v = d[t][k] + d[k][j];
            if (v < d[t][j]) d[t][j] = v;
        }
    }
    __syncthreads();
    unsigned h = 0;
    for (int k = 0; k < 64; k++) h = h * 31 + d[k][t];
    ROW(h) ROW(d[t][y & 63])
}
KERNEL wavefront(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ int prev[3][130];
    BEGIN
    int t = threadIdx.x;
    int best = 0;
    for (int k = 0; k < 3; k++) prev[k][t] = 0, prev[k][129] = 0, prev[k][128] = 0;
    __syncthreads();
    for (int s = 0; s < 255; s++) {
        int j = s - t;
        int v = 0;
        if (j >= 0 && j < 128) {
            unsigned q = b[blockIdx.x * 128 + j] & 3, r = x & 3;
            v = max(0, max((t ? prev[(s + 1) % 3][t - 1 + 1] : 0) + (q == r ? 2 : -1),
                           max((t ? prev[(s + 2) % 3][t] : 0) - 1, prev[(s + 2) % 3][t + 1] - 1)));
            best = max(best, v);
        }
        __syncthreads();
        prev[s % 3][t + 1] = v;
        __syncthreads();
    }
    ROW(best) ROW(prev[0][t + 1])
}
__device__ int mystrlen(const char *s) {
    const char *p = s;
    while (*p) p++;
    return p - s;
}
__device__ char *itoa_(long long v, char *e, int base) {
    bool neg = v < 0;
    ull u = neg ? -(ull)v : v;
    *--e = 0;
    do {
        int d = u % base;
        *--e = d < 10 ? '0' + d : 'a' + d - 10;
        u /= base;
    } while (u);
    if (neg) *--e = '-';
    return e;
}
KERNEL strings(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    char buf[70];
    char *s = itoa_((int)x, buf + 70, 10);
    unsigned h = 5381;
    for (char *p = s; *p; p++) h = h * 33 + *p;
    ROW(h) ROW(mystrlen(s)) s = itoa_((long long)x * (int)y, buf + 70, 2 + y % 15);
    h = 0;
    for (char *p = s; *p; p++) h = h * 33 ^ (unsigned char)*p;
    ROW(h) ROW(mystrlen(s)) long long v = 0;
    bool neg = *s == '-';
    for (char *p = s + neg; *p; p++) v = v * (2 + y % 15) + (*p <= '9' ? *p - '0' : *p - 'a' + 10);
    ROW((neg ? -v : v) == (long long)x * (int)y)
}
KERNEL fixedp(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    int p = (int)x >> 4, q = (int)y >> 4 | 1;
    long long m = ((long long)p * q + (1 << 15)) >> 16;
    long long d = ((long long)p << 16) / q;
    ROW((int)m) ROW((int)d) int c = p, s = 0x9b74;
    for (int k = 0; k < 16; k++) {
        int t = c >= 0 ? s - (s >> k) : s + (s >> k);
        c += c >= 0 ? -(0x6487 >> k) : 0x6487 >> k;
        s = t;
    }
    ROW(s) ROW(c) int ex = x ? 31 - __clz(x) : 0;
    unsigned fr = x << (31 - ex);
    int lg = ex << 16;
    for (int k = 15; k >= 0; k--) {
        fr = __umulhi(fr, fr);
        if (fr & 0x40000000 && !(fr & 0x80000000)) fr <<= 1;
        else lg |= 1 << k;
    }
    ROW(lg) ROW(__mulhi((int)x, 0x66666667) >> 2)
}
KERNEL perm(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    BEGIN
    unsigned char v[8];
    for (int k = 0; k < 8; k++) v[k] = k;
    unsigned q = x % 40320;
    unsigned f = 5040;
    unsigned char r[8];
    for (int k = 0; k < 8; k++) {
        int d = q / f;
        q %= f;
        if (k < 7) f /= 7 - k;
        r[k] = v[d];
        for (int j = d; j < 7; j++) v[j] = v[j + 1];
    }
    unsigned h = 0;
    for (int k = 0; k < 8; k++) h = h << 4 | r[k];
    ROW(h) int k = 6;
    while (k >= 0 && r[k] > r[k + 1]) k--;
    if (k >= 0) {
        int l = 7;
        while (r[l] < r[k]) l--;
        unsigned char t = r[k];
        r[k] = r[l];
        r[l] = t;
        for (int p = k + 1, q2 = 7; p < q2; p++, q2--) {
            t = r[p];
            r[p] = r[q2];
            r[q2] = t;
        }
    }
    h = 0;
    for (int k = 0; k < 8; k++) h = h << 4 | r[k];
    ROW(h) unsigned inv = 0;
    for (int p = 0; p < 8; p++)
        for (int q2 = p + 1; q2 < 8; q2++) inv += r[p] > r[q2];
    ROW(inv) ROW(__byte_perm(h, y, 0x7531))
}
KERNEL unionfind(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned p[128];
    BEGIN
    unsigned t = threadIdx.x;
    p[t] = t;
    __syncthreads();
    for (int e = 0; e < 1; e++) {
        unsigned u = t, v = y & 127;
        if (x & 1)
            while (true) {
                while (p[u] != u) u = p[u];
                while (p[v] != v) v = p[v];
                if (u == v) break;
                unsigned hi = max(u, v), lo = min(u, v);
                if (atomicCAS(&p[hi], hi, lo) == hi) break;
            }
    }
    __syncthreads();
    unsigned u = t;
    while (p[u] != u) u = p[u];
    ROW(u)
}
KERNEL matching(const unsigned *a, const unsigned *b, unsigned *out, unsigned n) {
    __shared__ unsigned taken[16];
    __shared__ int changed;
    BEGIN
    unsigned t = threadIdx.x;
    if (t < 16) taken[t] = ALL;
    unsigned want = x & 15, tries = 0;
    bool have = false;
    do {
        __syncthreads();
        if (t == 0) changed = 0;
        __syncthreads();
        if (!have) atomicMin(&taken[want], t);
        __syncthreads();
        if (!have) {
            if (taken[want] == t) have = true;
            else {
                want = want * 5 + 3 & 15;
                if (++tries < 6) changed = 1;
                else have = true;
            }
        } else if (tries < 6 && taken[want] != t) {
            have = false;
            tries++;
            changed = 1;
        }
        __syncthreads();
    } while (changed);
    ROW(want) ROW(tries) ROW(have)
}
