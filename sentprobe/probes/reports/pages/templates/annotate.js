"use strict";
// Keeps the answers in the browser, and saves them as a CSV file.
(() => {
  const { store, file, answer, item } = document.body.dataset;
  const fields = [...document.querySelectorAll("fieldset")];
  const inputs = (field) => [...field.querySelectorAll("input")];
  const labels = new Set([...document.querySelectorAll("datalist option")].map((option) => option.value));
  const read = (field) => {
    const [first, ...others] = inputs(field);
    if (first.type === "radio") return ([first, ...others].find((input) => input.checked) || { value: "" }).value;
    const text = first.value.trim();
    first.setCustomValidity(text && !labels.has(text) ? "Choose a word of the list" : "");
    return labels.has(text) ? text : "";
  };
  const answers = () => Object.fromEntries(fields.map((field) => [field.dataset.name, read(field)]));
  const isOpen = (field) => read(field) === "";
  const find = (from) => [...fields.slice(from), ...fields.slice(0, from)].find(isOpen);
  function focus(field) {
    field.scrollIntoView({ block: "start" });
    inputs(field)[0].focus({ preventScroll: true });
  }
  function update() {
    fields.forEach((field) => field.classList.toggle("answered", !isOpen(field)));
    const given = fields.filter((field) => !isOpen(field)).length;
    document.getElementById("progress").textContent = `${given} of ${fields.length} answered`;
  }
  function keep() {
    try {
      localStorage.setItem(store, JSON.stringify(answers()));
    } catch {
      document.getElementById("warning").textContent = "This browser keeps no answers: save the file before you leave.";
    }
    update();
  }
  function restore() {
    let kept = {};
    try {
      kept = JSON.parse(localStorage.getItem(store)) || {};
    } catch { /* nothing is kept */ }
    for (const field of fields) {
      for (const input of inputs(field)) {
        if (input.type === "radio") input.checked = input.value === kept[field.dataset.name];
        else input.value = kept[field.dataset.name] || "";
      }
    }
  }
  // A blank in front keeps a spreadsheet from reading a formula; whoever reads the file strips blanks.
  const quote = (text) => `"${/^[=+\-@]/.test(text) ? " " : ""}${text.replaceAll('"', '""')}"`;
  function format() {
    const rows = Object.entries(answers()).map(([name, label]) => [label, name]);
    return [[answer, item], ...rows].map((row) => `${row.map(quote).join(",")}\r\n`).join("");
  }
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  document.querySelector("form").addEventListener("input", keep);
  document.querySelector(".next").addEventListener("click", () => { const field = find(0); if (field) focus(field); });
  document.querySelector(".save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([format()], { type: "text/csv" }));
    link.download = file;
    link.click();
  });
  document.addEventListener("keydown", (event) => {
    const field = document.activeElement && document.activeElement.closest("fieldset");
    if (!field || !/^[1-9]$/.test(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    const input = inputs(field)[Number(event.key) - 1];
    if (!input || input.type !== "radio") return;
    event.preventDefault();
    input.checked = true;
    keep();
    const next = find(fields.indexOf(field) + 1);
    if (next) focus(next);
  });
  restore();
  update();
})();
