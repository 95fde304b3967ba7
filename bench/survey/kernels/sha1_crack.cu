// Passwords of five letters by brute force: a thread makes one from its number, hashes it with SHA-1 and looks
// for the hash among those wanted. Hashes that begin with a zero byte are counted.
#define LENGTH 5
#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

typedef unsigned int u32;

__device__ void sha1(const unsigned char *message, int length, u32 *digest) {
    u32 w[80];
    for (int i = 0; i < 16; i++)
        w[i] = 0;
    for (int i = 0; i < length; i++)
        w[i / 4] |= (u32)message[i] << (24 - 8 * (i % 4));
    w[length / 4] |= 0x80u << (24 - 8 * (length % 4));
    w[15] = length * 8;
    for (int i = 16; i < 80; i++)
        w[i] = ROTL(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

    u32 a = 0x67452301, b = 0xEFCDAB89, c = 0x98BADCFE, d = 0x10325476, e = 0xC3D2E1F0;
    for (int i = 0; i < 80; i++) {
        u32 f, k;
        if (i < 20) {
            f = (b & c) | (~b & d);
            k = 0x5A827999;
        } else if (i < 40) {
            f = b ^ c ^ d;
            k = 0x6ED9EBA1;
        } else if (i < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8F1BBCDC;
        } else {
            f = b ^ c ^ d;
            k = 0xCA62C1D6;
        }
        u32 t = ROTL(a, 5) + f + e + k + w[i];
        e = d;
        d = c;
        c = ROTL(b, 30);
        b = a;
        a = t;
    }
    digest[0] = a + 0x67452301;
    digest[1] = b + 0xEFCDAB89;
    digest[2] = c + 0x98BADCFE;
    digest[3] = d + 0x10325476;
    digest[4] = e + 0xC3D2E1F0;
}

extern "C" __global__ void sha1_crack(const u32 *targets, int num_targets, long long first, int n, long long *found,
                                      int *zeros) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long number = first + i;
    unsigned char word[LENGTH];
    long long rest = number;
    for (int k = LENGTH - 1; k >= 0; k--) {
        word[k] = 'a' + rest % 26;
        rest /= 26;
    }
    u32 digest[5];
    sha1(word, LENGTH, digest);
    if (digest[0] >> 24 == 0)
        atomicAdd(zeros, 1);
    for (int t = 0; t < num_targets; t++) {
        bool same = true;
        for (int k = 0; k < 5; k++)
            if (digest[k] != targets[t * 5 + k])
                same = false;
        if (same)
            found[t] = number;
    }
}
