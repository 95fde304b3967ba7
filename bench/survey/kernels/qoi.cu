// Decodes QOI pictures that were packed in strips, each of which is a stream of its own: a thread for a strip, with
// the table of the last 64 colours in shared memory, one column for each thread.
#define THREADS 64

union Pixel {
    struct {
        unsigned char r, g, b, a;
    };
    uchar4 v;
    unsigned int word;
};

struct Reader {
    const unsigned char *at, *end;

    __device__ __forceinline__ unsigned int byte() {
        return at < end ? *at++ : 0;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    qoi(const unsigned char *__restrict__ bytes, const unsigned int *__restrict__ offsets, uchar4 *__restrict__ out,
        int strips, int pixels_per_strip) {
    __shared__ unsigned int seen[64][THREADS];
    int strip = blockIdx.x * blockDim.x + threadIdx.x;
    if (strip >= strips)
        return;
    int t = threadIdx.x;
    for (int i = 0; i < 64; i++)
        seen[i][t] = 0;
    Reader in = {bytes + offsets[strip], bytes + offsets[strip + 1]};
    uchar4 *to = out + (size_t)strip * pixels_per_strip;
    Pixel p;
    p.word = 0xff000000u;
    int run = 0;
    for (int i = 0; i < pixels_per_strip; i++) {
        if (run > 0) {
            run--;
        } else {
            unsigned int op = in.byte();
            if (op == 0xfe) {
                p.r = in.byte();
                p.g = in.byte();
                p.b = in.byte();
            } else if (op == 0xff) {
                p.r = in.byte();
                p.g = in.byte();
                p.b = in.byte();
                p.a = in.byte();
            } else {
                switch (op >> 6) {
                case 0:
                    p.word = seen[op][t];
                    break;
                case 1:
                    p.r += (op >> 4 & 3) - 2;
                    p.g += (op >> 2 & 3) - 2;
                    p.b += (op & 3) - 2;
                    break;
                case 2: {
                    unsigned int more = in.byte();
                    int dg = (int)(op & 63) - 32;
                    p.r += dg - 8 + (more >> 4);
                    p.g += dg;
                    p.b += dg - 8 + (more & 15);
                    break;
                }
                default:
                    run = op & 63;
                }
            }
            seen[(p.r * 3 + p.g * 5 + p.b * 7 + p.a * 11) & 63][t] = p.word;
        }
        to[i] = p.v;
    }
}
