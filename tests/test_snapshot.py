"""Reading the candidate's file: once, bounded, without following or running anything."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader.catalog import Catalog
from grader.errors import UsageError
from grader.records import Submission
from grader.snapshot import (
    MAX_NOTEBOOK,
    MAX_SOURCE,
    UnreadableSubmission,
    class_names,
    is_answer_name,
    read_submission,
    which_kata,
)

posix = pytest.mark.skipif(os.name != "posix", reason="pipes, sockets and devices are files on POSIX only")


def test_a_submission_is_exactly_the_bytes_on_disk(tmp_path: Path) -> None:
    source = "\ufeffclass SelfAttentionV1:\r\n    pass  # √d\n".encode()
    file = tmp_path / "answer.py"
    file.write_bytes(source)
    assert read_submission(file) == Submission(
        name="answer.py", source=source, sha256=hashlib.sha256(source).hexdigest()
    )


def test_the_largest_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_bytes(b"#" * MAX_SOURCE)
    assert len(read_submission(file).source) == MAX_SOURCE


def test_a_notebook_may_be_larger_because_it_carries_its_outputs(tmp_path: Path) -> None:
    file = tmp_path / "answer.ipynb"
    file.write_bytes(b" " * MAX_SOURCE + b"{}")
    assert len(read_submission(file).source) == MAX_SOURCE + 2


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("answer.py", b"", "answer.py is empty."),
        ("answer.py", b"\xef\xbb\xbf\n  \n", "answer.py is empty."),
        ("answer.py", b"#" * (MAX_SOURCE + 1), "larger than 256 KiB"),
        ("answer.ipynb", b"#" * (MAX_NOTEBOOK + 1), "larger than 4096 KiB"),
        ("answer.py", b"x = 1\ny = '\0'\n", "holds a NUL byte on line 2"),
        ("answer.py", b"x = 1\n\n# caf\xe9\n", "is not UTF-8 text (byte 0xe9 on line 3)"),
        ("answer.py", "x = 1".encode("utf-16"), "NUL byte on line 1"),
        ("answer.txt", b"x = 1", "neither a .py file nor an .ipynb notebook"),
    ],
)
def test_what_is_wrong_with_the_content_is_said(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(UnreadableSubmission) as raised:
        read_submission(file)
    assert reason in raised.value.message
    assert raised.value.name == name
    assert raised.value.fix


def test_a_missing_file_is_the_callers_mistake(tmp_path: Path) -> None:
    (tmp_path / "a_file").touch()
    for path in (tmp_path / "nowhere.py", tmp_path / "a_file" / "answer.py", tmp_path / ("x" * 300 + ".py")):
        with pytest.raises(UsageError, match="There is no file"):
            read_submission(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    # A path below /tmp can be longer than a socket's name may be.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def a_link_to_a_right_answer(path: Path) -> None:
    target = path.with_name("target.py")
    target.write_text("x = 1\n")
    path.symlink_to(target)


def a_link_to_an_endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere.py")


@posix
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (a_folder, "is a folder"),
        (a_pipe, "is a named pipe"),
        (a_socket, "is a socket"),
        (a_link_to_a_right_answer, "is a symbolic link"),
        (a_link_to_an_endless_device, "is a symbolic link"),
        (a_link_to_nothing, "is a symbolic link"),
    ],
)
def test_only_a_regular_file_is_read(tmp_path: Path, make: Callable[[Path], None], kind: str) -> None:
    path = tmp_path / "answer.py"
    make(path)
    with pytest.raises(UnreadableSubmission, match=kind):
        read_submission(path)


@posix
def test_a_device_is_not_read() -> None:
    with pytest.raises(UnreadableSubmission, match="null is a device"):
        read_submission(Path("/dev/null"))


def test_a_file_that_becomes_a_link_after_it_was_looked_at_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "answer.py"
    a_link_to_a_right_answer(path)
    monkeypatch.setattr(Path, "lstat", Path.stat)  # as it was a moment before
    with pytest.raises(UnreadableSubmission, match="is a symbolic link"):
        read_submission(path)


@posix
def test_a_file_that_becomes_a_pipe_after_it_was_looked_at_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "answer.py"
    a_pipe(path)
    monkeypatch.setattr(Path, "lstat", lambda _: Path(__file__).stat())
    with pytest.raises(UnreadableSubmission, match="is a named pipe"):
        read_submission(path)


def test_a_file_that_may_not_be_opened_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answer.py"
    path.write_text("x = 1\n")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)  # file modes do not stop an administrator
    with pytest.raises(UnreadableSubmission, match="cannot be opened: Permission denied"):
        read_submission(path)


def test_a_disk_that_fails_while_reading_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answer.py"
    path.write_text("x = 1\n")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(UnreadableSubmission, match="cannot be read: Input/output error"):
        read_submission(path)


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names")
def test_a_name_that_is_not_utf8_is_shown_with_escapes(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py"))
    path.write_text("x = 1\n")
    assert read_submission(path).name == "caf\\udce9.py"


def of(source: str, name: str = "answer.py") -> Submission:
    return Submission(name=name, source=source.encode(), sha256="")


def notebook(*cells: str) -> Submission:
    lines = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return of(json.dumps({"cells": lines}, indent=1), "answer.ipynb")


def test_the_class_tells_the_kata(catalog: Catalog) -> None:
    assert which_kata(of("import torch\n\nclass SelfAttentionV2(nn.Module):\n    pass\n"), catalog).id == "v2"


def test_one_class_defined_twice_is_one_kata(catalog: Catalog) -> None:
    source = "class SelfAttentionV2: pass\nclass SelfAttentionV2: pass\n"
    assert which_kata(of(source), catalog).id == "v2"


def test_a_class_in_a_notebooks_cell_tells_the_kata(catalog: Catalog) -> None:
    found = which_kata(
        notebook("import torch\n", "x = 1\nclass SelfAttentionV4(nn.Module):\n    pass\n"), catalog
    )
    assert found.id == "v4"


def test_a_cell_kept_as_one_string_tells_the_kata(catalog: Catalog) -> None:
    source = json.dumps({"cells": [{"source": "import torch\nclass SelfAttentionV1:\n    pass"}]})
    assert which_kata(of(source, "answer.IPYNB"), catalog).id == "v1"


def test_a_word_in_a_comment_is_no_class(catalog: Catalog) -> None:
    source = "# class SelfAttentionV1 was easier\nclass SelfAttentionV3: pass\n"
    assert which_kata(of(source), catalog).id == "v3"


def test_several_katas_in_one_file_are_named(catalog: Catalog) -> None:
    with pytest.raises(UsageError) as raised:
        which_kata(notebook("class SelfAttentionV1: pass", "class SelfAttentionV2: pass"), catalog)
    assert "several katas: SelfAttentionV1, SelfAttentionV2" in raised.value.message
    assert raised.value.fix == "Say which one to grade: kata grade answer.ipynb v1"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n", "It defines no class."),
        ("class SelfAttentionv3: pass\nclass Ωmega: pass\n", "It defines SelfAttentionv3, Ωmega."),
    ],
)
def test_a_file_without_a_katas_class_says_what_it_defines(catalog: Catalog, source: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        which_kata(of(source), catalog)
    assert said in raised.value.message
    assert raised.value.fix.startswith("Name the kata: kata grade answer.py v")


def test_the_files_name_tells_more_than_what_stands_in_it(catalog: Catalog) -> None:
    source = "class SelfAttentionV1: pass\nclass SelfAttentionV2: pass\n"
    for name in ("self_attention_v3.py", "self_attention_v3.ipynb"):
        assert which_kata(of(source, name), catalog).id == "v3"
    assert which_kata(of("class SelfAttentionV1: pass\n", "my_self_attention_v3.py"), catalog).id == "v1"


@pytest.mark.parametrize(
    "source",
    [
        "class SelfAttentionV1(nn.Module): ...\n\nclass SelfAttentionV2(SelfAttentionV1): ...\n",
        "class SelfAttentionV2(\n    nn.Module,\n    SelfAttentionV1,\n): ...\nclass SelfAttentionV1: ...\n",
        "class SelfAttentionV1: ...\n\nclass SelfAttentionV2:\n    def __init__(self):\n"
        "        self.inner = SelfAttentionV1(8)\n\nprint(SelfAttentionV1(8), SelfAttentionV2(8))\n",
        "class SelfAttentionV1: ...\nclass Middle(SelfAttentionV1): ...\n"
        "class SelfAttentionV2(Middle):\n    def forward(self, x):\n"
        "        return SelfAttentionV1.forward(self, x)\n",
    ],
)
def test_a_base_class_or_a_helper_answers_nothing(catalog: Catalog, source: str) -> None:
    assert which_kata(of(source), catalog).id == "v2"
    assert which_kata(notebook(*source.split("\n\n")), catalog).id == "v2"
    compact = json.dumps({"cells": [{"source": source}]})
    assert which_kata(of(compact, "a.ipynb"), catalog).id == "v2"


def test_classes_that_a_script_merely_compares_are_two_answers(catalog: Catalog) -> None:
    source = (
        "class SelfAttentionV1: ...\nclass SelfAttentionV2:\n    'As SelfAttentionV1, fused.'\n"
        "print(SelfAttentionV1(8))\n"
    )
    with pytest.raises(UsageError, match="several katas"):
        which_kata(of(source), catalog)


@pytest.fixture
def with_functions(catalog: Catalog) -> Catalog:
    """A catalog with two katas that a function answers."""

    v1 = catalog.get("v1")
    made = [
        msgspec.structs.replace(
            v1,
            id=name,
            file_name=f"{name}_kata.py",
            signature=msgspec.structs.replace(v1.signature, kind="function", name=name),
        )
        for name in ("softmax", "online_attention")
    ]
    return msgspec.structs.replace(catalog, katas=(*catalog.katas, *made))


SOFTMAX = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n\n"


def test_a_function_answers_where_no_class_does(with_functions: Catalog) -> None:
    assert which_kata(of(SOFTMAX), with_functions).id == "softmax"
    assert which_kata(notebook("import torch", SOFTMAX), with_functions).id == "softmax"
    helped = f"{SOFTMAX}class Block: ...\n\ndef online_attention(q, k, v):\n    return softmax(q @ k) @ v\n"
    assert which_kata(of(helped), with_functions).id == "online_attention"


def test_a_helper_named_like_a_kata_makes_nothing_ambiguous(with_functions: Catalog) -> None:
    with_class = f"{SOFTMAX}class SelfAttentionV1: ...\n"
    assert which_kata(of(with_class), with_functions).id == "v1"
    method = "class Mine:\n    def softmax(self, x):\n        return x\n"
    with pytest.raises(UsageError, match="It defines Mine"):
        which_kata(of(method), with_functions)
    alone = "def online_attention(q, k, v): ...\n\n" + SOFTMAX
    with pytest.raises(UsageError, match="several katas: online_attention, softmax"):
        which_kata(of(alone), with_functions)


@pytest.mark.parametrize("written", ["SelfAttetionV1", "SelfAttention_V1", "Attention"])
def test_in_a_file_named_for_its_kata_a_misspelt_class_will_do(catalog: Catalog, written: str) -> None:
    source = f"class {written}: pass\nclass Helper: pass\n"
    assert which_kata(of(source, "self_attention_v1.py"), catalog).id == "v1"
    with pytest.raises(UsageError):
        which_kata(of(source), catalog)


def test_source_that_would_break_a_parser_is_only_searched() -> None:
    assert class_names(of("class A: pass\n" + "(" * 100_000 + "\n")) == ["A"]


def test_answers_are_python_files_and_notebooks() -> None:
    names = ["a.py", "a.PY", "a.ipynb", "a.pyc", "a.txt", "py"]
    assert [name for name in names if is_answer_name(name)] == ["a.py", "a.PY", "a.ipynb"]
