"""Fixtures that every test may use."""

from __future__ import annotations

import functools
import gc
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import pytest

from tests.shares import (
    ALL,
    BETWEEN,
    BY_TURNS,
    STEP_BETWEEN,
    STEP_INTERPRETED,
    STEP_MADE_WELL,
    STEP_SIMPLY,
    TURNS,
    share,
    share_of_product,
    step_of_product,
    turn_of,
)

if TYPE_CHECKING:
    import simt

P = ParamSpec("P")

ENGINES = ("interpreter", "jit")
HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"


def pytest_report_header(config: pytest.Config) -> str:
    if ALL:
        return "tests with all combinations of their parameters"
    turn = f", turn {turn_of(SOURCE) % TURNS + 1} of {TURNS}" if _is_of_all_tests(config) else ""
    return f"tests with a share of the combinations of their parameters{turn} (SIMT_HW_ALL=1: all)"


def _is_of_all_tests(config: pytest.Config) -> bool:
    """Whether no file or folder was asked for."""
    return [config.rootpath / argument for argument in config.args] == [HERE]


def pytest_collection_finish() -> None:
    """Ten thousand tests and the catalogue stay until the end: Python's collector need not look at them each
    time."""
    leave_to_the_end()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Nor at what tests of other files have kept: a million objects, which take a second each time."""
    if nextitem is None or nextitem.path != item.path:
        leave_to_the_end()


def leave_to_the_end() -> None:
    """What there is now, but for garbage, is not looked at again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A share of each test on the CPUs in between, and of the combinations of several parameters."""
    alike = [item for item in items if _cpu_of(item) in BETWEEN]
    taken = share(
        alike, STEP_BETWEEN, lambda item: (item.path, getattr(item, "originalname", ""), _cpu_of(item))
    )
    left = {*alike} - {*taken}
    left |= _combinations_left([item for item in items if item not in left])
    if _is_of_all_tests(config):
        left |= _of_other_turns([item for item in items if item not in left])
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]
    for item, simply in _made_quickly(items):
        item.add_marker(pytest.mark.made_quickly(simply))


def _made_quickly(items: list[pytest.Item]) -> list[tuple[pytest.Item, bool]]:
    """Most tests with parameters, which run on code that LLVM makes in the simplest way; and whether it is
    emitted so, too: a third of these. Most of a run's time is LLVM's otherwise, and all ways have to give the
    same bits. (Not those of the driver: launches of a draft go another way than others.)"""
    asked = [
        item for item in items
        if hasattr(item, "callspec")
        and item.callspec.params.get("engine") != "interpreter"
        and item.path.parent.name != "driver"
    ]  # fmt: skip
    made_well = {*share(asked, STEP_MADE_WELL, lambda item: item.path)}
    others = [item for item in asked if item not in made_well]
    simply = {*share(others, STEP_SIMPLY, _test_of)}
    return [(item, item in simply) for item in others]


def _test_of(item: pytest.Item) -> tuple[Path, str]:
    return item.path, getattr(item, "originalname", "")


def _combinations_left(items: list[pytest.Item]) -> set[pytest.Item]:
    """Those combinations of a test's parameters, on each engine, that a plain run leaves out."""
    groups: dict[tuple[Path, str, object], list[Any]] = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            marked = item.get_closest_marker("share") is not None
            engine = None if marked else item.callspec.params.get("engine")
            groups[item.path, getattr(item, "originalname", ""), engine].append(item)
    left = set[pytest.Item]()
    for group in groups.values():
        combinations = [item.callspec.params for item in group]
        mark = group[0].get_closest_marker("share")
        taken = share_of_product(combinations, *mark.args if mark else (step_of_product(combinations),))
        if engine == "interpreter":
            taken = {*share(sorted(taken), STEP_INTERPRETED)}
        left |= {item for number, item in enumerate(group) if number not in taken}
    return left


def _of_other_turns(items: list[pytest.Item]) -> set[pytest.Item]:
    """Of those tests with parameters that take turns: whose turn it is not."""
    folders = tuple(str(HERE / folder) for folder in BY_TURNS)
    asked = [item for item in items if hasattr(item, "callspec") and str(item.path).startswith(folders)]
    return {*asked} - {*share(asked, TURNS, _test_on_engine, turn=turn_of(SOURCE))}


def _test_on_engine(item: pytest.Item) -> tuple[tuple[Path, str], object]:
    return _test_of(item), item.callspec.params.get("engine") if hasattr(item, "callspec") else None


def _cpu_of(item: pytest.Item) -> object:
    """The CPU of a test that runs on all that this machine can stand in for: by its fixture."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return given.get("cpu", given.get("any_device"))


NOT_HERE = "which this machine's CPU does not have"
"""What a device says that is to have code for a newer CPU."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Tests whose code this machine cannot run are left out there, and say so: many are for AVX-512."""
    with _left_out_elsewhere():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """The same of what they need."""
    with _left_out_elsewhere():
        return (yield)


@contextmanager
def _left_out_elsewhere() -> Iterator[None]:
    from simt.errors import SimtError  # here, so that tests of the lower layers run without the upper ones

    try:
        yield
    except SimtError as error:
        if NOT_HERE in str(error):
            pytest.skip(str(error))
        raise


@pytest.fixture(scope="session", autouse=True)
def object_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Compiled objects of a test run stay with that run: never those of an older compiler. Workers of one run
    share them: their own folders lie beside each other."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "simt-cache"
    folder.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMT_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def drafts(request: pytest.FixtureRequest, object_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How devices that a test makes have their code made: see `_made_quickly`."""
    mark = request.node.get_closest_marker("made_quickly")
    if mark is not None:
        monkeypatch.setenv("SIMT_DRAFTS", "all")
        monkeypatch.setattr("simt.engine.drafts.ENOUGH", 1 << 60)  # better code would be made in a few
        monkeypatch.setattr("simt.engine.drafts.SHORT", 1 << 60)  # and where loops are nested, at once
    if mark is not None and mark.args == (True,):
        monkeypatch.setenv("SIMT_CACHE_DIR", str(_beside(object_cache, "simply")))
    else:
        monkeypatch.setattr("simt.engine.drafts.MOST_OPS", 0)


def _beside(folder: Path, name: str) -> Path:
    """Another folder for compiled objects."""
    found = folder.with_name(f"{folder.name}-{name}")
    found.mkdir(mode=0o700, exist_ok=True)
    return found


@pytest.fixture
def own_cache(object_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives devices that a test makes then another folder for compiled objects: code that is made in another
    way than usually is for no other test. Those that make it in the same way, and so name the same folder,
    share it, as what runs launches takes longer to compile than most kernels."""

    def use(name: str) -> None:
        monkeypatch.setenv("SIMT_CACHE_DIR", str(_beside(object_cache, name)))

    return use


@pytest.fixture
def all_large(own_cache: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of devices that a test makes are emitted as large ones are."""
    from simt.engine import llvm_calls  # here, so that tests of the lower layers run without the upper ones

    monkeypatch.setattr(llvm_calls, "OPS", -1)
    own_cache("large")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, in jobs in the background too: they inherit that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def kept_for_each_way(make: Callable[P, simt.Device]) -> Callable[P, simt.Device]:
    """One device for each of the arguments, kept for all tests of a process, and for each way of making code:
    a device takes that from the environment when it is made, and one that another test has made makes it in
    the way of that test."""

    @functools.cache
    def kept(_: tuple[str | None, str], *given: P.args, **named: P.kwargs) -> simt.Device:
        return make(*given, **named)

    def found(*given: P.args, **named: P.kwargs) -> simt.Device:
        way = os.environ.get("SIMT_DRAFTS"), os.environ["SIMT_CACHE_DIR"]
        return kept(way, *given, **named)

    return found


def shared_device(engine: str, arch: str = "sm_90") -> simt.Device:
    """One device for each engine and architecture."""
    return _shared_device(engine, arch)


@kept_for_each_way
def _shared_device(engine: str, arch: str) -> simt.Device:
    import simt  # here, so that tests of the lower layers run without the upper ones

    return simt.Device(arch, engine=engine, memory="1GiB", timeout=20)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine: a test that asks for it runs once on each."""
    return str(request.param)


@pytest.fixture
def device(engine: str) -> simt.Device:
    """An `sm_90` device on each engine, shared between tests: module variables are a test's own affair."""
    return shared_device(engine)


@contextmanager
def exact(device: simt.Device) -> Iterator[simt.Device]:
    """The device, while it computes approximate functions as the hardware does."""
    before, device.approx = device.approx, "hardware"
    try:
        yield device
    finally:
        device.approx = before


@pytest.fixture
def exact_device(device: simt.Device) -> Iterator[simt.Device]:
    """`exact` of the device."""
    with exact(device):
        yield device
