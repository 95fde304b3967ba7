"""Twelve kernels as others write them, without knowing what the JIT is good at: columns and texts of
databases, cryptography, codes, and sequences of genes."""

from __future__ import annotations

import json

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, ints, zeros


def padded(data: bytes, size: int, fill: int = 0) -> Array:
    """Bytes and what fills them up to a multiple of `size`."""
    rest = -len(data) % size
    return np.frombuffer(data + bytes([fill]) * rest, "u1").copy()


PAGE_HEADER = np.dtype(
    [("base", "i8"), ("min_delta", "i4"), ("offset", "u4"), ("width", "u1", 4), ("count", "u4")]
)


@case(full=1_000_000, quick=700)
def delta_pages(n: int) -> Problem:
    """Times of events in milliseconds: bursts, pauses, and some that are late."""
    rng = np.random.default_rng(51)
    pages = blocks(n)
    delta = np.zeros(pages * 256, "i8")
    quiet = np.repeat(rng.choice([1, 30, 1000, 60_000], blocks(n, 50), p=[0.3, 0.4, 0.2, 0.1]), 50)[:n]
    delta[:n] = rng.exponential(quiet)
    delta[:n][rng.random(n) < 0.01] -= 5000
    constant = rng.random(pages * 4) < 0.05
    delta.reshape(-1, 64)[constant] = 20
    values = 1_700_000_000_000 + np.cumsum(delta)
    delta = delta.reshape(pages, 4, 64)
    headers = np.zeros(pages, PAGE_HEADER)
    headers["base"][0], headers["base"][1:] = 1_700_000_000_000, values[255::256][:-1]
    headers["min_delta"] = delta.min(axis=(1, 2))
    headers["count"] = np.minimum(256, n - 256 * np.arange(pages))
    packed = (delta - headers["min_delta"][:, None, None]).astype("u8").reshape(-1, 64)
    width = np.frexp(packed.max(axis=1))[1]
    headers["width"] = width.reshape(pages, 4)
    start = np.concatenate([[0], np.cumsum(2 * width)])
    headers["offset"] = start[:-1:4]
    words = zeros(int(start[-1]) + 1, kind="u4")
    for bits in np.unique(width[width > 0]):
        minis = np.flatnonzero(width == bits)
        flags = (packed[minis][:, :, None] >> np.arange(bits, dtype="u8")) & np.uint64(1)
        data = np.packbits(flags.astype("u1").reshape(len(minis), -1), axis=1, bitorder="little")
        words[start[minis][:, None] + np.arange(2 * bits)] = data.view("u4")
    return Problem(
        arrays={"headers": headers.view("u1"), "words": words, "out": zeros(n, kind="i8")},
        scalars=ints("pages", pages),
        launches=[Launch("delta_pages", pages, 256, ("headers", "words", "out"))],
        changed=["out"],
    )


def writing(rng: np.random.Generator, n: int) -> Array:
    """`n` letters of words in some scripts, as numbers of Unicode."""
    scripts = ((97, 123), (0x430, 0x450), (0x4E00, 0x9FA5), (0x1F600, 0x1F640), (0xE0, 0xFF))
    script = np.repeat(rng.choice(5, n // 200 + 1, p=[0.6, 0.15, 0.15, 0.02, 0.08]), 200)[:n]
    low, high = np.array(scripts)[script].T
    letters = np.array(rng.integers(low, high), "u4")
    letters[rng.random(n) < 0.17] = 32
    return letters


@case(full=1_500_000, quick=5001)
def utf8_check(n: int) -> Problem:
    """Texts in some languages, a few bytes of which are damaged."""
    rng = np.random.default_rng(52)
    text = padded(writing(rng, n).tobytes().decode("utf-32-le").encode(), 1)
    wrong = np.sort(rng.choice(len(text), 23, replace=False))[3:]
    text[wrong] = rng.integers(128, 256, len(wrong))
    report = zeros(8, kind="u4")
    report[:2] = 0xFFFFFFFF
    size = {"n": np.uint32(len(text))}
    return Problem(
        arrays={"text": text, "report": report},
        scalars={**size},
        launches=[Launch("utf8_check", blocks(len(text), 2048), 128, ("text", "n", "report"))],
        changed=["report"],
    )


def json_lines(rng: np.random.Generator, size: int) -> bytes:
    """Records of events, with paths and quotes that need backslashes."""
    lines, length = list[str](), 0
    names = ["Ada", 'J. "Jim" Smith', "C:\\temp\\", "Łukasz", "tab\there", "a, b: {c} [d]", "\\\\srv\\x"]
    while length < size:
        record: dict[str, object] = {"id": int(rng.integers(1 << 31))}
        record["user"] = names[rng.integers(len(names))]
        if rng.random() < 0.7:
            record["position"] = {"x": round(rng.normal(), 4), "y": round(rng.normal(), 4)}
        record["tags"] = ["red", "green", "nothing to see"][: rng.integers(4)]
        record["text"] = "lorem ipsum dolor " * int(rng.integers(0, 9))
        record["ok"] = bool(rng.random() < 0.5)
        lines.append(json.dumps(record, ensure_ascii=rng.random() < 0.5))
        length += len(lines[-1])
    return "\n".join(lines).encode()


@case(full=2_000_000, quick=9000)
def json_index(size: int) -> Problem:
    """Masks of quotes, a scan of one bit a block, masks of structure, a scan of counts, lists."""
    text = padded(json_lines(np.random.default_rng(53), size), 64, 32)
    words = len(text) // 64
    groups = blocks(words, 128)
    lists = {
        "quotes": zeros(words, kind="u8"), "structure": zeros(words, kind="u8"),
        "odd": zeros(groups, kind="i4"), "count": zeros(groups, kind="i4"),
        "index": zeros(len(text), kind="u4"), "total": zeros(1, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={"text": text, **lists},
        scalars=ints("words", words),
        launches=[
            Launch("json_quotes", groups, 128, ("text", "quotes", "odd", "words")),
            Launch("scan_list", 1, 1024, ("odd", np.int32(groups), "total")),
            Launch("json_structure", groups, 128, ("text", "quotes", "odd", "structure", "count", "words")),
            Launch("scan_list", 1, 1024, ("count", np.int32(groups), "total")),
            Launch("json_extract", groups, 128, ("structure", "count", "index", "words")),
        ],
        changed=[*lists],
        native=("text", "index", "total"),
    )


def joined(texts: list[bytes]) -> tuple[Array, Array]:
    """Where each begins, and all of them."""
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return offsets.astype("i4"), np.frombuffer(b"".join(texts), "u1").copy()


COMMENT_WORDS = (
    b"the of special requests packages deposits accounts Special quickly carefully furiously ironic bold "
    b"100% pending final express regular sleep haggle wake among about above final_offer complaints Customer "
    b"instructions theodolites against slyly even foxes blithely customer"
)


@case(full=30_000, quick=333)
def like_rows(rows: int) -> Problem:
    """Comments as in TPC-H, one of 20 is null; a launch for each of four patterns."""
    rng = np.random.default_rng(54)
    known = np.array(COMMENT_WORDS.split(), object)
    comments = [b" ".join(known[rng.integers(len(known), size=m)]) for m in rng.integers(0, 12, rows)]
    offsets, data = joined(comments)
    validity = padded(np.packbits(rng.random(rows) >= 0.05, bitorder="little").tobytes(), 4).view("u4")
    starts, patterns = joined([b"%special%requests%", b"the%foxes", b"%100\\%%F_nal\\_%", b"%c__tomer%c%"])
    count = len(starts) - 1
    arrays = ("offsets", "bytes", "validity", "patterns", "starts")
    return Problem(
        arrays={
            **dict(zip(arrays, (offsets, data, validity, patterns, starts), strict=True)),
            "selection": zeros(count, blocks(rows, 32), kind="u4"), "selected": zeros(count, kind="i4"),
        },
        scalars=ints("rows count", rows, count),
        launches=[
            Launch(
                "like_rows", blocks(rows, 192), 192,
                (*arrays, np.int32(k), "selection", "selected", "rows"), 64,
            )
            for k in range(count)
        ],
        changed=["selection", "selected"],
    )  # fmt: skip


SALE = np.dtype(
    {
        "names": ["price", "group", "discount", "tax", "quantity"],
        "formats": ["i8", "u2", "i1", "i1", "i4"],
        "offsets": [0, 8, 10, 11, 12],
        "itemsize": 16,
    }
)


@case(full=1_000_000, quick=1003)
def decimal_sum(n: int) -> Problem:
    """25 groups, one of which is seldom; large contracts, so that 64 bits do not hold the sums."""
    rng = np.random.default_rng(55)
    groups = 25
    sales = np.zeros(n, SALE)
    sales["price"] = rng.lognormal(22, 3, n)
    returned = rng.random(n) < 0.05
    sales["price"][returned] *= -1
    weight = 1 / np.arange(1, groups + 1)
    sales["group"] = rng.choice(groups, n, p=weight / weight.sum())
    sales["price"][sales["group"] == 20] = -12345
    sales["discount"], sales["tax"] = rng.integers(0, 11, n), rng.integers(0, 9, n)
    sales["quantity"] = rng.integers(1, 51, n)
    texts = {name: zeros(groups, 48, kind="u1") for name in ("sum_text", "average_text")}
    return Problem(
        arrays={
            "lines": sales.view("u1"), "sums": zeros(groups, 4, kind="u4"),
            "counts": zeros(groups, kind="u4"), **texts,
        },
        scalars={"groups": np.uint32(groups), "n": np.uint64(n)},
        launches=[
            Launch("decimal_sums", 64, 256, ("lines", "sums", "counts", "groups", "n")),
            Launch("decimal_report", 1, 32, ("sums", "counts", *texts, "groups")),
        ],
        changed=["sums", "counts", *texts],
    )  # fmt: skip


@case(full=60_000, quick=500)
def cuckoo(n: int) -> Problem:
    """Seven of ten slots get used; half of the queries find something. Pairs lie in any order."""
    rng = np.random.default_rng(56)
    slots, asked = int(1.4 * n) + 1, 2 * n + 5
    keys = rng.permutation(np.unique(rng.integers(0, 1 << 32, n + n // 8 + 9)))[: n + n // 16].astype("u4")
    known, others = keys[:n], np.setdiff1d(rng.integers(0, 1 << 32, asked), keys[:n]).astype("u4")
    queries = np.where(rng.random(asked) < 0.5, rng.choice(known, asked), rng.choice(others, asked))
    numbers = {"slots": np.uint32(slots), "n": np.uint32(n)}
    made = {
        "table": zeros(slots, kind="u8"), "stash": zeros(101, kind="u8"),
        "failures": zeros(1, kind="u4"), "found": zeros(asked, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays={
            "keys": known, "values": rng.integers(0, 1 << 31, n).astype("u4"),
            "queries": queries.astype("u4"), **made,
        },
        scalars={**numbers, "asked": np.uint32(asked)},
        launches=[
            Launch("cuckoo_clear", 32, 256, ("table", "stash", "slots")),
            Launch(
                "cuckoo_insert", blocks(n, 64), 64, ("keys", "values", "table", "stash", "failures", *numbers)
            ),
            Launch(
                "cuckoo_find", blocks(asked), 256, ("queries", "table", "stash", "found", "slots", "asked")
            ),
        ],
        changed=[*made],
        native=("keys", "values", "queries", "failures", "found"),
        unordered=["table"],
    )  # fmt: skip


CONTAINER = np.dtype([("offset", "u4"), ("kind", "u2"), ("size", "u2")])


def containers(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Some of each kind: lists, bits and runs, and where they are in the data."""
    heads, parts, place = np.zeros(count, CONTAINER), list[Array](), 0
    for k, kind in enumerate(rng.choice(3, count, p=[0.5, 0.25, 0.25])):
        size = 0
        if kind == 0:
            size = int(min(4096, rng.pareto(0.5) * 20 + 1))
            part = np.sort(rng.choice(65536, size, replace=False)).astype("u2")
        elif kind == 1:
            part = np.packbits(rng.random(65536) < rng.uniform(0.07, 0.9)).view("u2")
        else:
            size = int(rng.integers(1, 300))
            ends = np.sort(rng.choice(65536, 2 * size, replace=False)).reshape(-1, 2)
            part = np.stack([ends[:, 0], ends[:, 1] - ends[:, 0]], axis=1).astype("u2").ravel()
        heads[k] = place, kind, size
        parts += [part, zeros(-len(part) % 4, kind="u2")]
        place += len(part) + -len(part) % 4
    return heads, np.concatenate(parts)


@case(full=300, quick=14)
def roaring(pairs: int) -> Problem:
    """Half of the containers are lists, most of them short; the others are bits and runs."""
    rng = np.random.default_rng(57)
    count = pairs + pairs // 3
    (a, a_data), (b, b_data) = containers(rng, count), containers(rng, count)
    chosen = [np.sort(rng.choice(count, pairs, replace=False)) for _ in range(2)]
    result = {
        "result": zeros(pairs, 4096, kind="u2"), "cardinality": zeros(pairs, kind="i4"),
        "total": zeros(1, kind="u8"),
    }  # fmt: skip
    arrays = {
        "a": a.view("u1"), "a_data": a_data, "b": b.view("u1"), "b_data": b_data,
        "pairs": np.stack(chosen, axis=1).astype("i4"), **result,
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("count", pairs),
        launches=[Launch("roaring_and", pairs, 256, tuple(arrays))],
        changed=[*result],
    )


@case(full=100, quick=5)
def ladder25519(n: int) -> Problem:
    """Some 2,800 multiplications of 255 bits each; few steps if there are few points."""
    rng = np.random.default_rng(58)
    scalars = rng.integers(0, 1 << 32, (n, 8)).astype("u4")
    scalars[:, 0] &= 0xFFFFFFF8
    scalars[:, 7] = scalars[:, 7] & 0x7FFFFFFF | 0x40000000
    points = rng.integers(0, 1 << 32, (n, 8)).astype("u4")
    points[0] = [9, *[0] * 7]
    numbers = ints("n bits", n, 255 if n > 50 else 11)
    return Problem(
        arrays={"scalars": scalars, "points": points, "results": zeros(n, 8, kind="u4")},
        scalars=numbers,
        launches=[Launch("ladder25519", blocks(n, 64), 64, ("scalars", "points", "results", *numbers))],
        changed=["results"],
    )


@case(full=3001, quick=45)
def merkle512(n: int) -> Problem:
    """Records of up to 300 bytes, one to three blocks; then half as many digests at each level."""
    rng = np.random.default_rng(59)
    offsets, data = joined([rng.bytes(size) for size in rng.integers(20, 300, n)])
    launches = [Launch("merkle_leaves", blocks(n, 128), 128, ("data", "offsets", "level0", "n"))]
    sizes = [n]
    while (size := sizes[-1]) > 1:
        level, sizes = len(sizes), [*sizes, (size + 1) // 2]
        names = (f"level{level - 1}", "root" if sizes[-1] == 1 else f"level{level}")
        launches.append(Launch("merkle_level", blocks(sizes[-1], 128), 128, (*names, np.int32(size))))
    levels = {f"level{k}": zeros(size, 8, kind="u8") for k, size in enumerate(sizes[:-1])}
    return Problem(
        arrays={"data": data, "offsets": offsets, "root": zeros(16, kind="u4"), **levels},
        scalars=ints("n", n),
        launches=launches,
        changed=["root", *levels],
        native=("data", "offsets", "root"),
    )


def reed_solomon(messages: Array) -> Array:
    """Messages and 32 bytes of parity behind each, over GF(256) with the polynomial 0x11d."""
    exponent = [1]
    while len(exponent) < 510:
        exponent.append(exponent[-1] << 1 ^ (0x11D if exponent[-1] & 0x80 else 0))
    power = np.array(exponent)
    logarithm = np.zeros(256, "i4")
    logarithm[power[:255]] = np.arange(255)
    generator = np.array([1])
    for root in range(32):
        shifted = np.where(generator > 0, power[logarithm[generator] + root], 0)
        generator = np.append(generator, 0) ^ np.append(0, shifted)
    parity = np.zeros((len(messages), 33), "i8")
    for symbol in messages.T:
        head = parity[:, :1] ^ symbol[:, None]
        product = power[logarithm[head] + logarithm[generator[1:]]]
        parity[:, :32] = parity[:, 1:] ^ np.where(head > 0, product, 0)
    return np.concatenate([messages, parity[:, :32]], axis=1).astype("u1")


@case(full=800, quick=35)
def rs_decode(n: int) -> Problem:
    """Half of the words are whole, most others have some errors, one of 30 has too many."""
    rng = np.random.default_rng(60)
    words = reed_solomon(rng.integers(0, 256, (n, 223)))
    errors = np.where(rng.random(n) < 0.5, 0, np.minimum(16, rng.poisson(5, n)))
    errors[rng.random(n) < 1 / 30] = 19
    for word, count in zip(words, errors.tolist(), strict=True):
        word[rng.choice(255, count, replace=False)] ^= rng.integers(1, 256, count, dtype="u1")
    found = {"status": zeros(n, kind="i1"), "corrected": zeros(1, kind="i4")}
    return Problem(
        arrays={"words": words, **found},
        scalars=ints("n", n),
        launches=[Launch("rs_decode", blocks(n, 128), 128, ("words", *found, "n"))],
        changed=["words", *found],
    )


@case(full=280, quick=37)
def nussinov(n: int) -> Problem:
    """Six sequences of one length; as many launches as there are letters in one."""
    count, rng = 6, np.random.default_rng(61)
    letters = np.frombuffer(b"ACGU", "u1")
    grids = [(blocks(n - distance, 8), count) for distance in range(1, n)]
    made = {
        "best": zeros(count, n, n, kind="i2"), "folded": zeros(count, n, kind="u1"),
        "scores": zeros(count, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays={"sequences": rng.choice(letters, (count, n), p=[0.2, 0.3, 0.3, 0.2]), **made},
        scalars=ints("n count", n, count),
        launches=[
            *[
                Launch("nussinov_diagonal", grid, 256, ("sequences", "best", "n", np.int32(distance)))
                for distance, grid in enumerate(grids, 1)
            ],
            Launch("nussinov_trace", 1, 64, ("sequences", *made, "n", "count")),
        ],
        changed=[*made],
        native=("sequences", "folded", "scores"),
    )


def species(rng: np.random.Generator, tips: int, sites: int) -> tuple[Array, Array, Array]:
    """A tree of random pairs, the lengths of its branches, and letters that changed along them."""
    nodes, lengths = zeros(tips - 1, 6, kind="i4"), rng.exponential(0.08, 2 * tips - 2).astype("f4")
    free = [(tip, tip, -1) for tip in range(tips)]
    for node in range(tips - 1):
        pair = [free.pop(rng.integers(len(free))) for _ in range(2)]
        nodes[node] = [*pair[0], *pair[1]]
        free.append((tips + node, -1, node))
    letters = zeros(tips, sites, kind="u1")
    states = {tips - 2: rng.choice(4, sites, p=[0.3, 0.2, 0.2, 0.3])}
    rate = rng.choice([0.14, 0.48, 1, 2.4], sites)
    for node in reversed(range(tips - 1)):
        for branch, tip, inner in nodes[node].reshape(2, 3):
            changes = rng.random(sites) < 1 - np.exp(-lengths[branch] * rate)
            below = np.where(changes, rng.choice(4, sites), states[node])
            if tip >= 0:
                letters[tip] = np.where(rng.random(sites) < 0.02, 4, below)
            else:
                states[inner] = below
    return nodes, lengths, letters


@case(full=6000, quick=101)
def felsenstein(sites: int) -> Problem:
    """24 species, 23 launches; a logarithm of single precision for each site."""
    rng = np.random.default_rng(62)
    tips = 24 if sites > 1000 else 9
    nodes, lengths, letters = species(rng, tips, sites)
    inner, branches = tips - 1, 2 * tips - 2
    model = np.array([0.31, 0.18, 0.21, 0.3, 0.1369, 0.4768, 1.0, 2.3863, 2.5], "f4")
    made = {
        "p": zeros(branches, 4, 16), "partials": zeros(inner, sites, 16), "log_scale": zeros(sites),
        "site_log": zeros(sites), "total": zeros(1, kind="f8"),
    }  # fmt: skip
    pruned = ("p", "letters", "partials", "log_scale", "sites")
    return Problem(
        arrays={
            "model": model, "lengths": lengths, "nodes": nodes, "letters": letters,
            "weights": rng.geometric(0.4, sites).astype("i4"), **made,
        },
        scalars=ints("branches inner sites", branches, inner, sites),
        launches=[
            Launch("transition", blocks(4 * branches, 64), 64, ("model", "lengths", "p", "branches")),
            *[
                Launch("prune", blocks(sites, 32), (4, 32), ("nodes", np.int32(node), *pruned))
                for node in range(inner)
            ],
            Launch(
                "root_likelihood", 8, 256,
                (
                    "model", "partials", "log_scale", "weights", "site_log", "total",
                    np.int32(inner - 1), "sites",
                ),
            ),
        ],
        changed=[*made],
        native=("model", "lengths", "nodes", "letters", "weights", "site_log", "total"),
        tolerance=1e-5,
    )  # fmt: skip
