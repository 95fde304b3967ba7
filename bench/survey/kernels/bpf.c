// Filters of packets in the classic BPF machine.
#include "native.h"

typedef struct {
    unsigned short code;
    uchar jt, jf;
    uint k;
} Instruction;

static inline uint word(const uchar *p) {
    uint raw;
    memcpy(&raw, p, 4);
    return __builtin_bswap32(raw);
}

static inline uint half(const uchar *p) { return p[0] << 8 | p[1]; }

static uint filter(const Instruction *pc, const uchar *restrict packet, uint length) {
    uint a = 0, x = 0, at, memory[16] = {0};
#define NEED(size) if (at >= length || length - at < size) return 0
    for (;; pc++) {
        uint k = pc->k;
        switch (pc->code) {
        case 0x20: at = k; NEED(4); a = word(packet + at); break;
        case 0x28: at = k; NEED(2); a = half(packet + at); break;
        case 0x30: at = k; NEED(1); a = packet[at]; break;
        case 0x40: at = x + k; NEED(4); a = word(packet + at); break;
        case 0x48: at = x + k; NEED(2); a = half(packet + at); break;
        case 0x50: at = x + k; NEED(1); a = packet[at]; break;
        case 0xb1: at = k; NEED(1); x = (packet[at] & 15) << 2; break;
        case 0x00: a = k; break;
        case 0x01: x = k; break;
        case 0x80: a = length; break;
        case 0x60: a = memory[k & 15]; break;
        case 0x61: x = memory[k & 15]; break;
        case 0x02: memory[k & 15] = a; break;
        case 0x03: memory[k & 15] = x; break;
        case 0x04: a += k; break;
        case 0x0c: a += x; break;
        case 0x14: a -= k; break;
        case 0x24: a *= k; break;
        case 0x34: a /= k; break;
        case 0x94: a %= k; break;
        case 0x44: a |= k; break;
        case 0x54: a &= k; break;
        case 0xac: a ^= x; break;
        case 0x64: a <<= k; break;
        case 0x74: a >>= k; break;
        case 0x84: a = -a; break;
        case 0x05: pc += k; break;
        case 0x15: pc += a == k ? pc->jt : pc->jf; break;
        case 0x25: pc += a > k ? pc->jt : pc->jf; break;
        case 0x35: pc += a >= k ? pc->jt : pc->jf; break;
        case 0x45: pc += a & k ? pc->jt : pc->jf; break;
        case 0x1d: pc += a == x ? pc->jt : pc->jf; break;
        case 0x07: x = a; break;
        case 0x87: a = x; break;
        case 0x06: return k;
        case 0x16: return a;
        default: return 0;
        }
    }
}

void run(const uchar *restrict packets, const uint *restrict offsets, const Instruction *restrict code,
         const int *restrict starts, uint *restrict verdicts, uint *restrict accepted, int n, int filters) {
    for (int f = 0; f < filters; f++) {
        uint count = 0;
        for (int i = 0; i < n; i++) {
            uint v = filter(code + starts[f], packets + offsets[i], offsets[i + 1] - offsets[i]);
            verdicts[(size_t)f * n + i] = v;
            count += v != 0;
        }
        accepted[f] += count;
    }
}
