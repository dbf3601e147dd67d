"""Contracts for import-linter: what a room may import, where what is new is forbidden until it is allowed,
and that nothing imports in a circle.
"""

from __future__ import annotations

import graphlib
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class OnlyContract(Contract):
    """`room` may import, directly or by way of others, nothing of its root package but `allowed_modules`.

    Each allowed module stands for itself and all below it. The bare root package is always allowed.
    """

    type_name = "only"

    room: Any = fields.StringField()
    allowed_modules: Any = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Metadata of a broken contract: `chains`, the shortest way to each module that is not allowed."""
        output.verbose_print(verbose, f"Following the imports of {self.room}...")
        missing = [name for name in (self.room, *self.allowed_modules) if name not in graph.modules]
        if missing:
            raise ValueError(f"Module '{missing[0]}' does not exist.")
        root = self.room.split(".")[0]
        reached = {name for name in self.imported(graph) if within(name, [root])}
        strangers = [
            name for name in sorted(reached - {root}) if not within(name, [self.room, *self.allowed_modules])
        ]
        chains = [graph.find_shortest_chain(self.room, name, as_packages=True) for name in strangers]
        return ContractCheck(kept=not chains, metadata={"chains": chains})

    def imported(self, graph: ImportGraph) -> set[str]:
        """All that the room needs, whoever imports it."""
        return graph.find_upstream_modules(self.room, as_package=True)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each forbidden way, from the room to the stranger."""
        for chain in check.metadata["chains"]:
            output.print_error(f"- {' -> '.join(chain)}", bold=False)
        output.new_line()


class DirectlyContract(OnlyContract):
    """`room` itself imports nothing of its root package but `allowed_modules`; what they import is theirs."""

    type_name = "directly"

    def imported(self, graph: ImportGraph) -> set[str]:
        """What stands in the import statements of the room's own modules."""
        modules = {self.room, *graph.find_descendants(self.room)}
        return {name for module in modules for name in graph.find_modules_directly_imported_by(module)}


class AcyclicContract(Contract):
    """Below `root` no module and no package imports another that needs it, by whatever way."""

    type_name = "acyclic"

    root: Any = fields.StringField()
    ignored: Any = fields.ListField(subfield=fields.StringField(), required=False)  # "importer -> imported"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Metadata of a broken contract: `circles`, one for each package that has one."""
        output.verbose_print(verbose, f"Looking for circles in {self.root}...")
        needs: dict[
            str, dict[str, set[str]]
        ] = {}  # package -> its module or package -> what that imports there
        for module in graph.modules:
            for imported in graph.find_modules_directly_imported_by(module):
                one, other = module.split("."), imported.split(".")
                same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
                if f"{module} -> {imported}" in (self.ignored or []):
                    continue
                if same is not None and within(module, [self.root]) and within(imported, [self.root]):
                    own = needs.setdefault(".".join(one[:same]), {})
                    own.setdefault(".".join(one[: same + 1]), set()).add(".".join(other[: same + 1]))
        circles = [circle for package in sorted(needs) if (circle := circle_in(needs[package]))]
        return ContractCheck(kept=not circles, metadata={"circles": circles})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each circle."""
        for circle in check.metadata["circles"]:
            output.print_error(f"- {' -> '.join(circle)}", bold=False)
        output.new_line()


def circle_in(needs: dict[str, set[str]]) -> list[str]:
    """A way from a node back to itself; empty where there is none."""
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        circle: list[str] = error.args[1]
        return circle[::-1]
    return []


def within(module: str, packages: list[str]) -> bool:
    """Whether `module` is one of `packages` or lies below one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)
