// RC4 with a key of its own for each message; a thread a message.
class Rc4 {
    unsigned char s[256];
    unsigned char i, j;

  public:
    __device__ Rc4(const unsigned char *key, int length) : i(0), j(0) {
        for (int k = 0; k < 256; k++)
            s[k] = k;
        int at = 0;
        for (int k = 0; k < 256; k++) {
            at = (at + s[k] + key[k % length]) % 256;
            unsigned char t = s[k];
            s[k] = s[at];
            s[at] = t;
        }
    }

    __device__ unsigned char next() {
        i++;
        j += s[i];
        unsigned char t = s[i];
        s[i] = s[j];
        s[j] = t;
        return s[(unsigned char)(s[i] + s[j])];
    }

    __device__ void drop(int count) {
        while (count-- > 0)
            next();
    }
};

extern "C" __global__ void rc4(const unsigned char *keys, int key_length, const unsigned char *text,
                               unsigned char *out, int messages, int length, int dropped) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= messages)
        return;
    Rc4 cipher(keys + m * key_length, key_length);
    cipher.drop(dropped);
    for (int k = 0; k < length; k++)
        out[m * length + k] = text[m * length + k] ^ cipher.next();
}
