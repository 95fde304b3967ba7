"""Programs of many trades, chosen for the less common ways in which they are written and without knowing what
the JIT is good at: exact numbers, tries of pointers, machines, parsers, locks, queues, tiles of warps."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros


@case(full=3000, quick=130)
def bareiss(count: int) -> Problem:
    """Rows by pointers, products of 128 bits divided by numbers of 64; some matrices are singular."""
    rng = np.random.default_rng(501)
    matrices = rng.integers(-30, 31, (count, 8, 8))
    matrices[rng.random((count, 8, 8)) < 0.3] = 0
    twins = rng.random(count) < 0.1
    matrices[twins, 6] = matrices[twins, 2] - 2 * matrices[twins, 3]
    names = ("matrices", "result", "singular")
    return Problem(
        arrays={
            "matrices": matrices.astype("i4"), "result": zeros(count, kind="i8"),
            "singular": zeros(1, kind="i4"),
        },
        scalars=ints("count", count),
        launches=[Launch("bareiss", blocks(count, 192), 192, (*names, "count"))],
        changed=["result", "singular"],
    )  # fmt: skip


@case(full=2_000_003, quick=3001)
def dd_dot(n: int) -> Problem:
    """Numbers of many sizes, whose sum is far smaller; the last block to finish adds up the others'."""
    rng = np.random.default_rng(502)
    grid = 12 if n < 10_000 else 80
    half = n // 2
    x = np.ldexp(rng.random(n) - 0.5, rng.integers(-20, 21, n))
    y = np.ldexp(rng.random(n) - 0.5, rng.integers(-20, 21, n))
    x[half : 2 * half], y[half : 2 * half] = x[:half], -y[:half] * (1 + 2.0**-30)
    names = ("x", "y", "partial", "finished", "result")
    return Problem(
        arrays={
            "x": x, "y": y, "partial": zeros(grid, 2, kind="f8"), "finished": zeros(1, kind="u4"),
            "result": zeros(2, kind="f8"),
        },
        scalars={"n": np.int64(n)},
        launches=[Launch("dd_dot", grid, 224, (*names, "n"))],
        changed=["partial", "finished", "result"],
        native=("x", "y", "result"),
        tolerance=1e-14,
    )  # fmt: skip


def prefix_trie(routes: dict[tuple[int, int], int]) -> list[list[int]]:
    """Nodes [bits, length, hop, child, child] of the path-compressed trie of routes (bits, length)."""
    nodes = [[0, 0, 0, -1, -1]]

    def bit(bits: int, at: int) -> int:
        return bits >> (31 - at) & 1

    for (bits, length), hop in routes.items():
        at = 0
        while True:
            if nodes[at][1] == length:
                nodes[at][2] = hop
                break
            way = 3 + bit(bits, nodes[at][1])
            below = nodes[at][way]
            if below < 0:
                nodes[at][way] = len(nodes)
                nodes.append([bits, length, hop, -1, -1])
                break
            other, other_length = nodes[below][:2]
            common = min(length, other_length, 32 - (bits ^ other).bit_length())
            if common == other_length:
                at = below
                continue
            nodes[at][way] = middle = len(nodes)
            nodes.append([bits >> (32 - common) << (32 - common), common, 0, -1, -1])
            nodes[middle][3 + bit(other, common)] = below
            at = middle
    return nodes


@case(full=60_000, quick=700)
def ip_trie(n: int) -> Problem:
    """Pointers that the first launch makes; routes of 8 to 32 bits, half of them within others."""
    rng = np.random.default_rng(503)
    routes = dict[tuple[int, int], int]()
    lengths = [8, 12, 14, 16, 18, 20, 22, 24, 24, 24, 24, 28, 32]
    made = list[int]()
    for length, fresh, near, hop in zip(
        rng.choice(lengths, n // 8).tolist(), rng.integers(0, 2**32, n // 8).tolist(),
        rng.random(n // 8).tolist(), rng.integers(1, 64, n // 8).tolist(), strict=True,
    ):  # fmt: skip
        if near < 0.6 and made:
            fresh = made[int(near * len(made))] ^ fresh >> 14
        made.append(fresh)
        routes[fresh >> (32 - length) << (32 - length), length] = hop
    nodes = np.array(prefix_trie(routes))
    count = len(nodes)
    near = np.array(made)[rng.integers(0, len(made), n)] ^ rng.integers(0, 2**12, n)
    addresses = np.where(rng.random(n) < 0.8, near, rng.integers(0, 2**32, n))
    tables = {
        "bits": nodes[:, 0].astype("u4"), "length_hop": (nodes[:, 1] | nodes[:, 2] << 16).astype("u4"),
        "children": nodes[:, 3:].astype("i4"), "nodes": zeros(count, 3, kind="u8"),
    }  # fmt: skip
    flows = {
        "addresses": addresses.astype("u4"),
        "sizes": rng.choice([40, 64, 576, 1500], n).astype("u2"),
        "hops": zeros(n, kind="u2"), "bytes": zeros(64, kind="u8"),
    }  # fmt: skip
    return Problem(
        arrays=tables | flows,
        scalars=ints("count n", count, n),
        launches=[
            Launch("trie_link", min(blocks(count), 40), 256, (*tables, "count")),
            Launch("trie_walk", blocks(n, 128), 128, ("nodes", *flows, "n")),
        ],
        changed=["nodes", "hops", "bytes"],
        native=[name for name in (*tables, *flows) if name != "nodes"],
    )


INSTRUCTION = np.dtype([("code", "u2"), ("jt", "u1"), ("jf", "u1"), ("k", "u4")])
FILTERS: list[list[tuple[int, int, int, int]]] = [
    # TCP to or from port 443, no fragment
    [
        (0x28, 0, 0, 12), (0x15, 0, 10, 0x800), (0x30, 0, 0, 23), (0x15, 0, 8, 6), (0x28, 0, 0, 20),
        (0x45, 6, 0, 0x1FFF), (0xB1, 0, 0, 14), (0x48, 0, 0, 14), (0x15, 2, 0, 443), (0x48, 0, 0, 16),
        (0x15, 0, 1, 443), (0x06, 0, 0, 262144), (0x06, 0, 0, 0),
    ],
    # the first bytes of a payload look like a GET
    [
        (0x28, 0, 0, 12), (0x15, 0, 12, 0x800), (0x30, 0, 0, 23), (0x15, 0, 10, 6), (0xB1, 0, 0, 14),
        (0x50, 0, 0, 26), (0x54, 0, 0, 0xF0), (0x74, 0, 0, 2), (0x0C, 0, 0, 0), (0x07, 0, 0, 0),
        (0x40, 0, 0, 14), (0x15, 0, 3, 0x47455420), (0x80, 0, 0, 0), (0x14, 0, 0, 14), (0x16, 0, 0, 0),
        (0x06, 0, 0, 0),
    ],
    # a net of /16 in either direction, or ARP
    [
        (0x28, 0, 0, 12), (0x15, 8, 0, 0x806), (0x15, 0, 8, 0x800), (0x20, 0, 0, 26),
        (0x54, 0, 0, 0xFFFF0000), (0x15, 4, 0, 0x0A010000), (0x20, 0, 0, 30), (0x54, 0, 0, 0xFFFF0000),
        (0x15, 1, 0, 0x0A010000), (0x06, 0, 0, 0), (0x06, 0, 0, 96), (0x06, 0, 0, 0),
    ],
    # samples of flows by a hash of addresses and ports
    [
        (0x28, 0, 0, 12), (0x15, 0, 19, 0x800), (0x20, 0, 0, 26), (0x02, 0, 0, 3), (0x20, 0, 0, 30),
        (0x61, 0, 0, 3), (0xAC, 0, 0, 0), (0x02, 0, 0, 4), (0xB1, 0, 0, 14), (0x40, 0, 0, 14),
        (0x61, 0, 0, 4), (0xAC, 0, 0, 0), (0x24, 0, 0, 2654435761), (0x74, 0, 0, 11), (0x02, 0, 0, 5),
        (0x94, 0, 0, 10), (0x35, 4, 0, 3), (0x60, 0, 0, 5), (0x34, 0, 0, 77), (0x44, 0, 0, 1),
        (0x16, 0, 0, 0), (0x06, 0, 0, 0),
    ],
]  # fmt: skip


def packet(rng: np.random.Generator) -> bytes:
    """A frame of Ethernet: IPv4 with TCP or UDP most often, ARP, others."""
    kind = rng.random()
    head = bytes(rng.integers(0, 256, 12).tolist())
    if kind < 0.06:
        return head + b"\x08\x06" + bytes(28)
    if kind < 0.12:
        return head + b"\x86\xdd" + bytes(rng.integers(0, 256, 40).tolist())
    tcp = kind < 0.8
    words = int(rng.choice([5, 5, 5, 6, 8]))
    home = rng.random() < 0.3
    address = b"\x0a\x01" + bytes(rng.integers(0, 256, 2).tolist())
    there = bytes(rng.integers(1, 256, 4).tolist())
    ends = (address, there) if home and rng.random() < 0.5 else (there, address if home else there[::-1])
    ports = [int(rng.choice([80, 443, 53, 8080])), int(rng.integers(1024, 65536))]
    if rng.random() < 0.5:
        ports.reverse()
    fragment = b"\x20\x10" if rng.random() < 0.03 else b"\x40\x00"
    ip = bytes([64 + words, 0, 0, 0, 1, 2]) + fragment + bytes([64, 6 if tcp else 17, 0, 0])
    ip += b"".join(ends) + bytes(4 * words - 20)
    transport = b"".join(port.to_bytes(2, "big") for port in ports)
    options = int(rng.integers(5, 9))
    transport += bytes(8) + bytes([options << 4]) + bytes(4 * options - 13) if tcp else bytes(4)
    text = b"GET /index.html HTTP/1.1" if rng.random() < 0.3 else bytes(rng.integers(0, 256, 12).tolist())
    frame = head + b"\x08\x00" + ip + transport + text + bytes(int(rng.integers(0, 60)))
    return frame[: int(rng.integers(14, 60))] if rng.random() < 0.02 else frame


@case(full=24_000, quick=300)
def bpf(n: int) -> Problem:
    """Four programs by the grid's other axis; packets of 14 to 200 bytes one after the other."""
    rng = np.random.default_rng(504)
    kinds = [packet(rng) for _ in range(min(n, 1500))]
    picks: list[int] = rng.integers(0, len(kinds), n).tolist()
    packets = [kinds[k] for k in picks]
    offsets = np.concatenate([[0], np.cumsum([len(p) for p in packets])]).astype("u4")
    code = np.array([line for program in FILTERS for line in program], INSTRUCTION)
    starts = np.concatenate([[0], np.cumsum([len(program) for program in FILTERS])])[:-1]
    arrays = {
        "packets": np.frombuffer(b"".join(packets), "u1").copy(), "offsets": offsets,
        "code": code.view("u8"), "starts": starts.astype("i4"),
        "verdicts": zeros(len(FILTERS), n, kind="u4"), "accepted": zeros(len(FILTERS), kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("n filters", n, len(FILTERS)),
        launches=[Launch("bpf", (blocks(n, 256), len(FILTERS)), 256, (*arrays, "n"))],
        changed=["verdicts", "accepted"],
    )


@case(full=3000, quick=37)
def gf2rank(matrices: int) -> Problem:
    """Five warps a block, a row a lane, read from addresses that are odd."""
    rng = np.random.default_rng(505)
    stream = rng.integers(0, 256, 128 * matrices + 1).astype("u1")
    stream[1 : 1 + 128 * (matrices // 5)] &= rng.integers(0, 256, 128 * (matrices // 5)).astype("u1") & 0x35
    return Problem(
        arrays={
            "stream": stream, "ranks": zeros(matrices, kind="u1"), "histogram": zeros(33, kind="u4"),
        },
        scalars=ints("matrices", matrices),
        launches=[
            Launch(
                "gf2rank", min(blocks(matrices, 5), 120), 160, ("stream", "ranks", "histogram", "matrices")
            )
        ],
        changed=["ranks", "histogram"],
    )  # fmt: skip


@case(full=220, quick=30)
def dpll(count: int) -> Problem:
    """Formulas of 18 to 30 variables and three literals a clause; nodes differ by a factor of 50."""
    rng = np.random.default_rng(506)
    formulas, start = list[tuple[int, int]](), [0]
    for variables in rng.integers(18, 31, count).tolist():
        for _ in range(int(variables * 4.3)):
            chosen = rng.choice(variables, 3, replace=False).tolist()
            signs = rng.random(3).tolist()
            yes, no = 0, 0
            for variable, sign in zip(chosen, signs, strict=True):
                if sign < 0.5:
                    yes |= 1 << variable
                else:
                    no |= 1 << variable
            formulas.append((yes, no))
        start.append(len(formulas))
    arrays = {
        "formulas": np.array(formulas, "u4"), "start": np.array(start, "i4"),
        "model": zeros(count, kind="u4"), "nodes": zeros(count, kind="i4"),
        "satisfiable": zeros(count, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("count", count),
        launches=[Launch("dpll", blocks(count, 64), 64, (*arrays, "count"))],
        changed=["model", "nodes", "satisfiable"],
    )


@case(full=12_000, quick=333)
def tanimoto(count: int) -> Problem:
    """Tiles of eight lanes, each with a heap of its own; half of the molecules cannot be similar enough."""
    rng = np.random.default_rng(507)
    asked = 24 if count > 1000 else 3
    families = rng.random((40, 1024)) < 0.01 * rng.integers(3, 9, (40, 1))
    common = settled(rng.random(1024) ** 6)
    family = rng.integers(0, 40, count + asked)
    bits = rng.random((count + asked, 1024)) < np.where(families[family], 0.8, 0.25 * common)
    prints = np.packbits(bits, axis=1).view("u4")
    least = np.float32(0.3)
    names = ("prints", "weights", "queries", "best")
    return Problem(
        arrays={
            "prints": prints[:count], "weights": zeros(count, kind="u2"), "queries": prints[count:],
            "best": zeros(asked, 8, kind="u8"),
        },
        scalars={**ints("count asked", count, asked), "least": least},
        launches=[
            Launch("fp_weights", blocks(count * 8, 256), 256, ("prints", "weights", "count")),
            Launch("tanimoto", asked, 128, (*names, "count", "least")),
        ],
        changed=["weights", "best"],
    )  # fmt: skip


QUADRATURE = np.dtype(
    [("kind", "i4"), ("pad", "f4"), ("a", "f8"), ("b", "f8"), ("low", "f8"), ("high", "f8")]
)


@case(full=240, quick=9)
def adaptquad(count: int) -> Problem:
    """Three functions; a stack for a block of 96 threads, of which few work at first. A last bit can be what
    decides whether an interval is halved once more."""
    rng = np.random.default_rng(508)
    integrals = np.zeros(count, QUADRATURE)
    kind = rng.integers(0, 3, count)
    integrals["kind"] = kind
    integrals["a"] = np.choose(
        kind, [1e-4 + 1e-3 * rng.random(count), rng.random(count), 0.01 + rng.random(count)]
    )
    integrals["b"] = np.where(kind == 2, 3 + 5 * rng.random(count), rng.random(count))
    integrals["low"] = -rng.random(count)
    integrals["high"] = 1 + rng.random(count)
    names = ("parameters", "integrals", "pieces")
    return Problem(
        arrays={
            "parameters": integrals.view("u8").reshape(count, 5), "integrals": zeros(count, kind="f8"),
            "pieces": zeros(count, kind="i4"),
        },
        scalars={**ints("count", count), "tolerance": np.float64(1e-8)},
        launches=[Launch("adaptquad", count, 96, (*names, "tolerance"))],
        changed=["integrals", "pieces"],
        tolerance=1e-9,
        mismatches=0.02,
    )  # fmt: skip


@case(full=60_000, quick=500)
def lockmap(n: int) -> Problem:
    """Keys of a power law, whose buckets many threads want at once; nodes of 40 bytes."""
    rng = np.random.default_rng(509)
    at_most, questions = n // 4, n // 2 + 3
    names = rng.integers(0, 2**63, at_most).astype("u8")
    keys = names[(at_most * settled(rng.random(n) ** 3)).astype("i8")]
    others = rng.integers(0, 2**63, questions).astype("u8")
    asked = np.where(rng.random(questions) < 0.8, rng.choice(keys, questions), others)
    buckets = np.uint32(n // 6 + 1)
    arrays = {
        "keys": keys, "values": rng.integers(-3000, 3000, n).astype("i2"), "asked": asked,
        "found": zeros(questions, 4, kind="i4"), "mean": zeros(questions),
        "table": zeros(5, kind="u8"), "heads": zeros(int(buckets), kind="i4"),
        "locks": zeros(int(buckets), kind="i4"), "pool": zeros(at_most, 5, kind="u8"),
        "used": zeros(1, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars={**ints("n questions", n, questions), "buckets": buckets, "at_most": np.int32(at_most)},
        launches=[
            Launch(
                "lockmap_make",
                blocks(int(buckets)),
                256,
                ("table", "heads", "locks", "pool", "used", "buckets"),
            ),
            Launch("lockmap_add", blocks(n, 128), 128, ("table", "keys", "values", "n")),
            Launch("lockmap_find", blocks(questions), 256, ("table", "asked", "found", "mean", "questions")),
        ],
        changed=["found", "mean", "table", "heads", "locks", "pool", "used"],
        native=("keys", "values", "asked", "found", "mean"),
    )


@case(full=40_000, quick=150)
def nufft_cas(count: int) -> Problem:
    """36 complex numbers a point, added by compare-and-swap; points in clusters, and some beyond the edge."""
    rng = np.random.default_rng(510)
    nx, ny = (300, 217) if count > 1000 else (31, 22)
    centre = rng.random((12, 2))[rng.integers(0, 12, count)]
    points = centre + 0.3 * (rng.random((count, 2)) - 0.5) * rng.random((count, 1))
    names = ("points", "strength", "grid")
    return Problem(
        arrays={
            "points": points, "strength": (rng.random((count, 2)) - 0.5).astype("f4"),
            "grid": zeros(ny, nx, 2),
        },
        scalars=ints("count nx ny", count, nx, ny),
        launches=[Launch("nufft_cas", min(blocks(count), 64), 256, (*names, "count", "nx", "ny"))],
        changed=["grid"],
        tolerance=1e-5,
    )  # fmt: skip


def struct(kind: np.dtype[np.void], *values: object) -> np.generic:
    """A parameter that is a struct."""
    return np.array([values], kind)[0]


DEVELOPMENT = np.dtype(
    [
        ("black", "i2", 4), ("gain", "u2", 4), ("knots", "u2", 9), ("tones", "u1", 9), ("slack", "u2"),
        ("header", "i4"), ("pitch", "i4"),
    ],
    align=True,
)  # fmt: skip


@case(full=1210, quick=45)
def raw12(width: int) -> Problem:
    """Rows of an odd number of bytes after a header of 37; one of 500 pixels is hot or dead."""
    height = width * 3 // 4 - 8
    rng = np.random.default_rng(511)
    y, x = np.mgrid[:height, :width]
    pixels: Array = (
        300
        + (x * 7 // 3 + y * 5 // 2) % 2500
        + 400 * ((x // 40 + y // 56) % 2)
        + rng.integers(0, 60, (height, width))
    )
    spikes = rng.random((height, width))
    pixels[spikes < 0.001], pixels[spikes > 0.999] = 4095, 0
    header, pitch = 37, -(-width // 8) * 12 + 5
    wide = np.zeros((height, -(-width // 2) * 2), "u4")
    wide[:, :width] = pixels
    pairs = wide[:, ::2] | wide[:, 1::2] << 12
    frame = np.zeros(header + pitch * height, "u1")
    rows = frame[header:].reshape(height, pitch)
    for byte in range(3):
        rows[:, byte : 3 * pairs.shape[1] : 3] = pairs >> (8 * byte) & 255
    knots = [0, 50, 150, 400, 800, 1300, 2000, 3000, 4095]
    tones = [0, 12, 35, 80, 120, 160, 200, 235, 255]
    black, gain, slack = [256, 250, 250, 260], [512, 270, 270, 410], 40
    chosen = struct(DEVELOPMENT, black, gain, knots, tones, slack, header, pitch)
    arrays = {
        "frame": frame, "black": np.array(black, "i2"), "gain": np.array(gain, "u2"),
        "knots": np.array(knots, "u2"), "tones": np.array(tones, "u1"),
        "raw": zeros(height, width, kind="u2"), "out": zeros(height, width, kind="u1"),
    }  # fmt: skip
    size = ints("width height", width, height)
    return Problem(
        arrays=arrays,
        scalars={**ints("slack header pitch", slack, header, pitch), **size},
        launches=[
            Launch(
                "raw12_unpack",
                (blocks(width, 256), blocks(height, 8)),
                (32, 8),
                ("frame", "raw", chosen, *size),
            ),
            Launch(
                "raw12_develop",
                (blocks(width, 16), blocks(height, 16)),
                (16, 16),
                ("raw", "out", chosen, *size),
            ),
        ],
        changed=["raw", "out"],
    )


BY_PRIME = np.dtype([("divisor", "u4"), ("buckets", "u4")])


@case(full=300_000, quick=700)
def multisplit(n: int) -> Problem:
    """Keys that lie together have few buckets; order within a bucket is as it comes."""
    rng = np.random.default_rng(512)
    buckets, divisor = 45, 251
    keys = (np.arange(n) // 7 * 21 + rng.integers(0, 9, n) * (rng.random(n) < 0.7)).astype("u4")
    by_prime = struct(BY_PRIME, divisor, buckets)
    arrays = {
        "keys": keys, "counts": zeros(buckets, kind="u4"), "offsets": zeros(buckets + 1, kind="u4"),
        "cursor": zeros(buckets, kind="u4"), "out": zeros(n, kind="u4"),
        "sums": zeros(buckets, kind="u8"), "largest": zeros(buckets, kind="u4"),
    }  # fmt: skip
    split = "buckets"
    return Problem(
        arrays=arrays,
        scalars={"n": np.int32(n), split: np.int32(buckets), "divisor": np.uint32(divisor)},
        launches=[
            Launch("split_count", blocks(n, 192), 192, ("keys", "counts", by_prime, "n")),
            Launch("split_offsets", 1, 32, ("counts", "offsets", "cursor", split)),
            Launch("split_scatter", blocks(n, 192), 192, ("keys", "cursor", "out", by_prime, "n")),
            Launch("split_sums", 5, 128, ("out", "offsets", "sums", "largest", split)),
        ],
        changed=["counts", "offsets", "cursor", "out", "sums", "largest"],
        unordered=["out"],
    )


VIEW = np.dtype(
    [
        ("scale", "f4", 2), ("origin", "f4", 2), ("width", "i4"), ("height", "i4"), ("pitch", "i4"),
        ("objects", "i4"),
    ]
)  # fmt: skip


@case(full=1000, quick=75)
def label_boxes(width: int) -> Problem:
    """Discs and bars on ground without objects; most warps see one or two objects."""
    rng = np.random.default_rng(513)
    height, pitch, objects = width * 2 // 3 + 1, -(-width // 64) * 64, 150 if width > 500 else 12
    y, x = np.mgrid[:height, :pitch]
    labels = zeros(height, pitch, kind="u2")
    for k in range(objects - 2):
        cx, cy = int(rng.integers(0, width)), int(rng.integers(0, height))
        r = int(rng.integers(2, max(4, width // 18)))
        at = np.s_[max(cy - r, 0) : cy + r + 1, max(cx - 2 * r, 0) : cx + 2 * r + 1]
        dx, dy = x[at] - cx, y[at] - cy
        inside = dx * dx + dy * dy <= r * r if k % 3 else abs(dy) <= r // 3
        labels[at][inside] = k + 1
    depth = (rng.random((height, pitch)) * 8 - 1 + labels % 7).astype("f4")
    numbers = [0.25, 0.5, -3.0, 7.0]
    view = struct(VIEW, numbers[:2], numbers[2:], width, height, pitch, objects)
    grid = (blocks(width, 32), blocks(height, 24))
    return Problem(
        arrays={
            "labels": labels, "depth": depth, "reports": zeros(objects, 6),
            "objects_": zeros(objects, 5, kind="u8"),
        },
        scalars={
            **floats("sx sy ox oy", *numbers),
            **ints("width height pitch objects", width, height, pitch, objects),
        },
        launches=[
            Launch("boxes_clear", blocks(objects, 64), 64, ("objects_", view)),
            Launch("boxes_reduce", grid, (32, 8), ("labels", "depth", "objects_", view)),
            Launch("boxes_report", blocks(objects, 64), 64, ("objects_", "reports", view)),
        ],
        changed=["reports", "objects_"],
        native=("labels", "depth", "reports"),
        tolerance=1e-6,
    )  # fmt: skip


PLANT = np.dtype(
    [
        ("dt", "i4"), ("torque", "i4"), ("drag", "i4"), ("limit", "i4"), ("target", "i4", 4), ("steps", "i4"),
        ("hold", "i4"),
    ]
)  # fmt: skip


@case(full=1500, quick=70)
def fixmotor(count: int) -> Problem:
    """Saturating products and quotients of 64 bits, and a ring of each thread; some gains make it swing."""
    rng = np.random.default_rng(514)
    steps = 400 if count > 500 else 90
    gains = np.stack([rng.integers(1 << 14, 12 << 16, count), rng.integers(0, 4 << 16, count)], 1)
    gains = np.column_stack([gains, rng.integers(0, 3 << 16, count), rng.integers(2, 13, count)])
    targets = [3 << 16, -2 << 16, 10 << 16, 1 << 15]
    numbers = {"dt": 1 << 11, "torque": 5 << 14, "drag": 3 << 13, "limit": 12 << 16}
    plant = struct(PLANT, *numbers.values(), targets, steps, steps // 3)
    return Problem(
        arrays={
            "gains": gains.astype("i4"), "targets": np.array(targets, "i4"),
            "last": zeros(count, 2, kind="i2"), "cost": zeros(count, kind="i8"),
            "settled": zeros(count, kind="i4"),
        },
        scalars=ints("dt torque drag limit steps hold count", *numbers.values(), steps, steps // 3, count),
        launches=[
            Launch("fixmotor", blocks(count, 128), 128, ("gains", plant, "last", "cost", "settled", "count"))
        ],
        changed=["last", "cost", "settled"],
    )  # fmt: skip


@case(full=160, quick=9)
def cyk(sentences: int) -> Problem:
    """Sentences of 5 to 60 words (14 at most if few), a random grammar of 48 symbols and 270 rules."""
    rng = np.random.default_rng(515)
    symbols, count, longest = 48, 270, 61 if sentences > 50 else 15
    left = np.sort((symbols * rng.random(count)).astype("i8"))
    rules = np.stack([symbols * rng.random(count), symbols * rng.random(count)], 1)
    kinds = rng.integers(symbols // 3, symbols, (256, 3)).tolist()
    lexicon = np.array([1 << a | 1 << b | 1 << c for a, b, c in kinds], "u8")
    lengths = rng.integers(5, longest, sentences)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    most = int(lengths.max())
    numbers = ints("symbols rules_", symbols, count)
    arrays = {
        "words": (256 * rng.random(int(starts[-1])) ** 2).astype("u1"), "starts": starts.astype("i4"),
        "lexicon": lexicon, "rules": rules.astype("u1"),
        "rules_of": np.searchsorted(left, np.arange(symbols + 1)).astype("u2"),
        "roots": zeros(sentences, kind="u8"), "cells": zeros(sentences, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("sentences", sentences),
        launches=[
            Launch(
                "cyk", sentences, 96, (*arrays, *numbers.values()),
                8 * (most * (most + 1) // 2) + 2 * (symbols + 1) + 2 * count,
            )
        ],
        changed=["roots", "cells"],
    )  # fmt: skip


@case(full=900, quick=21)
def assign16(count: int) -> Problem:
    """Sides of 9 to 16 in two halves of a warp, each of which fetches its next problem; 28 kB of structs."""
    rng = np.random.default_rng(516)
    base = rng.integers(0, 900, (count, 16, 1)) + rng.integers(0, 900, (count, 1, 16))
    costs = np.add(base, rng.integers(-80, 300, (count, 16, 16)))
    arrays = {
        "costs": costs.astype("i2"), "sides": rng.integers(9, 17, count).astype("u1"),
        "chosen": np.full((count, 16), -1, "i1"), "totals": zeros(count, kind="i4"),
        "next": zeros(1, kind="i4"),
    }  # fmt: skip
    tiles, problem = 160 // 16, 4 * (16 * 17 + 16)
    return Problem(
        arrays=arrays,
        scalars=ints("count", count),
        launches=[
            Launch("assign16", min(blocks(count, 2 * tiles), 24), 160, (*arrays, "count"), tiles * problem)
        ],
        changed=["chosen", "totals", "next"],
        native=[name for name in arrays if name != "next"],
    )


def primes_in(low: int, high: int) -> Array:
    sieve = np.ones(high, "?")
    sieve[:2] = False
    for p in range(2, int(high**0.5) + 1):
        if sieve[p]:
            sieve[p * p :: p] = False
    found = np.flatnonzero(sieve)
    return found[found >= low]


@case(full=500, quick=33)
def pollard(count: int) -> Problem:
    """Products of 64 by 64 bits; some numbers even, some with two factors found at once."""
    rng = np.random.default_rng(517)
    low, middle, high = (2**15, 2**20, 2**21) if count > 100 else (2**8, 2**11, 2**12)
    small, large = primes_in(low, middle), primes_in(middle, high)
    numbers = rng.choice(small, count).astype("u8") * rng.choice(large, count).astype("u8")
    numbers[::17] *= np.uint64(2)
    arrays = {"numbers": numbers, "factors": zeros(count, kind="u8"), "steps": zeros(count, kind="i4")}
    return Problem(
        arrays=arrays,
        scalars=ints("count", count),
        launches=[Launch("pollard", min(blocks(count, 64), 10), 64, (*arrays, "count"))],
        changed=["factors", "steps"],
    )


EXPRESSIONS = (
    b"^GET .*html", b"o.*g?r+", b"4..$", b"/imag?es?/.*.png", b"ses+ion=a*b", b"^.*POST.*api", b"e+t",
    b" 200 1.*9$",
)  # fmt: skip
PATHS = (
    b"/index.html", b"/images/logo.png", b"/image/a.jpg", b"/api/v1/session=aab", b"/api/users",
    b"/street/feet.html",
)  # fmt: skip


@case(full=4500, quick=100)
def pike_match(count: int) -> Problem:
    """Calls of itself, a few deep; lines like a server's log, 15 to 110 bytes."""
    rng = np.random.default_rng(518)
    room, lines = 32, list[bytes]()
    for _ in range(count):
        verb = (b"GET", b"POST", b"HEAD")[int(3 * rng.random() * rng.random())]
        picks: list[int] = rng.integers(0, len(PATHS), int(rng.integers(1, 4))).tolist()
        path = b"".join(PATHS[k] for k in picks)
        status = (b"200", b"304", b"404", b"500")[int(4 * rng.random() * rng.random())]
        size = b"" if rng.random() < 0.2 else b" %d" % rng.integers(100, 30_000)
        lines.append(verb + b" " + path + b" HTTP/1.1 " + status + size + b"\n")
    arrays = {
        "text": np.frombuffer(b"".join(lines), "u1").copy(),
        "lines": np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype("i4"),
        "expressions": np.frombuffer(b"".join(e.ljust(room, b"\0") for e in EXPRESSIONS), "u1").copy(),
        "spans": zeros(len(EXPRESSIONS), count, 2, kind="i2"),
        "matches": zeros(len(EXPRESSIONS), kind="u4"),
    }  # fmt: skip
    numbers = ints("count tried room", count, len(EXPRESSIONS), room)
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("pike_match", blocks(count, 128), 128, (*arrays, *numbers))],
        changed=["spans", "matches"],
    )


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def message(rng: np.random.Generator) -> bytes:
    """A message of fields that `protowire` knows, and of others; one of 30 is cut off or has a bad byte."""

    def signed(value: int) -> bytes:
        return varint(2 * value if value >= 0 else -2 * value - 1)

    def part(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2]) + varint(len(content)) + content

    out = b"\x08" + varint(int(rng.integers(0, 1 << int(rng.integers(1, 63)))))
    for _ in range(int(rng.integers(0, 4))):
        out += b"\x10" + signed(int(rng.integers(-(10**9), 10**4)))
    for real in rng.random(int(rng.integers(0, 3))).astype("f4"):
        out += b"\x1d" + real.tobytes()
    out += part(4, bytes(rng.integers(97, 123, int(rng.integers(3, 24))).tolist()))
    for x, y in rng.integers(-5000, 5000, (int(rng.integers(0, 6)), 2)).tolist():
        out += part(5, b"\x08" + signed(x) + b"\x10" + signed(y))
    out += part(6, b"".join(varint(k) for k in rng.integers(0, 400, int(rng.integers(0, 9))).tolist()))
    if rng.random() < 0.5:
        out += b"\x39" + np.float64(rng.random()).tobytes()
    if rng.random() < 0.3:
        out += part(9, bytes(int(rng.integers(0, 20)))) + b"\x52\x00" + b"\x58" + varint(300)
    broken = rng.random()
    if broken < 0.02:
        return out[: int(rng.integers(1, len(out)))]
    return out + (b"\x0b" if broken < 0.03 else b"\x08" + 11 * b"\xff" if broken < 0.035 else b"")


@case(full=20_000, quick=260)
def protowire(count: int) -> Problem:
    """Structs of 64 bytes from some 90 bytes of each thread's own; totals are compared bit by bit."""
    rng = np.random.default_rng(519)
    kinds = [message(rng) for _ in range(min(count, 1500))]
    picks: list[int] = rng.integers(0, len(kinds), count).tolist()
    messages = [kinds[k] for k in picks]
    arrays = {
        "wire": np.frombuffer(b"".join(messages), "u1").copy(),
        "offsets": np.concatenate([[0], np.cumsum([len(m) for m in messages])]).astype("u4"),
        "records": zeros(count, 16, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("count", count),
        launches=[Launch("protowire", blocks(count, 128), 128, (*arrays, "count"))],
        changed=["records"],
    )


SIZES = np.dtype([("rows", "i4"), ("columns", "i4"), ("most", "i4"), ("epsilon", "f8")], align=True)


@case(full=120, quick=7)
def lp_batch(count: int) -> Problem:
    """Some 20 steps of a tableau of 25 x 59; a last bit may decide which of two rows leaves."""
    rng = np.random.default_rng(520)
    m, n, most, epsilon = (24, 34, 200, 1e-9) if count > 50 else (9, 13, 60, 1e-9)
    uses = rng.integers(1, 40, (count, m, n)) * (rng.random((count, m, n)) < 0.6)
    profits = uses.mean(1) * (0.6 + 0.8 * rng.random((count, n)))
    arrays = {
        "uses": uses.astype("f4"), "stocks": rng.integers(200, 900, (count, m)).astype("f4"),
        "profits": np.rint(64 * profits).astype("f4") / 64,
        "amounts": zeros(count, n, kind="f8"), "best": zeros(count, kind="f8"),
        "outcome": zeros(count, 2, kind="i4"),
    }  # fmt: skip
    size = struct(SIZES, m, n, most, epsilon)
    shared = 8 * ((m + 1) * (n + m + 1) + m + 1) + 2 * m
    return Problem(
        arrays=arrays,
        scalars={
            **ints("m n most", m, n, most), "epsilon": np.float64(epsilon), **ints("count", count)
        },
        launches=[Launch("lp_batch", count, 96, (*arrays, size), shared)],
        changed=["amounts", "best", "outcome"],
        tolerance=1e-8,
        mismatches=0.02,
    )  # fmt: skip


RULES = np.dtype([("marks", "i2"), ("longest", "i2"), ("shared", "i2"), ("pad", "i2")])


@case(full=8, quick=5)
def golomb(marks: int) -> Problem:
    """Warps that spin on locks, push, pop and steal until nothing is outstanding; 3 or 4 marks are a task."""
    longest = {5: 14, 8: 43}[marks]
    workers = 12
    rules = struct(RULES, marks, longest, 4, 0)
    return Problem(
        arrays={
            "deques": zeros(workers, 770, kind="u8"), "outstanding": zeros(1, kind="i4"),
            "totals": zeros(2, kind="u8"),
        },
        scalars=ints("marks longest", marks, longest),
        launches=[
            Launch("golomb_start", 1, workers, ("deques", "outstanding")),
            Launch("golomb", workers, 32, ("deques", "outstanding", "totals", rules)),
        ],
        changed=["deques", "outstanding", "totals"],
        native=["totals"],
    )  # fmt: skip


PART = np.dtype([("kind", "i4"), ("x", "f4"), ("y", "f4"), ("z", "f4"), ("size", "f4")])


@case(full=210, quick=30)
def csgtree(width: int) -> Problem:
    """Virtual functions that call each other three deep, of objects in each thread's own memory."""
    height = width * 3 // 4 + 1
    parts = np.array(
        [
            (1, 0.0, 0.0, 0.3, 0.8), (0, 0.3, -0.3, -0.5, 0.7), (4, 0, 0, 0, 0), (2, 0.2, 0.9, 0.2, 0.9),
            (5, 0, 0, 0, 0.4), (0, -1.3, -0.8, 0.5, 0.45), (0, -1.2, -0.9, 0.0, 0.3), (4, 0, 0, 0, 0),
            (1, 1.5, -0.9, 1.0, 0.3), (3, 0, 0, 0, 0), (3, 0, 0, 0, 0),
        ],
        PART,
    )  # fmt: skip
    arrays = {
        "parts": parts.view("u4").reshape(-1, 5), "depth": zeros(height, width),
        "steps": zeros(height, width, kind="u1"),
    }  # fmt: skip
    numbers = {**ints("count width height", len(parts), width, height), "far_off": np.float32(12)}
    size = ("width", "height", "far_off")
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[
            Launch(
                "csgtree", (blocks(width, 16), blocks(height, 8)), (16, 8),
                ("parts", "count", "depth", "steps", *size),
            )
        ],
        changed=["depth", "steps"],
        tolerance=1e-5,
        mismatches=0.01,
    )  # fmt: skip


@case(full=260, quick=50)
def rollmed(channels: int) -> Problem:
    """A ring and a sorted list of each thread, in shorts; noise with steps, and one of 40 samples is wild."""
    rng = np.random.default_rng(521)
    length, window = (300, 25) if channels > 100 else (60, 11)
    t, c = np.mgrid[:length, :channels]
    samples: Array = 300 * ((t + 17 * c) // 90 % 3) + 5 * (c % 40) + rng.integers(-20, 21, (length, channels))
    wild = rng.random((length, channels)) < 1 / 40
    samples[wild] += rng.integers(-20_000, 20_000, int(wild.sum()))
    arrays = {
        "samples": samples.astype("i2"), "cleaned": zeros(length, channels, kind="i2"),
        "outliers": zeros(channels, kind="i4"),
    }  # fmt: skip
    numbers = ints("channels length window times_8", channels, length, window, 36)
    return Problem(
        arrays=arrays,
        scalars=numbers,
        launches=[Launch("rollmed", blocks(channels, 64), 64, (*arrays, *numbers))],
        changed=["cleaned", "outliers"],
    )


@case(full=1500, quick=70)
def minrect(clusters: int) -> Problem:
    """Sorts, stacks, indices that go round in local arrays; a last bit may choose between rectangles."""
    rng = np.random.default_rng(522)
    sizes = rng.integers(8, 41, clusters)
    start = np.concatenate([[0], np.cumsum(sizes)])
    of = np.repeat(np.arange(clusters), sizes)
    flat = rng.random((start[-1], 2)) - 0.5
    long, slant = rng.integers(40, 900, clusters)[of], (rng.random(clusters) * 3 - 1.5)[of]
    x = flat[:, 0] * long
    points = np.stack([x, slant * x + flat[:, 1] * 300], 1) + rng.integers(-9000, 9000, (clusters, 2))[of]
    arrays = {
        "points": np.rint(points).astype("i2"), "start": start.astype("i4"),
        "boxes": zeros(clusters, 6), "corners": zeros(clusters, kind="i4"),
    }  # fmt: skip
    return Problem(
        arrays=arrays,
        scalars=ints("clusters", clusters),
        launches=[Launch("minrect", blocks(clusters, 96), 96, (*arrays, "clusters"))],
        changed=["boxes", "corners"],
        tolerance=1e-6,
        mismatches=0.005,
    )
