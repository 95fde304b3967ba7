// URL decoding of strings of fixed pitch (%41 and +), then encoding in the normal form again; a thread a string.
#define PITCH 96
#define OUT_PITCH (3 * PITCH)

__device__ int hex_value(unsigned char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

__device__ bool unreserved(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '~';
}

extern "C" __global__ void url_decode(const unsigned char *in, unsigned char *out, short *length, int n) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const unsigned char *s = in + id * PITCH;
    unsigned char *d = out + id * PITCH;
    int i = 0, len = 0;
    bool bad = false;
    while (i < PITCH && s[i] != '\0') {
        if (s[i] == '+') {
            d[len++] = ' ';
            i++;
        } else if (s[i] == '%') {
            if (i + 2 >= PITCH) {
                bad = true;
                break;
            }
            int high = hex_value(s[i + 1]), low = hex_value(s[i + 2]);
            if (high < 0 || low < 0) {
                bad = true;
                break;
            }
            d[len++] = high * 16 + low;
            i += 3;
        } else {
            d[len++] = s[i++];
        }
    }
    for (int k = len; k < PITCH; k++)
        d[k] = 0;
    length[id] = bad ? -1 - len : len;
}

extern "C" __global__ void url_encode(const unsigned char *in, const short *length, char *out, short *out_length,
                                      int n) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const char *hex = "0123456789ABCDEF";
    int len = 0;
    for (int i = 0; i < length[id]; i++) {
        unsigned char c = in[id * PITCH + i];
        if (unreserved(c))
            out[id * OUT_PITCH + len++] = c;
        else {
            out[id * OUT_PITCH + len++] = '%';
            out[id * OUT_PITCH + len++] = hex[c >> 4];
            out[id * OUT_PITCH + len++] = hex[c & 15];
        }
    }
    out_length[id] = len;
}
