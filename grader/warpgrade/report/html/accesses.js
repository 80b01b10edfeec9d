
const launches = JSON.parse(document.getElementById("recorded").textContent);
const number = value => value.toFixed(1).replace(/\.0$/, "");
const group = pairs => pairs.reduce((all, [key, value]) => all.set(key, [...all.get(key) || [], value]), new Map());
const sorted = values => [...new Set(values)].sort((a, b) => a - b);
const count = (many, what) => `${many.toLocaleString("en-US")} ${what}${many === 1 ? "" : "s"}`;
const shorten = (words, most) => words.length <= most ? words : `${words.slice(0, most - 1)}…`;

function element(name, attributes, words = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== "") made.setAttribute(key, typeof value === "number" ? number(value) : value);
  made.textContent = words;
  return made;
}
const text = (x, y, words, style, anchor = "start") =>
  element("text", { x, y, "text-anchor": anchor, class: style }, words);
const box = (x, y, width, height, style) => element("rect", { x, y, width: Math.max(width, 0.5), height, class: style });

// As access_pictures.py draws them.
function lanesOf(site, access) {
  const active = [...Array(32).keys()].filter(lane => access[0] / 2 ** lane & 1), places = [];
  for (let at = 3; at < access.length; at += 3)
    for (let one = 0; one < access[at + 2]; ++one) places.push(site.begin + access[at] + one * access[at + 1]);
  return active.map((lane, at) => [lane, places[at]]);
}

function sectors(site, access, lanes) {
  const cells = group(lanes.map(([lane, place]) => [place, lane]));
  const moved = sorted([...cells.keys()].flatMap(place =>
    [...Array(site.bytes).keys()].map(byte => Math.floor((place + byte) / 32))));
  const rows = sorted(moved.map(sector => Math.floor(sector / 4)));
  const high = rows.length <= 8 ? 16 : 10, size = site.bytes > 8 ? 4 : site.bytes, parts = [];
  rows.forEach((row, at) => {
    const top = at * high, first = row * 128;
    const index = Math.max(0, Math.ceil((first - site.begin) / size));
    parts.push(text(0, top + high - 2, shorten(`${shorten(site.name, 8)}[${index}]`, 17), "small"));
    const whole = [0, 1, 2, 3], sector = (each, style) => box(80 + each * 80, top, 80, high - 1, style);
    parts.push(...whole.filter(each => moved.includes(row * 4 + each)).map(each => sector(each, "sector")));
    for (const place of sorted(cells.keys())) {
      if (Math.floor(place / 128) !== row) continue;
      const x = 80 + (place - first) * 2.5, width = site.bytes * 2.5, mine = cells.get(place);
      const fill = `hsl(${mine[0] * 10} 65% 65%)`;
      parts.push(element("rect", { x, y: top, width, height: high - 1, fill, class: "cell" }));
      const told = mine.length === 1 ? String(mine[0]) : `${mine.length}×`;
      const style = told.length < 3 ? "lane" : "lane many";
      if (width >= 10) parts.push(text(x + width / 2, top + (high - 1) / 2 + 2.5, told, style, "middle"));
    }
    parts.push(...whole.map(each => sector(each, "line")));
  });
  const verb = { load: "fetched", store: "written", atomic: "updated" }[site.kind];
  const [all, used] = [access[1] * 32, cells.size * site.bytes].map(bytes => bytes.toLocaleString("en-US"));
  return [parts, rows.length * high, `${count(access[1], "sector")} ${verb}: ${all} bytes, ${used} of them used`];
}

function banks(site, access, lanes) {
  const each = Math.max(1, Math.floor(site.bytes / 4)), together = each > 2 ? 16 : 32;
  const words = Array(32).fill(0), bad = new Set(), marks = [];
  let broadcast = 0;
  for (let start = 0; start < 32; start += together) {
    const needed = lanes.filter(([lane]) => start <= lane && lane < start + together).flatMap(([lane, place]) =>
      [...Array(each).keys()].map(word => [lane, Math.floor(place / 4) + word]));
    const readers = group(needed.map(([lane, word]) => [word, lane]));
    const ideal = Math.max(1, Math.ceil(needed.length / 32)), here = Array(32).fill(0);
    for (const word of readers.keys()) ++here[word % 32], ++words[word % 32];
    for (const mine of readers.values()) broadcast += mine.length > 1;
    for (const [lane, word] of needed) {
      const bank = word % 32, x = 34 + bank * 11, y = 12 + lane * 7;
      if (here[bank] > ideal) bad.add(bank);
      if (here[bank] > ideal) marks.push(box(x + 1.5, y + 0.5, 8, 5, "conflict"));
      else marks.push(element("circle", { cx: x + 5.5, cy: y + 3, r: 2.5,
        class: readers.get(word).length > 1 ? "broadcast" : "alone" }));
    }
  }
  const parts = [text(0, 9, "bank", "small")], bottom = 236;
  for (const bank of [0, 8, 16, 24, 31])
    parts.push(text(34 + (bank + 0.5) * 11, 9, String(bank), "small", "middle"));
  for (const lane of [0, 8, 16, 24]) {
    parts.push(text(0, 19 + lane * 7, `lane ${lane}`, "small"));
    for (const bank of [0, 8, 16, 24]) parts.push(box(34 + bank * 11, 12 + lane * 7, 88, 56, "line"));
  }
  parts.push(...marks, text(0, bottom + 9, "words", "small"));
  const bars = words.map(many => Math.min(many * 1.5, 48));
  bars.forEach((bar, bank) => {
    if (bar) parts.push(box(35 + bank * 11, bottom + 2, 9, bar, bad.has(bank) ? "conflict" : "bar"));
  });
  let told = `${count(access[1], "wavefront")}, `;
  told += access[2] ? `${access[2].toLocaleString("en-US")} of them for bank conflicts` : "no bank conflict";
  if (broadcast) told += `; ${count(broadcast, "word")} for several lanes at once`;
  return [parts, bottom + 4 + Math.max(12, ...bars), told];
}

for (const viewer of document.querySelectorAll("[data-viewer]")) {
  const find = selector => viewer.querySelector(selector), picture = find("svg"), play = find("[data-play]");
  const [launch, line, warp] = ["launch", "line", "warp"].map(name => find(`[data-choice=${name}]`));
  const site = () => launches[launch.value].sites[line.value], list = () => site().warps[warp.value].list;
  const costliest = () => list().reduce((most, one, place) => one[1] > list()[most][1] ? place : most, 0);
  let at = costliest(), timer = 0;
  const fill = (select, titles) => select.replaceChildren(...titles.map((title, value) => new Option(title, value)));
  function show() {
    const chosen = site(), access = list()[at], lanes = lanesOf(chosen, access);
    const [parts, height, told] = (chosen.space === "shared" ? banks : sectors)(chosen, access, lanes);
    const words = lanes.length === 32 ? told :
      `${told}; ${lanes.length} of 32 lanes take${lanes.length === 1 ? "s" : ""} part`;
    picture.replaceChildren(...parts);
    picture.setAttribute("viewBox", `0 0 400 ${height}`);
    picture.setAttribute("aria-label", words);
    find("figcaption").textContent = launches[launch.value].title;
    find(".title").textContent = chosen.title;
    find("pre").textContent = chosen.source;
    find(".words").textContent = words;
    find(".where").textContent = `${chosen.warps[warp.value].title}, access ${at + 1} of ${list().length}`;
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "play";
    find(".words").setAttribute("aria-live", "polite");
  }
  function step(by) {
    at = (at + by + list().length) % list().length;
    show();
  }
  viewer.addEventListener("change", event => {
    stop();
    const titles = values => values.map(value => value.title);
    if (event.target === launch) fill(line, titles(launches[launch.value].sites));
    if (event.target !== warp) fill(warp, titles(site().warps));
    at = costliest();
    show();
  });
  viewer.addEventListener("keydown", event => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.target.tagName === "SELECT") return;
    event.preventDefault();
    stop();
    step(by);
  });
  for (const button of viewer.querySelectorAll("[data-step]"))
    button.addEventListener("click", () => { stop(); step(Number(button.dataset.step)); });
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "stop";
    find(".words").setAttribute("aria-live", "off");  // nobody could follow
    timer = setInterval(() => step(1), 700);
  });
  find(".controls").hidden = false;
}
