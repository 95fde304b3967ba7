"""Twenty kernels that lean on C++ and on NVIDIA's own headers, written without knowing what the JIT is good
at: variants, expression templates, big integers, partitions of warps, pipelines, packed records."""

from __future__ import annotations

import numpy as np
from suite.problem import Array, Launch, Problem, blocks

from survey.case import case, floats, ints, settled, zeros
from survey.newcomers_x import centred, struct


@case(full=300, quick=5)
def skel_pose(characters: int) -> Problem:
    """Trees of 61 joints, ten levels deep; key frames a tenth of a turn apart."""
    joints, frames = (61, 24) if characters > 10 else (37, 3)
    rng = np.random.default_rng(801)
    parents = np.array([-1] + [int(rng.integers(max(j - 7, 0), j)) for j in range(1, joints)], "i4")
    depths = np.zeros(joints, "i4")
    for j in range(1, joints):
        depths[j] = depths[parents[j]] + 1
    keys = np.empty((frames, joints, 8), "f4")
    turns = centred(rng, 1, joints, 4, kind="f8") + 0.3 * centred(rng, frames, joints, 4, kind="f8")
    square = turns[..., 0] ** 2 + turns[..., 1] ** 2 + turns[..., 2] ** 2 + turns[..., 3] ** 2
    keys[..., :4] = turns / np.sqrt(square)[..., None]
    keys[..., 4:7] = centred(rng, frames, joints, 3)
    keys[..., 7] = 1 + 0.1 * centred(rng, frames, joints)
    levels = int(depths.max()) + 1
    times = (rng.random(characters) * (frames - 1)).astype("f4")
    numbers = ints("frames joints levels", frames, joints, levels)
    names = "keys", "parents", "depths", "times", "matrices"
    return Problem(
        arrays={
            "keys": keys, "parents": parents, "depths": depths, "times": times,
            "matrices": zeros(characters, joints, 12),
        },
        scalars=ints("frames joints characters", frames, joints, characters),
        launches=[
            Launch("skel_pose", characters, 64, (*names, *numbers.values())),
        ],
        changed=["matrices"],
        native=("keys", "parents", "times", "matrices"),
        tolerance=1e-4,
    )  # fmt: skip


@case(full=2500, quick=45)
def fixpid(n: int) -> Problem:
    """Steps of the wanted place, up and down; some gains make it unstable until all is at its limits."""
    steps = 240 if n > 100 else 40
    rng = np.random.default_rng(802)
    gains = (rng.random((n, 3)) * np.array([12.0, 0.6, 40.0]) * 65536).astype("i4")
    setpoint = np.repeat(rng.integers(-8, 9, steps // 20 + 1), 20)[:steps].astype("i4") * 65536
    numbers = ints("n steps", n, steps)
    names = "gains", "setpoint", "cost", "peak"
    return Problem(
        arrays={
            "gains": gains,
            "setpoint": setpoint,
            "cost": zeros(n, kind="i4"),
            "peak": zeros(n, kind="i4"),
        },
        scalars=numbers,
        launches=[Launch("fixpid", blocks(n, 128), 128, (*names, *numbers))],
        changed=["cost", "peak"],
    )


@case(full=5000, quick=50)
def isqrt256(n: int) -> Problem:
    """Numbers of 1 to 256 bits, most of them long, some of them squares and their neighbours."""
    rng = np.random.default_rng(803)
    numbers = zeros(n, 4, kind="u8")
    for i in range(n):
        words = [int(w) for w in rng.integers(0, 1 << 32, 8)]
        value = sum(w << (32 * k) for k, w in enumerate(words))
        if i % 4 == 1:
            value >>= int(rng.integers(1, 257))
        elif i % 4 == 2:
            value = (value >> 128) ** 2 - int(rng.integers(0, 2))
        numbers[i] = [max(value, 0) >> (64 * k) & (2**64 - 1) for k in range(4)]
    return Problem(
        arrays={"x": numbers.view("u4"), "root": zeros(n, 4, kind="u4"), "rest": zeros(n, 6, kind="u4")},
        scalars=ints("n", n),
        launches=[Launch("isqrt256", blocks(n, 128), 128, ("x", "root", "rest", "n"))],
        changed=["root", "rest"],
    )


@case(full=360, quick=35)
def sdf_visit(width: int) -> Problem:
    """Four kinds of shapes in any order, every fifth cut out of those before."""
    height, count = width * 3 // 4 - 1, 24 if width > 100 else 9
    rng = np.random.default_rng(804)
    records = zeros(count, 8)
    kinds = rng.integers(0, 4, count)
    spot = rng.random((count, 2)) * [width, height]
    records[:, 0] = kinds.astype("i4").view("f4")
    records[:, 1] = (np.arange(count) % 5 == 4).astype("i4").view("f4")
    records[:, 2:4] = spot
    records[:, 4:6] = (0.04 + 0.08 * rng.random((count, 2))) * width
    records[:, 6] = 0.02 * width
    records[kinds == 2, 4:6] += spot[kinds == 2]
    records[kinds == 3, 5] = 0.015 * width
    records[:, 7] = 0.2 + 0.8 * rng.random(count)
    numbers = {**ints("count width height", count, width, height), **floats("blend", 6)}
    return Problem(
        arrays={"records": records, "image": zeros(height, width)},
        scalars=numbers,
        launches=[
            Launch(
                "sdf_visit", (blocks(width, 32), blocks(height, 8)), (32, 8), ("records", "image", *numbers)
            )
        ],
        changed=["image"],
        tolerance=1e-4,
    )  # fmt: skip


def text_of(rng: np.random.Generator, depth: int) -> str:
    """Some arithmetic with brackets."""
    parts = list[str]()
    for k in range(int(rng.integers(1, 5))):
        if k:
            parts.append(["+", "-", "*", "/", "%", "*", "+", "-", "*"][int(rng.integers(9))])
        kind = int(rng.integers(8))
        if depth and kind < 3:
            parts.append(f"({text_of(rng, depth - 1)})")
        elif kind < 5:
            parts.append("abcdefgxyz"[int(rng.integers(10))])
        else:
            number = int(rng.integers(1, (10, 100, 1000, 10_000)[int(rng.integers(4))]))
            parts.append(f"{-number if kind == 7 else number}")
    return (" " if depth % 2 else "").join(parts)


def joined(lines: list[bytes]) -> tuple[Array, Array]:
    """All in one array, and where each begins."""
    start = np.cumsum([0] + [len(line) for line in lines]).astype("i4")
    return np.frombuffer(b"".join(lines), "u1").copy(), start


@case(full=4000, quick=60)
def recdesc(n: int) -> Problem:
    """Brackets up to five deep; one text of 16 has lost a character."""
    rng = np.random.default_rng(805)
    lines = list[bytes]()
    for i in range(n):
        line = text_of(rng, 5 if i % 3 == 0 else 3)
        if i % 16 == 9:
            at = int(rng.integers(len(line)))
            line = line[:at] + line[at + 1 :]
        lines.append(line.encode() + b"\0")
    text, start = joined(lines)
    return Problem(
        arrays={
            "text": text, "start": start, "names": rng.integers(-20, 2000, 26).astype("i4"),
            "result": zeros(n, 3, kind="i4"),
        },
        scalars=ints("n", n),
        launches=[Launch("recdesc", blocks(n, 128), 128, ("text", "start", "names", "result", "n"))],
        changed=["result"],
    )  # fmt: skip


@case(full=6000, quick=40)
def http_head(n: int) -> Problem:
    """Requests of 60 to 500 bytes; some have no end, or characters where none may be."""
    rng = np.random.default_rng(806)
    words = [
        "api",
        "v1",
        "users",
        "items",
        "index.html",
        "static",
        "img",
        "search",
        "cart",
        "orders",
        "42",
        "login",
        "assets",
        "main.css",
    ]
    browser = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
    agents = "curl/8.5.0", browser, "Go-http-client/1.1"

    def pick(*options: str) -> str:
        return options[int(rng.integers(len(options)))]

    lines = list[bytes]()
    for i in range(n):
        path = "".join("/" + pick(*words) for _ in range(int(rng.integers(1, 5))))
        if rng.random() < 0.3:
            path += f"?page={int(rng.integers(100))}&sort={pick('name', 'date', 'price')}"
        method, minor = pick("GET", "GET", "GET", "POST", "PUT", "DELETE"), int(rng.random() < 0.9)
        head = f"{method} {path} HTTP/1.{minor}\r\n"
        fields = [
            f"{pick('Host', 'host')}: {pick('www', 'api', 'cdn')}.{pick('example', 'shop')}.com",
            f"User-Agent: {pick(*agents)}",
        ]
        for name, value in (
            ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
            ("Accept-Encoding", "gzip, deflate, br"), ("Connection", pick("keep-alive", "close", "Upgrade")),
            ("Content-Length", str(int(rng.integers(100_000)))),
            ("Cookie", f"id={int(rng.integers(1 << 40)):x}"),
            ("Referer", "https://www.example.com" + path),
            ("X-Request-Id", f"{int(rng.integers(1 << 60)):016x}"),
        ):  # fmt: skip
            if rng.random() < 0.5:
                fields.append(f"{name}: {value}")
        line = (head + "".join(field + "\r\n" for field in fields) + "\r\n").encode()
        if i % 25 == 3:
            line = line[: int(rng.integers(len(line)))]
        elif i % 25 == 11:
            at = int(rng.integers(len(line)))
            line = line[:at] + b"\t" + line[at + 1 :]
        lines.append(line)
    text, start = joined(lines)
    return Problem(
        arrays={"text": text, "start": start, "requests": zeros(n, 9, kind="i4")},
        scalars=ints("n", n),
        launches=[Launch("http_head", blocks(n), 256, ("text", "start", "requests", "n"))],
        changed=["requests"],
    )


@case(full=12, quick=2)
def deque_max(count: int) -> Problem:
    """Walks of whole steps, whose windows hold many equal values."""
    length, window, stretch = (20_000, 40, 100) if count > 5 else (333, 20, 30)
    rng = np.random.default_rng(807)
    series = rng.integers(-9, 10, (count, length)).cumsum(1).astype("i2")
    numbers = ints("count length window", count, length, window)
    grid = (blocks(blocks(length, stretch), 64), count)
    return Problem(
        arrays={"series": series, "range": zeros(count, length, kind="i4")},
        scalars=numbers,
        launches=[Launch("deque_max", grid, 64, ("series", "range", *numbers, np.int32(stretch)))],
        changed=["range"],
    )


@case(full=60_000, quick=500)
def fused_expr(n: int) -> Problem:
    """Eight steps of three components, a grid of half as many threads."""
    steps = 8 if n > 1000 else 2
    rng = np.random.default_rng(808)
    place, speed = ("x", "y", "z"), ("vx", "vy", "vz")
    numbers = {"n": np.int32(n), **floats("k c rest dt", 30, 0.4, 1.5, 0.02)}
    made = {name: centred(rng, n) for name in (*place, *speed)}
    grid, launches = blocks(n, 512), list[Launch]()
    for _ in range(steps):
        launches += [
            Launch("spring_speed", grid, 256, (*speed, *place, "mass", *numbers)),
            Launch("spring_place", grid, 256, (*place, *speed, "n", "dt")),
        ]
    launches.append(Launch("spring_sums", blocks(n, 192), 192, (*place, *speed, "mass", "sums", "n")))
    return Problem(
        arrays={**made, "mass": (0.5 + rng.random(n)).astype("f4"), "sums": zeros(blocks(n, 192), 4)},
        scalars={**numbers, **ints("steps", steps)},
        launches=launches,
        changed=[*made, "sums"],
        tolerance=1e-4,
    )


@case(full=300_000, quick=1300)
def cg_labels(n: int) -> Problem:
    """Few services have most events; two of three are below the threshold."""
    services = 40 if n > 10_000 else 7
    rng = np.random.default_rng(809)
    latency = rng.integers(1, 1 << 20, n) >> rng.integers(0, 16, n)
    severity = np.minimum(rng.integers(0, 16, n), rng.integers(0, 16, n))
    service = (services * rng.random(n) * rng.random(n) * rng.random(n)).astype("u8")
    word = latency | severity << 20 | rng.integers(0, 2, n) << 24
    events = word.astype("u8") | service << 32 | rng.integers(0, 65536, n).astype("u8") << 48
    totals = zeros(services, 6, kind="u4")
    totals[:, 3] = 0xFFFFFFFF
    numbers: dict[str, np.generic] = {"n": np.int64(n), "threshold": np.uint32(6)}
    return Problem(
        arrays={"events": events, "totals": totals, "severities": zeros(services, kind="u4")},
        scalars=numbers,
        launches=[
            Launch(
                "cg_labels", max(blocks(n) // 4, 1), 256, ("events", "totals", "severities", *numbers)
            )
        ],
        changed=["totals", "severities"],
    )  # fmt: skip


@case(full=30_000, quick=70)
def bin_split(n: int) -> Problem:
    """Seven rounds, the last of which find some thousand; where an item goes depends on who comes first."""
    rounds, room = 7, 16 * n
    rng = np.random.default_rng(810)
    spans = np.empty((n, 2), "f4")
    spans[:, 0] = rng.integers(0, 64, n) / 128
    spans[:, 1] = spans[:, 0] + np.float32(0.5)
    grid, launches = blocks(n, 256), list[Launch]()
    launches.append(Launch("bin_begin", grid, 128, ("spans", "list0", "lists", np.int32(n))))
    for r in range(rounds):
        lists = f"list{r % 2}", f"list{1 - r % 2}"
        launches += [
            Launch("bin_split", grid, 256, (*lists, "closed", "lists", "limit", "room")),
            Launch("bin_turn", 1, 1, ("lists",)),
        ]
    launches.append(Launch("bin_lengths", grid, 256, ("closed", "lists", "packed", "room")))
    return Problem(
        arrays={
            "spans": spans, "list0": zeros(room, 3), "list1": zeros(room, 3), "closed": zeros(room, 3),
            "packed": zeros(room, kind="u8"), "lists": zeros(4, kind="u4"),
        },
        scalars={
            **ints("n rounds", n, rounds), "limit": np.float32(2e-3), "room": np.uint32(room),
        },
        launches=launches,
        changed=["packed", "lists"],
        native=("spans", "packed", "lists"),
        unordered=["packed"],
    )  # fmt: skip


@case(full=130_000, quick=300)
def pipe_fir(outputs: int) -> Problem:
    """Every fourth of a complex signal, tiles of 512 with 48 more, two stages."""
    tiles, per_block = blocks(outputs, 128), 8 if outputs > 1000 else 2
    rng = np.random.default_rng(811)
    return Problem(
        arrays={
            "signal": centred(rng, tiles * 512 + 48, 2), "taps": centred(rng, 48) / np.float32(8),
            "out": zeros(outputs, 2),
        },
        scalars=ints("outputs", outputs),
        launches=[
            Launch(
                "pipe_fir", blocks(tiles, per_block), 128,
                ("signal", "taps", "out", "outputs", np.int32(per_block)),
            )
        ],
        changed=["out"],
        tolerance=1e-5,
    )  # fmt: skip


@case(full=30_000, quick=45)
def mxfp8(groups: int) -> Problem:
    """Numbers of very different sizes from block to block, some of them zero, a few blocks all zero."""
    rng = np.random.default_rng(812)
    values = centred(rng, groups, 32, kind="f8") * np.ldexp(1.0, rng.integers(-20, 20, groups))[:, None]
    values *= np.ldexp(1.0, -rng.integers(0, 12, (groups, 32)))
    values[rng.random((groups, 32)) < 0.05] = 0
    values[::37] = 0
    made = {
        "e4m3": zeros(groups, 32, kind="u1"), "e5m2": zeros(groups, 32, kind="u1"),
        "scales4": zeros(groups, kind="u1"), "scales5": zeros(groups, kind="u1"),
        "back4": zeros(groups, 32, kind="u2"), "back5": zeros(groups, 32, kind="u2"),
        "error4": zeros(groups), "error5": zeros(groups),
    }  # fmt: skip
    grid = blocks(groups, 32)
    return Problem(
        arrays={"in": values.astype("f4"), **made},
        scalars=ints("groups", groups),
        launches=[
            Launch("mx_e4m3", grid, 256, ("in", "e4m3", "scales4", "groups")),
            Launch("mx_e5m2", grid, 256, ("in", "e5m2", "scales5", "groups")),
            Launch("mx_back_e4m3", grid, 256, ("in", "e4m3", "scales4", "back4", "error4", "groups")),
            Launch("mx_back_e5m2", grid, 256, ("in", "e5m2", "scales5", "back5", "error5", "groups")),
        ],
        changed=[*made],
    )


@case(full=256, quick=32)
def wmma_int8(m: int) -> Problem:
    """Blocks of 64 x 64, of which the last have warps without work."""
    n, k = m + 32, m * 3 // 2
    rng = np.random.default_rng(813)
    numbers = ints("m n k multiplier shift", m, n, k, 11_500, 24)
    names = "a", "b", "bias", "c"
    return Problem(
        arrays={
            "a": rng.integers(-128, 128, (m, k)).astype("i1"),
            "b": rng.integers(-128, 128, (n, k)).astype("i1"),
            "bias": rng.integers(-20_000, 20_000, n).astype("i4"), "c": zeros(m, n, kind="i1"),
        },
        scalars=numbers,
        launches=[Launch("wmma_int8", (blocks(n, 64), blocks(m, 64)), 128, (*names, *numbers))],
        changed=["c"],
    )  # fmt: skip


@case(full=80, quick=7)
def bg_vmask(width: int) -> Problem:
    """A still picture with noise, over which three bright squares go."""
    height, count = (width * 3 - 5, 12) if width > 10 else (17, 3)
    pixels = 4 * width
    rng = np.random.default_rng(814)
    still = rng.integers(40, 140, (height, pixels))
    frames = still + rng.integers(-5, 6, (count, height, pixels))
    for t in range(count):
        for k in range(3):
            x, y, side = (30 * k + 3 * t) % (pixels - 8), (20 * k + 2 * t) % (height - 8), 6 + 8 * k
            frames[t, y : y + side, x : x + side] += 70
    words = width * height
    made = {
        "background": still.astype("u1"), "spread": np.full((height, pixels), 6, "u1"),
        "mask": zeros(height, pixels, kind="u1"), "eroded": zeros(height, pixels, kind="u1"),
        "opened": zeros(count, height, pixels, kind="u1"), "moving": zeros(count, kind="u4"),
    }  # fmt: skip
    size, model = ints("width height", width, height), ("background", "spread", "mask", "moving")
    grid, launches = (blocks(width, 32), blocks(height, 4)), list[Launch]()
    for t in range(count):
        launches += [
            Launch("bg_update", blocks(words), 256, ("frames", *model, np.int32(words), np.int32(t))),
            Launch("bg_open", grid, (32, 4), ("mask", "eroded", *size, np.int32(0), np.int32(0))),
            Launch("bg_open", grid, (32, 4), ("eroded", "opened", *size, np.int32(1), np.int32(t))),
        ]
    return Problem(
        arrays={"frames": frames.astype("u1"), **made},
        scalars={**size, **ints("count", count)},
        launches=launches,
        changed=[*made],
    )


ROM = (
    "00e0 6500 c03f c11f c20f f229 d015 8504 3f00 2230 7601 3640 1204 00e0 6600 4200 7903 1204"
    " 0000 0000 0000 0000 0000 0000 8750 8706 8713 8805 a300 f71e f233 a300 f71e f265 812e 8ab4 f215 f307"
    " 9170 7b01 a340 f455 00ee"
)


@case(full=600, quick=40)
def chip8(machines: int) -> Problem:
    """Digits drawn at random places; when they meet, a subroutine works on memory."""
    rom = np.frombuffer(bytes.fromhex(ROM.replace(" ", "")), "u1").copy()
    numbers = ints("rom_size machines frames per_frame", rom.size, machines, 30, 12 if machines > 100 else 7)
    made = {
        "memories": zeros(machines, 1024, kind="u1"), "screens": zeros(machines, 64, kind="u4"),
        "registers": zeros(machines, 4, kind="u4"),
    }  # fmt: skip
    return Problem(
        arrays={"rom": rom, **made},
        scalars=numbers,
        launches=[Launch("chip8", blocks(machines, 64), 64, ("rom", *made, *numbers))],
        changed=[*made],
    )


@case(full=200, quick=12)
def stl_props(rings: int) -> Problem:
    """A ball with bumps, two triangles a cell; the normals of some look inwards."""
    rng = np.random.default_rng(816)
    turn = np.arange(2 * rings) / rings
    angle, slope = settled(np.cos(np.pi * turn)), settled(np.sin(np.pi * turn))
    fall = np.pi * np.arange(rings + 1) / rings
    down, out = settled(np.cos(fall)), settled(np.sin(fall))
    radius = 20 * (1 + 0.02 * rng.random((rings + 1, 2 * rings)))
    radius[0] = radius[-1] = 20
    x, y, z = radius * out[:, None] * angle, radius * out[:, None] * slope, radius * down[:, None]
    points = np.stack([x + 3, y - 2, z + 1], -1)
    right = np.roll(points, -1, 1)
    cells = [
        np.stack([points[:-1], points[1:], right[1:]], -2),
        np.stack([points[:-1], right[1:], right[:-1]], -2),
    ]
    corners = np.concatenate([cell.reshape(-1, 3, 3) for cell in cells]).astype("f4")
    n = len(corners)
    facets = np.zeros(n, np.dtype([("normal", "f4", 3), ("corner", "f4", (3, 3)), ("attribute", "u2")]))
    facets["corner"] = corners
    facets["normal"] = corners[:, 0] - np.array([3, -2, 1], "f4")
    facets["normal"][rng.random(n) < 0.05] *= -1
    groups = min(blocks(n), 24)
    return Problem(
        arrays={
            "file": np.concatenate([np.zeros(84, "u1"), facets.view("u1")]),
            "parts": zeros(groups, 18, kind="u4"), "sums": zeros(6, kind="f8"), "box": zeros(6),
        },
        scalars=ints("n", n),
        launches=[
            Launch("stl_facets", groups, 256, ("file", "parts", "n")),
            Launch("stl_total", 1, 256, ("parts", "sums", "box", np.int32(groups))),
        ],
        changed=["parts", "sums", "box"],
        native=("file", "sums", "box"),
        tolerance=1e-6,
    )  # fmt: skip


@case(full=300_000, quick=2500)
def cmsketch(n: int) -> Problem:
    """Keys by a power law, a hundred or so of them frequent."""
    keys, room = (1 << 18, 4096) if n > 10_000 else (1 << 12, 100)
    rng = np.random.default_rng(817)
    draw = rng.random(n)
    key = ((keys * draw * draw * draw * draw * draw * draw).astype("u4") * np.uint32(40_503)) % keys
    weight = rng.integers(1, 16, n) * rng.integers(1, 16, n)
    numbers: dict[str, np.generic] = {
        "threshold": np.uint32(4 * n // 30),
        "room": np.uint32(room),
        "n": np.int32(n),
    }
    made = {
        "sketch": zeros(4, 1024, kind="u4"), "heaviest": zeros(1, kind="u4"),
        "claimed": zeros(keys // 32, kind="u4"), "first_seen": np.full(keys, 0xFFFFFFFF, "u4"),
        "hitters": zeros(room, kind="u8"), "found": zeros(1, kind="u4"),
    }  # fmt: skip
    names = "stream", "sketch", "claimed", "first_seen", "hitters", "found"
    return Problem(
        arrays={"stream": np.stack([key.astype("u4"), weight.astype("u4")], -1), **made},
        scalars=numbers,
        launches=[
            Launch("cm_count", min(blocks(n, 512), 16), 512, ("stream", "sketch", "heaviest", "n")),
            Launch("cm_hitters", blocks(n), 256, (*names, *numbers)),
        ],
        changed=[*made],
        unordered=["hitters"],
    )


def internet_sum(header: bytes) -> int:
    total = sum(header[i] << 8 | header[i + 1] for i in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@case(full=40_000, quick=90)
def ipv4_hdr(n: int) -> Problem:
    """Most packets may go on; the others show every reason why one may not."""
    rng = np.random.default_rng(818)
    packets, start = list[bytes](), np.zeros(n + 1, "i4")
    for i in range(n):
        words = 5 if rng.random() < 0.9 else int(rng.integers(6, 9))
        body = bytes(rng.integers(0, 256, 4 * int(rng.integers(2, 30)), "u1"))
        size, fault = 4 * words + len(body), i % 40
        first = int(rng.choice([0, 127, 169, 230])) if fault == 7 else int(rng.integers(1, 127))
        source = bytes([first, 254, int(rng.integers(256)), int(rng.integers(256))])
        target = bytes([10, int(rng.integers(16)), int(rng.integers(256)), int(rng.integers(256))])
        length = size + 9 * (fault == 13)
        head = bytes([(6 if fault == 11 else 4) << 4 | words, 0, length >> 8, length & 255])
        head += rng.integers(0, 256, 2, "u1").tobytes() + bytes([0x40 if i % 30 else 0x20, 5 * (i % 30 == 0)])
        head += bytes([1 if fault == 17 else int(rng.integers(2, 65)), int(rng.choice([6, 6, 17, 1])), 0, 0])
        head += source + target + bytes(4 * (words - 5))
        check = internet_sum(head) ^ (4 if fault == 19 else 0)
        usual = rng.choice([22, 53, 80, 123, 443, 8080], 2)
        ports = rng.integers(0, 65536, 2) if rng.random() < 0.3 else usual
        ported = b"".join(int(port).to_bytes(2, "big") for port in ports)
        packets.append(head[:10] + check.to_bytes(2, "big") + head[12:] + ported + body[4:])
        start[i + 1] = start[i] + size
    rules = np.zeros(24, np.dtype([(name, "u4") for name in ("network", "mask", "ports", "kind")]))
    for k in range(24):
        bits = int(rng.integers(12, 17)) if k < 23 else 0
        rules["mask"][k] = mask = (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF if bits else 0
        rules["network"][k] = (10 << 24 | int(rng.integers(16)) << 16) & mask
        low, high = [(0, 0), (80, 80), (1024, 65535), (53, 443)][k % 4]
        rules["ports"][k] = low | high << 16
        rules["kind"][k] = [0, 6, 17][k % 3] | int(rng.random() < 0.6 or k == 23) << 8
    rules["ports"][23] = rules["kind"][23] = 0
    rules["kind"][23] = 1 << 8
    return Problem(
        arrays={
            "packets": np.frombuffer(b"".join(packets), "u1").copy(), "start": start,
            "rules": rules.view("u4"), "verdicts": zeros(n, kind="u1"), "counts": zeros(7, kind="u4"),
        },
        scalars=ints("n rule_count", n, 24),
        launches=[
            Launch(
                "ipv4_hdr", blocks(n), 256,
                ("packets", "start", "rules", "verdicts", "counts", "n", "rule_count"),
            )
        ],
        changed=["packets", "verdicts", "counts"],
    )  # fmt: skip


@case(full=90, quick=9)
def mdspan_adv(nx: int) -> Problem:
    """Six steps; wind that turns with the height."""
    ny, nz, steps = nx * 3 // 4 + 1, nx // 2 - 1, 6 if nx > 10 else 2
    rng = np.random.default_rng(819)
    size = ints("nx ny nz", nx, ny, nz)
    numbers = floats("dt spread sink", 0.1, 0.4, 0.05)
    params = struct(
        np.dtype([("dt", "f4"), ("spread", "f4"), ("sink", "f4"), ("nx", "i4"), ("ny", "i4"), ("nz", "i4")]),
        0.1, 0.4, 0.05, nx, ny, nz,
    )  # fmt: skip
    grid = (blocks(nx, 16), blocks(ny, 4), blocks(nz, 8))
    steps_of = ("adv_left_right", "a", "b"), ("adv_right_left", "b", "a")
    return Problem(
        arrays={
            "a": (rng.random((nz, ny, nx)) * (rng.random((nz, ny, nx)) < 0.1)).astype("f4"),
            "winds": centred(rng, nz, 3) / np.float32(2), "b": zeros(nx, ny, nz),
        },
        scalars={**size, **numbers, **ints("steps", steps)},
        launches=[
            Launch(kernel, grid, (16, 4, 4), (source, target, "winds", params))
            for kernel, source, target in steps_of * (steps // 2)
        ],
        changed=["a", "b"],
        native=("a", "winds"),
        tolerance=1e-5,
    )  # fmt: skip


@case(full=8000, quick=70)
def elias_asm(lists: int) -> Problem:
    """Gaps by a power law: most of a few bits, some of fifteen."""
    rng = np.random.default_rng(820)
    gaps = 1 + rng.integers(0, 1 << 15, (lists, 32)) // (1 + rng.integers(0, 1 << 15, (lists, 32)) // 8)
    made = {
        "places": zeros(lists + 1, kind="i4"), "code": zeros(32 * lists + 2, kind="u4"),
        "decoded": zeros(lists, 32, kind="u4"), "check": zeros(lists, kind="u4"),
    }  # fmt: skip
    grid = blocks(lists, 128)
    return Problem(
        arrays={"documents": gaps.cumsum(1).astype("u4"), **made},
        scalars=ints("lists", lists),
        launches=[
            Launch("gamma_sizes", grid, 128, ("documents", "places", "lists")),
            Launch("gamma_places", 1, 1024, ("places", "lists")),
            Launch("gamma_write", grid, 128, ("documents", "places", "code", "lists")),
            Launch("gamma_read", grid, 128, ("code", "places", "decoded", "check", "lists")),
        ],
        changed=[*made],
    )
