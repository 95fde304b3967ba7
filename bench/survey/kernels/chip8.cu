// Many CHIP-8 machines, one a thread, each with its own memory, random numbers and screen of 64 x 32: an interpreter
// by switch, with calls, skips, sprites, decimal digits.
#include <cuda/std/array>
#include <cstdint>

constexpr int MEMORY = 1024, START = 0x200;

__constant__ uint8_t font[80] = {
    0xf0, 0x90, 0x90, 0x90, 0xf0, 0x20, 0x60, 0x20, 0x20, 0x70, 0xf0, 0x10, 0xf0, 0x80, 0xf0, 0xf0, 0x10, 0xf0, 0x10, 0xf0,
    0x90, 0x90, 0xf0, 0x10, 0x10, 0xf0, 0x80, 0xf0, 0x10, 0xf0, 0xf0, 0x80, 0xf0, 0x90, 0xf0, 0xf0, 0x10, 0x20, 0x40, 0x40,
    0xf0, 0x90, 0xf0, 0x90, 0xf0, 0xf0, 0x90, 0xf0, 0x10, 0xf0, 0xf0, 0x90, 0xf0, 0x90, 0x90, 0xe0, 0x90, 0xe0, 0x90, 0xe0,
    0xf0, 0x80, 0x80, 0x80, 0xf0, 0xe0, 0x90, 0x90, 0x90, 0xe0, 0xf0, 0x80, 0xf0, 0x80, 0xf0, 0xf0, 0x80, 0xf0, 0x80, 0x80,
};

struct Machine {
    cuda::std::array<uint8_t, 16> v{};
    cuda::std::array<uint16_t, 12> stack{};
    uint64_t screen[32] = {};
    uint8_t *memory;
    uint32_t random;
    uint16_t pc = START, index = 0;
    uint8_t sp = 0, timer = 0;
    bool halted = false;

    __device__ Machine(uint8_t *m, uint32_t seed) : memory(m), random(seed) {}

    __device__ uint8_t &at(unsigned address) { return memory[address & (MEMORY - 1)]; }

    __device__ void draw(int x, int y, int rows) {
        v[15] = 0;
        for (int r = 0; r < rows && y + r < 32; r++) {
            uint64_t line = static_cast<uint64_t>(at(index + r)) << 56 >> x;
            if (screen[y + r] & line)
                v[15] = 1;
            screen[y + r] ^= line;
        }
    }

    __device__ void step() {
        const uint16_t op = at(pc) << 8 | at(pc + 1);
        const int x = op >> 8 & 15, y = op >> 4 & 15, nnn = op & 0xfff;
        const uint8_t nn = op & 0xff;
        pc += 2;
        switch (op >> 12) {
        case 0x0:
            if (op == 0x00e0)
                for (auto &line : screen)
                    line = 0;
            else if (op == 0x00ee && sp > 0)
                pc = stack[--sp];
            else
                halted = true;
            return;
        case 0x1:
            pc = nnn;
            return;
        case 0x2:
            if (sp == stack.size()) {
                halted = true;
                return;
            }
            stack[sp++] = pc;
            pc = nnn;
            return;
        case 0x3:
            pc += v[x] == nn ? 2 : 0;
            return;
        case 0x4:
            pc += v[x] != nn ? 2 : 0;
            return;
        case 0x5:
            pc += v[x] == v[y] ? 2 : 0;
            return;
        case 0x6:
            v[x] = nn;
            return;
        case 0x7:
            v[x] += nn;
            return;
        case 0x8:
            return arithmetic(op & 15, v[x], v[y]);
        case 0x9:
            pc += v[x] != v[y] ? 2 : 0;
            return;
        case 0xa:
            index = nnn;
            return;
        case 0xb:
            pc = nnn + v[0];
            return;
        case 0xc:
            random = random * 1664525u + 1013904223u;
            v[x] = random >> 24 & nn;
            return;
        case 0xd:
            return draw(v[x] & 63, v[y] & 31, op & 15);
        case 0xf:
            return special(nn, x);
        default:
            halted = true;
        }
    }

    __device__ void arithmetic(int op, uint8_t &a, uint8_t b) {
        const uint8_t old = a;
        switch (op) {
        case 0x0: a = b; return;
        case 0x1: a |= b; return;
        case 0x2: a &= b; return;
        case 0x3: a ^= b; return;
        case 0x4: a += b; v[15] = a < old; return;
        case 0x5: a -= b; v[15] = old >= b; return;
        case 0x6: a >>= 1; v[15] = old & 1; return;
        case 0x7: a = b - a; v[15] = b >= old; return;
        case 0xe: a <<= 1; v[15] = old >> 7; return;
        default: halted = true;
        }
    }

    __device__ void special(uint8_t op, int x) {
        switch (op) {
        case 0x07: v[x] = timer; return;
        case 0x15: timer = v[x]; return;
        case 0x1e: index += v[x]; return;
        case 0x29: index = 5 * (v[x] & 15); return;
        case 0x33:
            at(index) = v[x] / 100;
            at(index + 1) = v[x] / 10 % 10;
            at(index + 2) = v[x] % 10;
            return;
        case 0x55:
            for (int i = 0; i <= x; i++)
                at(index + i) = v[i];
            return;
        case 0x65:
            for (int i = 0; i <= x; i++)
                v[i] = at(index + i);
            return;
        default: halted = true;
        }
    }
};

extern "C" __global__ void chip8(const uint8_t *__restrict__ rom, uint8_t *memories, uint64_t *screens,
                                 uint4 *registers, int rom_size, int machines, int frames, int per_frame) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= machines)
        return;
    uint8_t *memory = memories + static_cast<size_t>(i) * MEMORY;
    for (int k = 0; k < 80; k++)
        memory[k] = font[k];
    for (int k = 0; k < rom_size; k++)
        memory[START + k] = rom[k];
    Machine machine(memory, 12345u + 977u * i);
    for (int f = 0; f < frames && !machine.halted; f++) {
        for (int k = 0; k < per_frame && !machine.halted; k++)
            machine.step();
        machine.timer -= machine.timer > 0;
    }
    for (int y = 0; y < 32; y++)
        screens[static_cast<size_t>(i) * 32 + y] = machine.screen[y];
    uint32_t packed[4] = {};
    for (int k = 0; k < 16; k++)
        packed[k / 4] |= machine.v[k] << 8 * (k % 4);
    registers[i] = make_uint4(packed[0], packed[1], packed[2] ^ machine.pc << 16, packed[3] ^ machine.index);
}
