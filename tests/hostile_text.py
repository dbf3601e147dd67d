"""The worst texts that an answer may hold, the program's patterns, and those who read answers.

python -m tests.hostile_text [--size N] patterns | readers | one PATTERN
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import re
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
SIZE = 200_000
PACKAGE = "kata_content"
SOURCE = ROOT / "grader" / "judge" / "source.py"  # the judge's searches
SECONDS = 4  # of processor time for one pattern or reader over one text; in one go it is a hundredth of that
METHODS = frozenset({"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "split"})
SEARCHES = frozenset({"find", "find_in_forward"})  # of the judge's `Source`
OWN_TEXTS = (
    "grader/doctor.py",
    "grader/drafting.py",
    "grader/practice/demo.py",
    "grader/practice/hints.py",
)  # only ours is read there

# Units that are repeated: openers, runs, chains, and whatever a pattern's own words make.
UNITS = (
    *(
        " ",
        "\t",
        " \n",
        "(",
        "x[",
        "x[]",
        "( , ",
        "[a, a",
        "0",
        "1_",
        "a",
        "Aa",
        "a_",
        "x x ",
        "a.",
        "self.a",
    ),
    *("= ", "* ", "-", "#", '"', '"""', "'''\n", "\\", "`a", "a:/", "a? ", "\u0301", "\x0c"),
)
WORD = re.compile(r"[A-Za-z_]{2,}")


@dataclass(frozen=True)
class Used:
    """A pattern of the program, and how it is applied."""

    file: str
    pattern: str | bytes
    flags: int
    methods: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file} {self.pattern!r} {'/'.join(self.methods)}"


def texts(words: tuple[str, ...] = ()) -> Iterator[str]:
    """Each unit repeated to the size, with something behind it that fits nothing."""
    made = [unit for word in words for unit in (word, f"{word}(")]
    for unit in (*UNITS, *made):
        yield (unit * (SIZE // len(unit) + 1))[:SIZE] + ";"


def sources() -> list[Path]:
    files = [*ROOT.glob("grader/**/*.py"), *ROOT.glob("katas/**/*.py")]
    kept = [path for path in files if path.relative_to(ROOT).as_posix() not in OWN_TEXTS]
    return sorted(path for path in kept if path.name not in ("stub.py", "blank.py"))


def _calls(path: Path) -> Iterator[tuple[str, ast.Call, str]]:
    """The calls of `re` and of the judge's searches: what it is asked of, the call, the method.

    A pattern that has a name at the top of its module stands in the call as itself.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and _text(node.value) is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner, method = ast.unparse(node.func.value), node.func.attr
            searched = owner == "source" or owner.endswith(".source") or (owner == "self" and path == SOURCE)
            if (owner == "re" and method in METHODS) or (searched and method in SEARCHES):
                first = node.args[0]
                if isinstance(first, ast.Name):
                    node.args[0] = named.get(first.id, first)
                yield owner, node, method


def _text(node: ast.expr) -> str | bytes | None:
    """A literal pattern; a name that is put into it is `name`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else _put_in(part) for part in node.values]
        return None if None in parts else "".join(str(part) for part in parts)
    return None


def _put_in(part: ast.expr) -> str | None:
    inside = part.value if isinstance(part, ast.FormattedValue) else None
    escaped = isinstance(inside, ast.Call) and ast.unparse(inside.func) == "re.escape"
    return "name" if escaped else None


def _dotted(name: str) -> str:
    """The module of one of our files; a kata's has its name once the katas are loaded."""
    if name.startswith("katas/"):
        from tests.judge.stage import content

        kata = Path(name).parts[1]
        assert content(kata if (ROOT / "katas" / kata / "kata.toml").exists() else "v3").checks
        name = name.replace("katas/", f"{PACKAGE}/", 1)
    return name.removesuffix(".py").replace("/", ".")


def used_patterns() -> list[Used]:
    """All that is compiled as a module is loaded, and all that stand as a literal in a call."""
    found: dict[str, Used] = {}
    for path in sources():
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if "re.compile(" in text:
            module = importlib.import_module(_dotted(name))
            for variable, value in vars(module).items():
                if isinstance(value, re.Pattern) and re.search(
                    rf"^{variable} = re\.compile", text, re.MULTILINE
                ):
                    called = set(re.findall(rf"\b{variable}\.(\w+)\b", text)) & METHODS
                    methods = tuple(sorted(called)) or ("findall",)
                    used = Used(name, value.pattern, value.flags, methods)
                    found[str(used)] = used
        for owner, call, method in _calls(path):
            pattern = _text(call.args[0])
            if pattern is not None and method != "compile":
                used = Used(name, pattern, 0, (method if owner == "re" else "search",))
                found[str(used)] = used
    return list(found.values())


def unseen_patterns() -> set[str]:
    """The calls with a pattern that is no literal, by file and argument."""
    return {
        f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(call.args[0])}"
        for path in sources()
        for _, call, method in _calls(path)
        if _text(call.args[0]) is None and not _at_the_top(path, call)
    }


def _at_the_top(path: Path, call: ast.Call) -> bool:
    """Compiled as the module is loaded: then the pattern itself is tried."""
    line = path.read_text(encoding="utf-8").splitlines()[call.lineno - 1]
    return ast.unparse(call.func) == "re.compile" and not line.startswith(" ")


TRIED_WITH_THEIR_FUNCTION = {
    "grader/judge/source.py: pattern",
    "grader/judge/source.py: "
    "f'{assigned}|\\\\b{n}(\\\\[.{{0,80}}\\\\])?(\\\\.data)?\\\\.\\\\w{{1,40}}_\\\\('",
}


def _apply(used: Used) -> None:
    pattern = re.compile(used.pattern, used.flags)
    own = used.pattern if isinstance(used.pattern, str) else used.pattern.decode()
    for text in texts(tuple(dict.fromkeys(WORD.findall(own)))[:6]):
        subject = text.encode() if isinstance(used.pattern, bytes) else text
        for method in used.methods:
            arguments = ("", subject) if method == "sub" else (subject,)
            _bounded(functools.partial(_read, getattr(pattern, method), *arguments))


def _read(method: Callable[..., object], *arguments: str | bytes) -> None:
    result = method(*arguments)
    if isinstance(result, Iterator):
        for _ in result:
            continue


def _in_a_file(text: str) -> str:
    """The text behind a `#`, in a string, and as it is, in forward."""
    head = "class SelfAttentionV3(nn.Module):\n    def forward(self, x, mask):\n"
    return f"{head}        {text}\n        y = x  # {text}\n"


def _comments(text: str) -> None:
    from grader.judge.comments import shape_comments
    from grader.protocol import TraceEntry

    entry = TraceEntry(line=1, call="matmul", output=(3, 5, 16))
    for comment in (text, f"(B, S, D) {text}", f"({text}", f"({text})", f"B x {text}"):
        shape_comments([f"y = x  # {comment}"], [entry], {"S": 5}, {"S": frozenset({"s", "seq_len"})})


def _source(text: str) -> None:
    from grader.judge.source import Source

    source = Source(_in_a_file(text))
    for name in ("x", "self", "", " ", "a" * 80):
        source.changes_in_place(name)
    source.last_return()
    source.returns_several()
    source.unpacks_three(1)
    source.last_use_of_helper(2)
    source.definition_like("forward")
    source.written_size()


def _text_of_a_file(text: str) -> None:
    from grader.answer_text import answer_text

    cells = [{"cell_type": "code", "source": source} for source in (text, f"%%time\n{text}", f"a?{text}")]
    answer_text(json.dumps({"cells": cells}).encode(), "a.ipynb")
    answer_text(text.encode(), "a.ipynb")
    answer_text(text.encode(), "a.py")


def _classes(text: str) -> None:
    from grader.records import Submission
    from grader.snapshot import class_names

    for name in ("a.py", "a.ipynb"):
        class_names(Submission(name=name, source=text.encode(), sha256=""))


def _highlighting(text: str) -> None:
    from grader.report.code import Source

    Source("a.py", text[: SIZE // 10])


def _likeness(text: str) -> None:
    from grader.cohort.similarity import fingerprints

    fingerprints(text[: SIZE // 10])


def _shown(text: str) -> None:
    from grader.judge.sanitize import plain
    from grader.report import neutral

    plain(text)
    for limit in (neutral.LIMIT, SIZE // 10):
        neutral.for_terminal(text, limit=limit)
        neutral.for_markdown(text, limit=limit, spans=True)
        neutral.fenced(text, limit=limit)
        neutral.code_span(text, limit=limit)


def _failures(text: str) -> None:
    from grader.judge.units import Names
    from grader.judge.wording import sentence
    from grader.protocol import Failure
    from tests.judge.stage import common, content

    for kind in ("TypeError", "NameError", "ValueError", "SystemExit", "ImportError"):
        failure = Failure(stage="forward", type=kind, text=text, name=text, owner="self", near=(text,))
        sentence(failure, "a.py")
        common("crashes").name_of(failure)
    Names(content("v3").family).states(text)


def _missing_names(text: str) -> None:
    from grader.worker.failures import describe

    for error in (
        ImportError(f"cannot import name '{text}' from 'a'"),
        ModuleNotFoundError(text, name=text),
        AttributeError(text, name=text, obj=object()),
        NameError(text, name=text),
    ):
        describe(error, "forward", "a.py")


READERS: dict[str, Callable[[str], None]] = {
    "shape comments": _comments,
    "the judge's searches": _source,
    "the text of a file": _text_of_a_file,
    "the classes of a file": _classes,
    "highlighting": _highlighting,
    "likeness": _likeness,
    "what is shown": _shown,
    "failures": _failures,
    "missing names": _missing_names,
}


def _bounded(work: Callable[[], None]) -> None:
    """Do it with some seconds of processor time from now on; who needs more is ended by the kernel."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + SECONDS, resource.RLIM_INFINITY))
    work()


def main(part: str, *more: str) -> None:
    if part == "--size":
        global SIZE  # noqa: PLW0603 - of this process, which does nothing else
        SIZE = int(more[0])
        part, *more = more[1:]  # type: ignore[assignment]
    if part == "readers":
        for name, reader in READERS.items():
            print(name, flush=True)
            for text in texts(("class", "def", "return", "import")):
                _bounded(functools.partial(reader, text))
        return
    found = [Used("", pattern, 0, ("search",)) for pattern in more] if part == "one" else used_patterns()
    for used in found:
        print(used, flush=True)
        _apply(used)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(*sys.argv[1:])
