// Many CHIP-8 machines, one after the other.
#include "native.h"

enum { MEMORY = 1024, START = 0x200, STACK = 12 };

static const uchar font[80] = {
    0xf0, 0x90, 0x90, 0x90, 0xf0, 0x20, 0x60, 0x20, 0x20, 0x70, 0xf0, 0x10, 0xf0, 0x80, 0xf0, 0xf0, 0x10, 0xf0, 0x10, 0xf0,
    0x90, 0x90, 0xf0, 0x10, 0x10, 0xf0, 0x80, 0xf0, 0x10, 0xf0, 0xf0, 0x80, 0xf0, 0x90, 0xf0, 0xf0, 0x10, 0x20, 0x40, 0x40,
    0xf0, 0x90, 0xf0, 0x90, 0xf0, 0xf0, 0x90, 0xf0, 0x10, 0xf0, 0xf0, 0x90, 0xf0, 0x90, 0x90, 0xe0, 0x90, 0xe0, 0x90, 0xe0,
    0xf0, 0x80, 0x80, 0x80, 0xf0, 0xe0, 0x90, 0x90, 0x90, 0xe0, 0xf0, 0x80, 0xf0, 0x80, 0xf0, 0xf0, 0x80, 0xf0, 0x80, 0x80,
};

#define AT(a) memory[(a) & (MEMORY - 1)]

void run(const uchar *restrict rom, uchar *restrict memories, uint64_t *restrict screens, uint *restrict registers,
         int rom_size, int machines, int frames, int per_frame) {
    for (int i = 0; i < machines; i++) {
        uchar *restrict memory = memories + (size_t)i * MEMORY, v[16] = {0}, timer = 0;
        uint64_t *restrict screen = screens + (size_t)i * 32;
        unsigned short stack[STACK], pc = START, index = 0;
        uint random = 12345u + 977u * i;
        int sp = 0, halted = 0;
        memset(screen, 0, 32 * 8);
        memcpy(memory, font, 80);
        memcpy(memory + START, rom, rom_size);
        for (int f = 0; f < frames && !halted; f++) {
            for (int k = 0; k < per_frame && !halted; k++) {
                uint op = AT(pc) << 8 | AT(pc + 1), x = op >> 8 & 15, y = op >> 4 & 15, nnn = op & 0xfff;
                uchar nn = op, old = v[x], b = v[y];
                pc += 2;
                switch (op >> 12) {
                case 0x0:
                    if (op == 0x00e0)
                        memset(screen, 0, 32 * 8);
                    else if (op == 0x00ee && sp > 0)
                        pc = stack[--sp];
                    else
                        halted = 1;
                    break;
                case 0x1: pc = nnn; break;
                case 0x2:
                    if (sp == STACK)
                        halted = 1;
                    else {
                        stack[sp++] = pc;
                        pc = nnn;
                    }
                    break;
                case 0x3: pc += old == nn ? 2 : 0; break;
                case 0x4: pc += old != nn ? 2 : 0; break;
                case 0x5: pc += old == b ? 2 : 0; break;
                case 0x6: v[x] = nn; break;
                case 0x7: v[x] += nn; break;
                case 0x8:
                    switch (op & 15) {
                    case 0x0: v[x] = b; break;
                    case 0x1: v[x] |= b; break;
                    case 0x2: v[x] &= b; break;
                    case 0x3: v[x] ^= b; break;
                    case 0x4: v[x] += b, v[15] = (uchar)(old + b) < old; break;
                    case 0x5: v[x] -= b, v[15] = old >= b; break;
                    case 0x6: v[x] >>= 1, v[15] = old & 1; break;
                    case 0x7: v[x] = b - old, v[15] = b >= old; break;
                    case 0xe: v[x] <<= 1, v[15] = old >> 7; break;
                    default: halted = 1;
                    }
                    break;
                case 0x9: pc += old != b ? 2 : 0; break;
                case 0xa: index = nnn; break;
                case 0xb: pc = nnn + v[0]; break;
                case 0xc:
                    random = random * 1664525u + 1013904223u;
                    v[x] = random >> 24 & nn;
                    break;
                case 0xd: {
                    int left = old & 63, top = b & 31, hit = 0;
                    for (int r = 0; r < (int)(op & 15) && top + r < 32; r++) {
                        uint64_t line = (uint64_t)AT(index + r) << 56 >> left;
                        hit |= (screen[top + r] & line) != 0;
                        screen[top + r] ^= line;
                    }
                    v[15] = hit;
                    break;
                }
                case 0xf:
                    switch (nn) {
                    case 0x07: v[x] = timer; break;
                    case 0x15: timer = old; break;
                    case 0x1e: index += old; break;
                    case 0x29: index = 5 * (old & 15); break;
                    case 0x33:
                        AT(index) = old / 100;
                        AT(index + 1) = old / 10 % 10;
                        AT(index + 2) = old % 10;
                        break;
                    case 0x55:
                        for (uint q = 0; q <= x; q++)
                            AT(index + q) = v[q];
                        break;
                    case 0x65:
                        for (uint q = 0; q <= x; q++)
                            v[q] = AT(index + q);
                        break;
                    default: halted = 1;
                    }
                    break;
                default: halted = 1;
                }
            }
            timer -= timer > 0;
        }
        memcpy(registers + 4 * (size_t)i, v, 16);
        registers[4 * (size_t)i + 2] ^= (uint)pc << 16;
        registers[4 * (size_t)i + 3] ^= index;
    }
}
