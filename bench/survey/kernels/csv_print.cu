// Rows of a table as CSV text: a number, an amount with two decimals, a date. The rows' lengths are counted and
// summed up first; the same code then writes.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/std/cstdint>

namespace {

constexpr int kThreads = 256;

// What prints, by a derived class that says what to do with a character.
template <class Derived>
class Printer {
  public:
    __device__ void put(char c) { static_cast<Derived *>(this)->emit(c); }

    template <class... Chars>
    __device__ void put(char first, Chars... rest) {
        put(first);
        (put(rest), ...);
    }

    __device__ void number(uint64_t value, int at_least = 1) {
        char digits[20];
        int count = 0;
        while (value != 0 || count < at_least) {
            digits[count++] = '0' + static_cast<char>(value % 10);
            value /= 10;
        }
        while (count > 0)
            put(digits[--count]);
    }

    __device__ void amount(int64_t cents) {
        if (cents < 0)
            put('-');
        const uint64_t size = cents < 0 ? 0 - static_cast<uint64_t>(cents) : cents;
        number(size / 100);
        put('.');
        number(size % 100, 2);
    }

    // Days since 1 January 1970, by eras of 400 years.
    __device__ void date(int days) {
        days += 719468;
        const int era = (days >= 0 ? days : days - 146096) / 146097;
        const unsigned day_of_era = days - era * 146097;
        const unsigned year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
        const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        const unsigned month = (5 * day_of_year + 2) / 153;
        const unsigned day = day_of_year - (153 * month + 2) / 5 + 1;
        const unsigned civil = month < 10 ? month + 3 : month - 9;
        number(year_of_era + era * 400 + (civil <= 2), 4);
        put('-', '0' + civil / 10, '0' + civil % 10, '-', '0' + day / 10, '0' + day % 10);
    }
};

class Counter : public Printer<Counter> {
  public:
    __device__ void emit(char) { ++count_; }
    __device__ int count() const { return count_; }

  private:
    int count_ = 0;
};

class Writer : public Printer<Writer> {
  public:
    __device__ explicit Writer(char *at) : at_(at) {}
    __device__ void emit(char c) { *at_++ = c; }

  private:
    char *at_;
};

struct Table {
    const uint32_t *__restrict__ id;
    const int64_t *__restrict__ cents;
    const int *__restrict__ days;

    template <class P>
    __device__ void print(P &to, int row) const {
        to.number(id[row]);
        to.put(',');
        to.amount(cents[row]);
        to.put(',');
        to.date(days[row]);
        to.put('\n');
    }
};

__device__ int row_length(const Table &table, int row, int rows) {
    if (row >= rows)
        return 0;
    Counter counter;
    table.print(counter, row);
    return counter.count();
}

}  // namespace

extern "C" __global__ void csv_print_sizes(const uint32_t *id, const int64_t *cents, const int *days,
                                           int *block_size, int rows) {
    using Reduce = cub::BlockReduce<int, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    const int row = blockIdx.x * kThreads + threadIdx.x;
    const int total = Reduce(storage).Sum(row_length({id, cents, days}, row, rows));
    if (threadIdx.x == 0)
        block_size[blockIdx.x] = total;
}

extern "C" __global__ void csv_print_offsets(int *block_size, int *bytes, int blocks) {
    using Scan = cub::BlockScan<int, kThreads>;
    __shared__ typename Scan::TempStorage storage;
    int before = 0;
    for (int first = 0; first < blocks; first += kThreads) {
        const int i = first + threadIdx.x;
        int size = i < blocks ? block_size[i] : 0, total;
        Scan(storage).ExclusiveSum(size, size, total);
        if (i < blocks)
            block_size[i] = before + size;
        before += total;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *bytes = before;
}

extern "C" __global__ void csv_print_rows(const uint32_t *id, const int64_t *cents, const int *days,
                                          const int *block_start, char *text, int rows) {
    using Scan = cub::BlockScan<int, kThreads>;
    __shared__ typename Scan::TempStorage storage;
    const Table table{id, cents, days};
    const int row = blockIdx.x * kThreads + threadIdx.x;
    int start;
    Scan(storage).ExclusiveSum(row_length(table, row, rows), start);
    if (row < rows) {
        Writer writer(text + block_start[blockIdx.x] + start);
        table.print(writer, row);
    }
}
