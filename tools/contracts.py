"""A contract for import-linter that lists what a room may import: what is new is forbidden until allowed."""

from __future__ import annotations

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
        reached = {
            name for name in graph.find_upstream_modules(self.room, as_package=True) if within(name, [root])
        }
        strangers = [
            name for name in sorted(reached - {root}) if not within(name, [self.room, *self.allowed_modules])
        ]
        chains = [graph.find_shortest_chain(self.room, name, as_packages=True) for name in strangers]
        return ContractCheck(kept=not chains, metadata={"chains": chains})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each forbidden way, from the room to the stranger."""
        for chain in check.metadata["chains"]:
            output.print_error(f"- {' -> '.join(chain)}", bold=False)
        output.new_line()


def within(module: str, packages: list[str]) -> bool:
    """Whether `module` is one of `packages` or lies below one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)
