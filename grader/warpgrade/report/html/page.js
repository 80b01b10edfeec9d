
// Keys, as coverage.py's pages have them: j and k go to the next and the last failure or finding, f to the next filter.
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const choose = (all, at) => all[(at + all.length) % all.length];
  if (event.key === "f") {
    const filters = [...document.querySelectorAll("input[name=tests]")];
    const next = choose(filters, filters.findIndex(one => one.checked) + 1);
    if (next) {
      next.checked = true;
      next.focus();
    }
  } else if (event.key === "j" || event.key === "k") {
    const stops = [...document.querySelectorAll("tr.lost, .source .found")].filter(one => one.checkVisibility());
    const at = stops.indexOf(document.activeElement);
    const next = choose(stops, event.key === "j" ? at + 1 : at < 0 ? -1 : at - 1);
    if (next) {
      next.tabIndex = -1;
      next.focus();
      next.scrollIntoView({ block: "center" });
    }
  }
});
