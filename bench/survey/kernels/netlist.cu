// Logic simulation of a netlist by levels: 64 test patterns to a word, gates with up to three inputs, a launch for each
// level; flip-flops take over at the end of a clock, and toggles of each net are counted for power.
enum Op : unsigned char { BUF, INV, AND2, NAND2, OR2, NOR2, XOR2, XNOR2, MUX, AOI21, OAI21, MAJ };

struct Gate {
    int in[3];
    unsigned char op;
    unsigned char pad[3];
};

typedef unsigned long long Word;

template <typename T>
__device__ T evaluate(unsigned char op, T a, T b, T c) {
    switch (op) {
    case BUF:
        return a;
    case INV:
        return ~a;
    case AND2:
        return a & b;
    case NAND2:
        return ~(a & b);
    case OR2:
        return a | b;
    case NOR2:
        return ~(a | b);
    case XOR2:
        return a ^ b;
    case XNOR2:
        return ~(a ^ b);
    case MUX:
        return (a & c) | (b & ~c);
    case AOI21:
        return ~((a & b) | c);
    case OAI21:
        return ~((a | b) & c);
    case MAJ:
        return (a & b) | (a & c) | (b & c);
    }
    return 0;
}

extern "C" __global__ void netlist_level(const Gate *__restrict__ gates, Word *nets, unsigned *toggles, int first,
                                         int count, int words) {
    int g = blockIdx.x * blockDim.y + threadIdx.y;
    if (g >= count)
        return;
    g += first;
    const Gate gate = gates[g];
    unsigned flips = 0;
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        Word a = nets[(size_t)gate.in[0] * words + w], b = nets[(size_t)gate.in[1] * words + w],
             c = nets[(size_t)gate.in[2] * words + w];
        Word value = evaluate(gate.op, a, b, c);
        Word *out = nets + (size_t)g * words + w;
        flips += __popcll(*out ^ value);
        *out = value;
    }
    for (int offset = blockDim.x / 2; offset > 0; offset /= 2)
        flips += __shfl_down_sync(0xffffffffu, flips, offset, blockDim.x);
    if (threadIdx.x == 0)
        toggles[g] += flips;
}

extern "C" __global__ void netlist_clock(const int *__restrict__ data, Word *nets, int inputs, int flops, int words) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < (long)flops * words) {
        int f = i / words, w = i % words;
        nets[(long)(inputs + f) * words + w] = nets[(long)data[f] * words + w];
    } else if (i < (long)(flops + inputs) * words) {
        // primary inputs: an LFSR of each pattern word
        long k = i - (long)flops * words;
        Word s = nets[k];
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        nets[k] = s;
    }
}
