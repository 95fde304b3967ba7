// Caches simulated: a thread has a configuration (bytes a line, sets, ways, who is replaced) and runs a trace of
// loads and stores through it; its lines are in global memory.
struct CacheConfig {
    int line_size;
    int sets;
    int ways;
    int policy; // 0: least recently used, 1: first in first out, 2: random
};

struct CacheLine {
    unsigned int tag;
    int stamp;
    bool valid;
    bool dirty;
};

struct CacheStats {
    int hits;
    int misses;
    int evictions;
    int writebacks;
};

extern "C" __global__ void cache_sim(const unsigned int *trace, int length, const CacheConfig *configs, int n,
                                     CacheLine *lines, int max_lines, CacheStats *stats) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= n)
        return;
    CacheConfig config = configs[idx];
    CacheLine *cache = lines + (long long)idx * max_lines;
    for (int i = 0; i < config.sets * config.ways; i++) {
        cache[i].valid = false;
        cache[i].dirty = false;
        cache[i].tag = 0;
        cache[i].stamp = 0;
    }
    CacheStats s = {0, 0, 0, 0};
    unsigned int seed = 12345;
    for (int t = 0; t < length; t++) {
        unsigned int address = trace[t] >> 1;
        bool write = trace[t] & 1;
        unsigned int block = address / config.line_size;
        int set = block % config.sets;
        unsigned int tag = block / config.sets;
        CacheLine *ways = cache + set * config.ways;
        int found = -1;
        for (int w = 0; w < config.ways; w++) {
            if (ways[w].valid && ways[w].tag == tag) {
                found = w;
                break;
            }
        }
        if (found >= 0) {
            s.hits++;
            if (config.policy == 0)
                ways[found].stamp = t;
            if (write)
                ways[found].dirty = true;
            continue;
        }
        s.misses++;
        int victim = -1;
        for (int w = 0; w < config.ways; w++) {
            if (!ways[w].valid) {
                victim = w;
                break;
            }
        }
        if (victim < 0) {
            s.evictions++;
            if (config.policy == 2) {
                seed = seed * 1103515245u + 12345u;
                victim = (seed >> 16) % config.ways;
            } else {
                victim = 0;
                for (int w = 1; w < config.ways; w++)
                    if (ways[w].stamp < ways[victim].stamp)
                        victim = w;
            }
            if (ways[victim].dirty)
                s.writebacks++;
        }
        ways[victim].tag = tag;
        ways[victim].valid = true;
        ways[victim].dirty = write;
        ways[victim].stamp = t;
    }
    stats[idx] = s;
}
