// A router's fast path over packets in one buffer: headers of IPv4 as bit fields, their checksums, options skipped, a
// chain of policies as template parameters that may drop the packet, then the time to live with the checksum mended.
#include <cuda/std/cstdint>
#include <cuda/std/tuple>

struct Ipv4 {
    uint32_t header_words : 4, version : 4, ecn : 2, dscp : 6, length : 16;  // `length` as the network has it
    uint32_t id : 16, fragment : 16;
    uint32_t ttl : 8, protocol : 8, checksum : 16;
    union Address {
        uint32_t whole;
        uint8_t bytes[4];
    } source, target;
};
static_assert(sizeof(Ipv4) == 20);

enum Verdict : uint8_t { FORWARD, SHORT, VERSION, CHECKSUM, EXPIRED, SPOOFED, FILTERED, VERDICTS };

__device__ __forceinline__ uint16_t swapped(uint16_t v) { return __byte_perm(v, 0, 0x4401); }
__device__ __forceinline__ uint32_t host_order(uint32_t v) { return __byte_perm(v, 0, 0x0123); }

__device__ uint16_t folded(uint32_t sum) {
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

struct Context {
    const Ipv4 &header;
    const uint8_t *packet;
    int size;
};

struct Sane {
    static constexpr Verdict fails = SHORT;
    __device__ static bool passes(const Context &c) {
        return c.size >= 20 && c.header.header_words >= 5 && c.size >= c.header.header_words * 4 &&
               swapped(c.header.length) <= c.size;
    }
};

struct Four {
    static constexpr Verdict fails = VERSION;
    __device__ static bool passes(const Context &c) { return c.header.version == 4; }
};

struct Summed {
    static constexpr Verdict fails = CHECKSUM;
    __device__ static bool passes(const Context &c) {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(c.packet);
        uint32_t sum = 0;
        for (int i = 0; i < c.header.header_words; i++)
            sum += (words[i] & 0xffff) + (words[i] >> 16);
        return folded(sum) == 0xffff;
    }
};

struct Alive {
    static constexpr Verdict fails = EXPIRED;
    __device__ static bool passes(const Context &c) { return c.header.ttl > 1; }
};

struct Honest {
    static constexpr Verdict fails = SPOOFED;
    __device__ static bool passes(const Context &c) {
        const auto &from = c.header.source.bytes;
        switch (from[0]) {
        case 0:
        case 127:
            return false;
        case 169:
            return from[1] != 254;
        default:
            return from[0] < 224;
        }
    }
};

struct Rule {  // 16 bytes
    uint32_t network, mask;
    uint16_t low, high;
    uint8_t protocol, allows, pad[2];
};

template <class... Policies> struct Chain {
    __device__ static Verdict run(const Context &c) {
        Verdict verdict = FORWARD;
        ((Policies::passes(c) || (verdict = Policies::fails, false)) && ...);
        return verdict;
    }
};

__device__ bool filtered(const Context &c, const Rule *rules, int count) {
    const int protocol = c.header.protocol;
    int port = -1;
    if ((protocol == 6 || protocol == 17) && (swapped(c.header.fragment) & 0x1fff) == 0 &&
        c.size >= c.header.header_words * 4 + 4) {
        const uint8_t *at = c.packet + c.header.header_words * 4 + 2;
        port = at[0] << 8 | at[1];
    }
    const uint32_t target = host_order(c.header.target.whole);
    for (int i = 0; i < count; i++) {
        const Rule &r = rules[i];
        if ((target & r.mask) != r.network)
            continue;
        if (r.protocol && r.protocol != protocol)
            continue;
        if (r.high && (port < r.low || port > r.high))
            continue;
        return !r.allows;
    }
    return true;
}

extern "C" __global__ void ipv4_hdr(uint8_t *packets, const int *__restrict__ start, const Rule *__restrict__ rules,
                                    uint8_t *__restrict__ verdicts, unsigned *counts, int n, int rule_count) {
    __shared__ unsigned local[VERDICTS];
    if (threadIdx.x < VERDICTS)
        local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint8_t *packet = packets + start[i];
        Ipv4 header = *reinterpret_cast<const Ipv4 *>(packet);
        Context context{header, packet, start[i + 1] - start[i]};
        Verdict verdict = Chain<Sane, Four, Summed, Alive, Honest>::run(context);
        if (verdict == FORWARD && filtered(context, rules, rule_count))
            verdict = FILTERED;
        if (verdict == FORWARD) {
            // RFC 1624: the sum of the old complement, of the old word's complement and of the new word.
            uint16_t was = header.ttl | header.protocol << 8;
            header.ttl--;
            uint16_t is = header.ttl | header.protocol << 8;
            header.checksum = static_cast<uint16_t>(
                ~folded(static_cast<uint16_t>(~header.checksum) + static_cast<uint16_t>(~was) + uint32_t(is)));
            *reinterpret_cast<Ipv4 *>(packet) = header;
        }
        verdicts[i] = verdict;
        atomicAdd(&local[verdict], 1);
    }
    __syncthreads();
    if (threadIdx.x < VERDICTS && local[threadIdx.x])
        atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
