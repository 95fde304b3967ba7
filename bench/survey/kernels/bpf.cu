// Filters of packets in the classic BPF machine: each thread runs one filter's program on one packet, of which it reads
// bytes, halves and words in network order at any address. The programs are in constant memory.
enum Op : unsigned short {
    LD_W_ABS = 0x20, LD_H_ABS = 0x28, LD_B_ABS = 0x30, LD_W_IND = 0x40, LD_H_IND = 0x48, LD_B_IND = 0x50,
    LDX_IMM = 0x01, LD_IMM = 0x00, LD_LEN = 0x80, LDX_MSH = 0xb1, LD_MEM = 0x60, LDX_MEM = 0x61, ST = 0x02, STX = 0x03,
    ADD_K = 0x04, ADD_X = 0x0c, SUB_K = 0x14, MUL_K = 0x24, DIV_K = 0x34, MOD_K = 0x94, OR_K = 0x44, AND_K = 0x54,
    XOR_X = 0xac, LSH_K = 0x64, RSH_K = 0x74, NEG = 0x84, JA = 0x05, JEQ_K = 0x15, JGT_K = 0x25, JGE_K = 0x35,
    JSET_K = 0x45, JEQ_X = 0x1d, RET_K = 0x06, RET_A = 0x16, TAX = 0x07, TXA = 0x87
};

struct Instruction {
    unsigned short code;
    unsigned char jt, jf;
    unsigned k;
};

__device__ bool read_packet(const unsigned char *packet, unsigned length, unsigned at, int size, unsigned &value) {
    if (at >= length || length - at < size)
        return false;
    const unsigned char *p = packet + at;
    switch (size) {
    case 1:
        value = p[0];
        break;
    case 2:
        value = p[0] << 8 | p[1];
        break;
    default: {
        unsigned raw;
        memcpy(&raw, p, 4);
        value = __byte_perm(raw, 0, 0x0123);
    }
    }
    return true;
}

__device__ unsigned run_filter(const Instruction *pc, const unsigned char *packet, unsigned length) {
    unsigned a = 0, x = 0, memory[16];
    for (int i = 0; i < 16; i++)
        memory[i] = 0;
    for (;; pc++) {
        Instruction in = *pc;
        switch (in.code) {
        case LD_W_ABS: if (!read_packet(packet, length, in.k, 4, a)) return 0; break;
        case LD_H_ABS: if (!read_packet(packet, length, in.k, 2, a)) return 0; break;
        case LD_B_ABS: if (!read_packet(packet, length, in.k, 1, a)) return 0; break;
        case LD_W_IND: if (!read_packet(packet, length, x + in.k, 4, a)) return 0; break;
        case LD_H_IND: if (!read_packet(packet, length, x + in.k, 2, a)) return 0; break;
        case LD_B_IND: if (!read_packet(packet, length, x + in.k, 1, a)) return 0; break;
        case LDX_MSH:
            if (in.k >= length)
                return 0;
            x = (packet[in.k] & 15) << 2;
            break;
        case LD_IMM: a = in.k; break;
        case LDX_IMM: x = in.k; break;
        case LD_LEN: a = length; break;
        case LD_MEM: a = memory[in.k & 15]; break;
        case LDX_MEM: x = memory[in.k & 15]; break;
        case ST: memory[in.k & 15] = a; break;
        case STX: memory[in.k & 15] = x; break;
        case ADD_K: a += in.k; break;
        case ADD_X: a += x; break;
        case SUB_K: a -= in.k; break;
        case MUL_K: a *= in.k; break;
        case DIV_K: a /= in.k; break;
        case MOD_K: a %= in.k; break;
        case OR_K: a |= in.k; break;
        case AND_K: a &= in.k; break;
        case XOR_X: a ^= x; break;
        case LSH_K: a <<= in.k; break;
        case RSH_K: a >>= in.k; break;
        case NEG: a = -a; break;
        case JA: pc += in.k; break;
        case JEQ_K: pc += a == in.k ? in.jt : in.jf; break;
        case JGT_K: pc += a > in.k ? in.jt : in.jf; break;
        case JGE_K: pc += a >= in.k ? in.jt : in.jf; break;
        case JSET_K: pc += a & in.k ? in.jt : in.jf; break;
        case JEQ_X: pc += a == x ? in.jt : in.jf; break;
        case TAX: x = a; break;
        case TXA: a = x; break;
        case RET_K: return in.k;
        case RET_A: return a;
        default: return 0;
        }
    }
}

extern "C" __global__ void bpf(const unsigned char *__restrict__ packets, const unsigned *__restrict__ offsets,
                               const Instruction *__restrict__ code, const int *__restrict__ starts,
                               unsigned *verdicts, unsigned *accepted, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int filter = blockIdx.y;
    unsigned verdict = 0;
    if (i < n) {
        verdict = run_filter(code + starts[filter], packets + offsets[i], offsets[i + 1] - offsets[i]);
        verdicts[(size_t)filter * n + i] = verdict;
    }
    unsigned votes = __ballot_sync(0xffffffff, verdict != 0);
    if (threadIdx.x % 32 == 0 && votes)
        atomicAdd(accepted + filter, __popc(votes));
}
