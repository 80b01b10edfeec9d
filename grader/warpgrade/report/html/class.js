
for (const heading of document.querySelectorAll("th[data-sort]")) {
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  heading.append(button);
  let down = false;
  button.addEventListener("click", () => {
    const body = heading.closest("table").tBodies[0], at = heading.cellIndex, text = heading.dataset.sort === "text";
    const value = row => text ? row.cells[at].textContent : parseFloat(row.cells[at].textContent);
    const compare = (a, b) => text ? a.localeCompare(b) : (isNaN(a) ? -1 : a) - (isNaN(b) ? -1 : b);
    const rows = [...body.rows].sort((a, b) => compare(value(a), value(b)));
    body.append(...(down ? rows.reverse() : rows));
    document.querySelectorAll("th[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    down = !down;
  });
}
