// MD5 of many short messages that lie one after the other: a thread for each, which makes its padded blocks byte by byte.
__constant__ unsigned int SINES[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
__constant__ int TURNS[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

extern "C" __global__ void md5(const unsigned char *text, const size_t *start, uint4 *digest, int n) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= n)
        return;
    const unsigned char *message = text + start[m];
    size_t length = start[m + 1] - start[m];
    size_t padded = (length + 8) / 64 * 64 + 64;
    unsigned int a0 = 0x67452301, b0 = 0xefcdab89, c0 = 0x98badcfe, d0 = 0x10325476;
    for (size_t at = 0; at < padded; at += 64) {
        unsigned int words[16];
        for (int i = 0; i < 16; i++) {
            unsigned int word = 0;
            for (int k = 0; k < 4; k++) {
                size_t byte = at + 4 * i + k;
                unsigned int v = 0;
                if (byte < length)
                    v = message[byte];
                else if (byte == length)
                    v = 0x80;
                word |= v << (8 * k);
            }
            words[i] = word;
        }
        if (at + 64 == padded) {
            words[14] = (unsigned int)(length * 8);
            words[15] = (unsigned int)(length >> 29);
        }
        unsigned int a = a0, b = b0, c = c0, d = d0;
        for (int i = 0; i < 64; i++) {
            unsigned int f;
            int g;
            if (i < 16) {
                f = (b & c) | (~b & d);
                g = i;
            } else if (i < 32) {
                f = (d & b) | (~d & c);
                g = (5 * i + 1) % 16;
            } else if (i < 48) {
                f = b ^ c ^ d;
                g = (3 * i + 5) % 16;
            } else {
                f = c ^ (b | ~d);
                g = 7 * i % 16;
            }
            f += a + SINES[i] + words[g];
            a = d;
            d = c;
            c = b;
            int turn = TURNS[i / 16 * 4 + i % 4];
            b += f << turn | f >> (32 - turn);
        }
        a0 += a;
        b0 += b;
        c0 += c;
        d0 += d;
    }
    digest[m] = make_uint4(a0, b0, c0, d0);
}
