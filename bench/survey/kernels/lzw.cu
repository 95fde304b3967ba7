// LZW: a thread packs a part of a text with a dictionary of its own in global memory (a tree of first children and
// next siblings), another kernel unpacks it again, backwards through chains of prefixes.
#define CODES 1024

struct Entry {
    short first_child;
    short next_sibling;
    unsigned char symbol;
};

extern "C" __global__ void lzw_pack(const unsigned char *text, long long n, int chunk, Entry *dictionaries,
                                    unsigned short *codes, int *num_codes) {
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long begin = id * chunk;
    if (begin >= n)
        return;
    long long end = begin + chunk < n ? begin + chunk : n;
    Entry *dictionary = dictionaries + id * CODES;
    for (int i = 0; i < 256; i++) {
        dictionary[i].first_child = -1;
        dictionary[i].next_sibling = -1;
        dictionary[i].symbol = i;
    }
    int used = 256, written = 0;
    int current = text[begin];
    for (long long i = begin + 1; i < end; i++) {
        unsigned char c = text[i];
        int child = dictionary[current].first_child;
        while (child != -1 && dictionary[child].symbol != c)
            child = dictionary[child].next_sibling;
        if (child != -1) {
            current = child;
            continue;
        }
        codes[begin + written++] = current;
        if (used < CODES) {
            dictionary[used].symbol = c;
            dictionary[used].first_child = -1;
            dictionary[used].next_sibling = dictionary[current].first_child;
            dictionary[current].first_child = used++;
        }
        current = c;
    }
    codes[begin + written++] = current;
    num_codes[id] = written;
}

extern "C" __global__ void lzw_unpack(const unsigned short *codes, const int *num_codes, long long n, int chunk,
                                      unsigned char *out) {
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long begin = id * chunk;
    if (begin >= n)
        return;
    unsigned short prefix[CODES];
    unsigned char symbol[CODES];
    short length[CODES];
    for (int i = 0; i < 256; i++) {
        symbol[i] = i;
        length[i] = 1;
    }
    int used = 256;
    int before = -1;
    long long to = begin;
    for (int k = 0; k < num_codes[id]; k++) {
        int code = codes[begin + k];
        int size = code < used ? length[code] : length[before] + 1;
        int walk = code < used ? code : before;
        long long last = to + size - 1;
        if (code >= used)
            last--; // its last symbol is the first of the one before
        while (true) {
            out[last--] = symbol[walk];
            if (walk < 256)
                break;
            walk = prefix[walk];
        }
        if (code >= used)
            out[to + size - 1] = out[to];
        if (before >= 0 && used < CODES) {
            prefix[used] = before;
            symbol[used] = out[to];
            length[used] = length[before] + 1;
            used++;
        }
        before = code;
        to += size;
    }
}
