// Events of a log by service: those that are serious enough are grouped within the warp by labelled partitions of the
// threads that are still there, so that a group needs one atomic of each kind.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

struct Event {  // 8 bytes
    unsigned latency : 20;
    unsigned severity : 4;
    unsigned retried : 1;
    unsigned : 7;
    unsigned short service, size;
};

struct Totals {
    unsigned count, retried, worst;
    unsigned least;
    unsigned long long bytes;
};

extern "C" __global__ void cg_labels(const Event *__restrict__ events, Totals *totals, unsigned *severities,
                                     long long n, unsigned threshold) {
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const Event e = events[i];
        if (e.severity < threshold)
            continue;
        cg::coalesced_group active = cg::coalesced_threads();
        auto group = cg::labeled_partition(active, (int)e.service);
        unsigned retried = cg::reduce(group, (unsigned)e.retried, cg::plus<unsigned>());
        unsigned worst = cg::reduce(group, (unsigned)e.latency, cg::greater<unsigned>());
        unsigned least = cg::reduce(group, (unsigned)e.latency, cg::less<unsigned>());
        unsigned long long bytes = cg::reduce(group, (unsigned long long)e.size, cg::plus<unsigned long long>());
        unsigned seen = cg::reduce(group, 1u << e.severity, cg::bit_or<unsigned>());
        cg::invoke_one(group, [&] {
            Totals &t = totals[e.service];
            atomicAdd(&t.count, group.num_threads());
            if (retried)
                atomicAdd(&t.retried, retried);
            atomicMax(&t.worst, worst);
            atomicMin(&t.least, least);
            atomicAdd(&t.bytes, bytes);
            atomicOr(&severities[e.service], seen);
        });
    }
}
