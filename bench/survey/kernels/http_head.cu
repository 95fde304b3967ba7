// Heads of HTTP requests by a state machine, a request a thread: method, path, version, number of headers, length of
// the content, where the host stands, whether the connection stays.
#include <cstdint>

enum class State : uint8_t { Method, Path, Version, LineEnd, Name, Value, ValueEnd, Done, Bad };
enum Header { OTHER, CONTENT_LENGTH, HOST, CONNECTION };

struct Request {
    int16_t method, version;
    int path_at, path_length, headers;
    int content_length, host_at, host_length, keep;
};

__device__ __forceinline__ char lower(char c) { return c >= 'A' && c <= 'Z' ? c | 32 : c; }

template <int N> __device__ bool equals(const char *s, int length, const char (&word)[N]) {
    if (length != N - 1)
        return false;
    for (int i = 0; i < N - 1; i++)
        if (lower(s[i]) != word[i])
            return false;
    return true;
}

__device__ Header classify(const char *s, int length) {
    switch (length) {
    case 4:
        return equals(s, length, "host") ? HOST : OTHER;
    case 10:
        return equals(s, length, "connection") ? CONNECTION : OTHER;
    case 14:
        return equals(s, length, "content-length") ? CONTENT_LENGTH : OTHER;
    }
    return OTHER;
}

extern "C" __global__ void http_head(const char *__restrict__ text, const int *__restrict__ start, Request *requests,
                                     int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const char *s = text + start[i];
    const int length = start[i + 1] - start[i];
    Request r = {-1, -1, 0, 0, 0, -1, -1, 0, 0};
    State state = State::Method;
    Header header = OTHER;
    int mark = 0, at = 0;
    for (; at < length; at++) {
        const char c = s[at];
        switch (state) {
        case State::Method:
            if (c == ' ') {
                int m = at - mark;
                r.method = equals(s, m, "get") ? 0 : equals(s, m, "post") ? 1 : equals(s, m, "put") ? 2
                           : equals(s, m, "delete") ? 3 : -1;
                if (r.method < 0)
                    goto bad;
                mark = at + 1;
                state = State::Path;
            } else if (c < 'A' || c > 'Z') {
                goto bad;
            }
            break;
        case State::Path:
            if (c == ' ') {
                r.path_at = mark;
                r.path_length = at - mark;
                mark = at + 1;
                state = State::Version;
            } else if (c <= 32) {
                goto bad;
            }
            break;
        case State::Version:
            if (c == '\r') {
                if (at - mark != 8 || s[mark + 5] != '1' || s[mark + 6] != '.')
                    goto bad;
                r.version = 10 + (s[mark + 7] - '0');
                r.keep = r.version == 11;
                state = State::LineEnd;
            }
            break;
        case State::LineEnd:
        case State::ValueEnd:
            if (c != '\n')
                goto bad;
            mark = at + 1;
            state = State::Name;
            break;
        case State::Name:
            if (c == ':') {
                header = classify(s + mark, at - mark);
                r.headers++;
                mark = at + 1;
                state = State::Value;
            } else if (c == '\r' && at == mark) {
                state = State::Done;
            } else if (c <= 32) {
                goto bad;
            }
            break;
        case State::Value:
            if (c == ' ' && at == mark) {
                mark++;
            } else if (c == '\r') {
                int l = at - mark;
                if (header == CONTENT_LENGTH) {
                    int v = 0;
                    for (int k = mark; k < at; k++) {
                        if (s[k] < '0' || s[k] > '9')
                            goto bad;
                        v = 10 * v + (s[k] - '0');
                    }
                    r.content_length = v;
                } else if (header == HOST) {
                    r.host_at = mark;
                    r.host_length = l;
                } else if (header == CONNECTION) {
                    r.keep = equals(s + mark, l, "keep-alive") ? 1 : equals(s + mark, l, "close") ? 0 : r.keep;
                }
                state = State::ValueEnd;
            }
            break;
        default:
            goto done;
        }
    }
done:
    if (state == State::Done) {
        requests[i] = r;
        return;
    }
bad:
    r.headers = -1 - at;
    requests[i] = r;
}
