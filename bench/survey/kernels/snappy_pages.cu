// Pages of a column file that Snappy has compressed: a warp a page; its first lane reads the tags, all lanes copy. A
// page that does not fit its sizes is marked as bad.
#include <stdint.h>
#define WARP_SIZE 32

struct PageDesc {
    uint64_t src, dst;
    uint32_t src_len, dst_len;
};

__device__ uint32_t read_le(const uint8_t *p, int bytes) {
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++)
        v |= (uint32_t)p[i] << (8 * i);
    return v;
}

extern "C" __global__ void __launch_bounds__(128) snappy_pages(const uint8_t *__restrict__ input, uint8_t *output,
                                                               const PageDesc *__restrict__ pages, int *status,
                                                               int num_pages) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
    const int lane = threadIdx.x % WARP_SIZE;
    if (warp >= num_pages)
        return;
    const PageDesc page = pages[warp];
    const uint8_t *cur = input + page.src, *end = cur + page.src_len;
    uint8_t *out = output + page.dst;

    // the uncompressed length, 7 bits a byte
    uint32_t length = 0;
    for (int shift = 0; cur < end; shift += 7) {
        const uint8_t c = *cur++;
        length |= (uint32_t)(c & 0x7f) << shift;
        if (c < 0x80)
            break;
    }
    int error = length != page.dst_len;
    uint32_t pos = 0;
    while (pos < length && !error) {
        uint32_t len = 0, offset = 0, header = 0;
        if (lane == 0) {
            if (cur >= end)
                error = 2;
            else {
                const uint32_t tag = *cur;
                switch (tag & 3) {
                case 0:
                    len = tag >> 2;
                    header = 1;
                    if (len >= 60) {
                        const int extra = len - 59;
                        len = read_le(cur + 1, extra);
                        header += extra;
                    }
                    len++;
                    if (len > end - cur - header)
                        error = 3;
                    break;
                case 1:
                    len = 4 + ((tag >> 2) & 7);
                    offset = (tag >> 5) << 8 | cur[1];
                    header = 2;
                    break;
                case 2:
                    len = 1 + (tag >> 2);
                    offset = read_le(cur + 1, 2);
                    header = 3;
                    break;
                default:
                    len = 1 + (tag >> 2);
                    offset = read_le(cur + 1, 4);
                    header = 5;
                }
                if ((tag & 3) && (offset == 0 || offset > pos))
                    error = 4;
                if (pos + len > length)
                    error = 5;
            }
        }
        error = __shfl_sync(0xffffffffu, error, 0);
        len = __shfl_sync(0xffffffffu, len, 0);
        offset = __shfl_sync(0xffffffffu, offset, 0);
        header = __shfl_sync(0xffffffffu, header, 0);
        if (error)
            break;
        cur += header;
        if (offset == 0) {
            for (uint32_t i = lane; i < len; i += WARP_SIZE)
                out[pos + i] = cur[i];
            cur += len;
        } else {
            const uint8_t *from = out + pos - offset;
            for (uint32_t i = lane; i < len; i += WARP_SIZE)
                out[pos + i] = from[offset >= len ? i : i % offset];
        }
        pos += len;
        __syncwarp();
    }
    if (lane == 0)
        status[warp] = error;
}
