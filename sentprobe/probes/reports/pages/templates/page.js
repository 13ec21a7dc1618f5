"use strict";
// Sorts tables by column, filters encoders by name, and copies commands. The page is complete without this script.
(() => {
  const value = (row, column) => {
    const cell = row.cells[column];
    if (column === 0) return cell.textContent.trim().toLowerCase();
    return cell.dataset.value === undefined ? NaN : Number(cell.dataset.value);
  };
  const compare = (a, b) => {
    if (typeof a === "string") return a < b ? -1 : a > b ? 1 : 0;
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b); // cells without a figure come last
    return b - a;
  };
  const WAYS = { none: "first", first: "second", second: "none" };
  function sort(table, column, way) {
    const aria = column === 0 ? ["ascending", "descending"] : ["descending", "ascending"];
    table.querySelectorAll("thead th").forEach((head, place) => {
      const here = place === column && way !== "none";
      here ? head.setAttribute("aria-sort", aria[way === "first" ? 0 : 1]) : head.removeAttribute("aria-sort");
      head.dataset.way = here ? way : "none";
    });
    table.classList.toggle("sorted", way !== "none");
    for (const body of table.tBodies) {
      const rows = [...body.rows].sort((a, b) => a.dataset.place - b.dataset.place);
      if (way !== "none") {
        const figures = rows.filter((row) => !row.classList.contains("heading"));
        const known = figures.map((row) => [value(row, column), row]);
        known.sort(([a], [b]) => (way === "second" && !(a !== a || b !== b) ? compare(b, a) : compare(a, b)));
        known.forEach(([, row]) => body.append(row));
      } else {
        rows.forEach((row) => body.append(row));
      }
    }
  }
  for (const table of document.querySelectorAll("table.data")) {
    [...table.tBodies].forEach((body) => [...body.rows].forEach((row, place) => { row.dataset.place = place; }));
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...head.childNodes);
      head.append(button);
      head.dataset.way = "none";
      button.addEventListener("click", () => sort(table, column, WAYS[head.dataset.way]));
    });
  }
  function filter(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (name) => words.every((word) => name.toLowerCase().includes(word));
    for (const element of document.querySelectorAll("[data-encoder]")) {
      element.classList.toggle("hidden", !wanted(element.dataset.encoder));
    }
  }
  const box = document.querySelector(".tools input");
  if (box) {
    document.querySelector(".tools").hidden = false;
    box.addEventListener("input", () => filter(box.value));
  }
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.of);
      getSelection().selectAllChildren(text);
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected: copy it with Ctrl-C";
      }
    });
  }
})();
