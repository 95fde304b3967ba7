// Heads of HTTP requests: method, path, version, number of headers, length, host, whether the connection stays.
#include "native.h"

typedef struct {
    short method, version;
    int path_at, path_length, headers, content_length, host_at, host_length, keep;
} request;

static inline int equals(const char *s, int length, const char *word, int size) {
    if (length != size)
        return 0;
    for (int i = 0; i < size; i++) {
        char c = s[i];
        if ((c >= 'A' && c <= 'Z' ? c | 32 : c) != word[i])
            return 0;
    }
    return 1;
}
#define IS(s, length, word) equals(s, length, word, sizeof word - 1)

// Where it is wrong, -1 if nowhere.
static int parse(const char *s, int length, request *r) {
    int at = 0, mark = 0;
    for (; at < length && s[at] >= 'A' && s[at] <= 'Z'; at++)
        ;
    if (at == length || s[at] != ' ')
        return at;
    r->method = IS(s, at, "get") ? 0 : IS(s, at, "post") ? 1 : IS(s, at, "put") ? 2 : IS(s, at, "delete") ? 3 : -1;
    if (r->method < 0)
        return at;
    for (mark = ++at; at < length && s[at] > 32; at++)
        ;
    if (at == length || s[at] != ' ')
        return at;
    r->path_at = mark;
    r->path_length = at - mark;
    mark = ++at;
    const char *end = memchr(s + at, '\r', length - at);
    if (!end)
        return length;
    at = end - s;
    if (at - mark != 8 || s[mark + 5] != '1' || s[mark + 6] != '.')
        return at;
    r->version = 10 + (s[mark + 7] - '0');
    r->keep = r->version == 11;
    while (1) {
        if (++at == length || s[at] != '\n')
            return at;
        for (mark = ++at; at < length && s[at] > 32 && s[at] != ':'; at++)
            ;
        if (at == length)
            return at;
        if (s[at] != ':')
            return s[at] == '\r' && at == mark ? -1 : at;
        const char *name = s + mark;
        int size = at - mark;
        r->headers++;
        for (at++; at < length && s[at] == ' '; at++)
            ;
        mark = at;
        end = memchr(s + at, '\r', length - at);
        if (!end)
            return length;
        at = end - s;
        if (IS(name, size, "content-length")) {
            int v = 0;
            for (int k = mark; k < at; k++) {
                if (s[k] < '0' || s[k] > '9')
                    return at;
                v = 10 * v + (s[k] - '0');
            }
            r->content_length = v;
        } else if (IS(name, size, "host")) {
            r->host_at = mark;
            r->host_length = at - mark;
        } else if (IS(name, size, "connection")) {
            r->keep = IS(s + mark, at - mark, "keep-alive") ? 1 : IS(s + mark, at - mark, "close") ? 0 : r->keep;
        }
    }
}

void run(const char *restrict text, const int *restrict start, request *restrict requests, int n) {
    for (int i = 0; i < n; i++) {
        request r = {-1, -1, 0, 0, 0, -1, -1, 0, 0};
        int wrong = parse(text + start[i], start[i + 1] - start[i], &r);
        if (wrong >= 0)
            r.headers = -1 - wrong;
        requests[i] = r;
    }
}
