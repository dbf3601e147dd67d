// Sorts a table by the column whose heading is pressed; a second press turns the order round.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = heading.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
      const numeric = heading.dataset.kind === "number";
      const rows = [...table.tBodies[0].rows].sort((a, b) =>
        numeric ? Number(value(a)) - Number(value(b)) : value(a).localeCompare(value(b)));
      if (down) rows.reverse();
      table.tBodies[0].append(...rows);
    });
  });
}
