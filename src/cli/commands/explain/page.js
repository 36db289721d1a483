"use strict";
// The page of `rustomize explain -o html`. All text reaches the page as text, never as markup.
(function () {
  // The script stands before the data.
  document.addEventListener("DOMContentLoaded", start);

  const ROW = 48; // The height of a row of the list, as in page.css.
  const CHUNK = 200; // So many fields are made at a time.
  const FEW = 12; // So many kustomizations have a card each, whatever their steps are.
  const LIKE = 3; // From so many on, kustomizations with the same steps have one card.
  const [NARROWEST, WIDEST, GAP] = [210, 316, 40]; // The widths of cards, and what is between them.
  const [HAS_ORIGIN, HAS_VALUE, IS_NEAR, HAS_PLACE, HAS_FORMER] = [1, 2, 4, 1, 2]; // As in page.rs.
  const HEAD = 9; // The fields of a resource begin here in its row.
  const LAYER_ROLES = ["root", "base", "component"];
  const PLUGIN_ROLE = 5; // The first role of a plugin.
  const READ_ROLE = 0;

  let data; // As page.rs writes it.
  let search; // The texts and paths in lower case, made for the first search.
  let labels; // Of all resources.
  let visible = []; // The resources that the list shows.
  let query = "";
  let steps = null; // The steps whose resources the list shows; null for all.
  let current = -1; // The resource that is shown; -1 for the pipeline.
  let zoom = -1; // The kustomization at which the pipeline begins; -1 for that of the build.
  let below; // The kustomizations that each one names.
  let stepsIn; // The steps of each kustomization.

  const $ = (id) => document.getElementById(id);

  /** An element with a class and children, which are elements or texts. */
  function make(tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  }

  /** A text that may break behind some of its characters. */
  function breaking(text, behind) {
    return text.split(behind).flatMap((part) => [part, document.createElement("wbr")]);
  }

  const text = (i) => (i < 0 ? null : data.texts[i]);
  const count = (n, word) => n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");

  function place(i) {
    if (i < 0) return "";
    const [file, line, column] = data.places[i];
    return data.texts[file] + ":" + line + ":" + column;
  }

  /** A place whose line is never cut: only the name of the file gives way. */
  function placed(i, isOneLine) {
    if (i < 0) return "";
    const [file, line, column] = data.places[i];
    const parts = isOneLine ? [data.texts[file]] : breaking(data.texts[file], /(?<=\/)/);
    const name = make("span", "file", make("bdi", "", ...parts));
    return make("span", "place", name, make("span", "at", ":" + line + ":" + column));
  }

  function time(micros) {
    if (micros < 0) return "";
    if (micros < 1000) return micros + " µs";
    return micros < 1e6 ? (micros / 1000).toFixed(micros < 1e4 ? 1 : 0) + " ms" : (micros / 1e6).toFixed(2) + " s";
  }

  function start() {
    data = JSON.parse($("data").textContent);
    structure();
    data.resources = data.resources.map(whole);
    labels = data.resources.map((row) => {
      const [, group, kind, namespace, name] = row.slice(0, 5).map(text);
      return { title: name, sub: [kind + (group ? "." + group : ""), namespace].filter(Boolean).join(" in "),
        id: [kind + (group ? "." + group : ""), namespace, name].filter(Boolean).join("/") };
    });
    const gone = data.resources.filter((row) => row[7] >= 0).length;
    document.title = data.root + " · rustomize explain";
    $("root").textContent = data.root;
    $("summary").textContent = count(data.resources.length - gone, "resource") + ", " + count(data.steps.length, "step");
    $("search").addEventListener("input", () => { query = $("search").value; filter(); });
    $("filter").querySelector("button").addEventListener("click", () => { steps = null; filter(); });
    $("home").addEventListener("click", (event) => { event.preventDefault(); zoom = -1; go(-1); });
    $("summary").addEventListener("click", () => zoomTo(-1));
    $("list").addEventListener("scroll", draw, { passive: true });
    $("list").addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) go(Number(row.dataset.resource));
    });
    window.addEventListener("resize", () => { draw(); if (current < 0) fit(); });
    window.addEventListener("popstate", read);
    document.addEventListener("keydown", key);
    filter();
    read();
  }

  /** A resource with its fields and writes: its shape with its texts and places, as page.rs says. */
  function whole(row) {
    if (row.length < HEAD) return row;
    const [shape, full] = [data.shapes[row[HEAD - 1]], row.slice(0, HEAD - 1)];
    let [s, v] = [1, HEAD];
    full.push(shape[0]);
    const entry = (step) => data.steps[step][1];
    for (let n = shape[0]; n > 0; n--) {
      const [path, marks, writes] = [shape[s], shape[s + 1], shape[s + 2]];
      let [last, where] = [-1, -1];
      s += 3;
      if (marks & HAS_ORIGIN) {
        last = row[v++];
        if (marks & IS_NEAR) {
          const [file, line] = data.places[row[5]];
          where = data.places.push([file, line + shape[s], shape[s + 1]]) - 1;
          s += 2;
        } else where = row[v++];
      }
      const at = full.length + 1;
      full.push(path, -1, last, where, writes);
      for (let w = 0; w < writes; w++, s += 2) {
        const place = shape[s + 1] & HAS_PLACE ? row[v++] : entry(shape[s]);
        const before = shape[s + 1] & HAS_FORMER ? row[v++] : last;
        last = row[v++];
        full.push(shape[s], place, before, last);
      }
      full[at] = marks & HAS_VALUE ? row[v++] : last;
    }
    for (; s < shape.length; s += 3) {
      const place = shape[s + 2] & HAS_PLACE ? row[v++] : entry(shape[s + 1]);
      full.push(shape[s], shape[s + 1], place, shape[s + 2] & HAS_FORMER ? row[v++] : -1, -1);
    }
    return full;
  }

  // The state in the address: #r=Kind/name&f=/spec/replicas

  function read() {
    const state = new URLSearchParams(location.hash.slice(1));
    const at = state.has("r") ? labels.findIndex((label) => label.id === state.get("r")) : -1;
    const wanted = state.has("z") ? Number(state.get("z")) : -1;
    zoom = wanted > 0 && wanted < data.layers.length ? wanted : -1;
    if (state.has("q")) { query = $("search").value = state.get("q"); filter(); }
    show(at, state.get("f"));
  }

  /** Shows a resource, or the pipeline. */
  function go(at, replaces) {
    const hash = at < 0 ? "#" : "#" + new URLSearchParams({ r: labels[at].id });
    history[replaces ? "replaceState" : "pushState"](null, "", hash);
    show(at, null);
  }

  function show(at, field) {
    current = at;
    document.body.className = at < 0 && !location.hash.startsWith("#p") ? "lists" : "shows";
    reveal(at);
    draw();
    $("detail").replaceChildren(...(at < 0 ? pipeline() : resource(at, field)));
    $("detail").scrollTop = 0;
    if (at < 0) fit();
    const open = field && document.querySelector(".field.open");
    if (open) open.scrollIntoView({ block: "center" });
  }

  /** Scrolls the list to a resource that is not in sight, as after a visit by its address. */
  function reveal(at) {
    const [list, top] = [$("list"), visible.indexOf(at) * ROW];
    const isInSight = top >= list.scrollTop && top + ROW <= list.scrollTop + list.clientHeight;
    if (top >= 0 && !isInSight) list.scrollTop = top - list.clientHeight / 2;
  }

  // The list of resources: only the rows that are seen are made.

  /** Finds the resources that the search and the chosen step ask for. */
  function filter() {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).map(matcher);
    const [first, others] = [[], []];
    data.resources.forEach((row, at) => {
      if (steps && !stepsOf(row).some((step) => steps.has(step))) return;
      const label = (labels[at].id + " " + labels[at].sub).toLowerCase();
      if (words.every((word) => label.includes(word.text))) first.push(at);
      else if (words.every((word) => label.includes(word.text) || word.isIn(row))) others.push(at);
    });
    visible = first.concat(others);
    const hits = others.length ? ", " + others.length.toLocaleString("en") + " by a field" : "";
    $("count").textContent = count(visible.length, "resource") + hits;
    $("filter").hidden = !steps;
    if (steps) {
      const step = data.steps[[...steps][0]];
      $("filter").querySelector("span").textContent = "Touched by " + text(step[0]);
    }
    $("list").scrollTop = 0;
    draw();
  }

  /** What a word of a search is found in: texts and paths by their numbers. */
  function matcher(word) {
    if (!search) {
      const plain = (path) => path.slice(1).replaceAll("/", ".").toLowerCase();
      search = { texts: data.texts.map((one) => one.toLowerCase()), paths: data.paths.map(plain) };
    }
    const dotted = word.replaceAll("/", ".");
    const texts = search.texts.map((one) => one.includes(word));
    const paths = search.paths.map((one) => one.includes(dotted));
    const isPlace = (i) => i >= 0 && texts[data.places[i][0]];
    const isText = (i) => i >= 0 && texts[i];
    const isWrite = (row, i) => isText(data.steps[row[i]][0]) || isPlace(row[i + 1]) || isText(row[i + 2]) || isText(row[i + 3]);
    const isIn = (row) => isPlace(row[5]) || walk(row,
      (i) => paths[row[i]] || isText(row[i + 1]) || isText(row[i + 2]) || isPlace(row[i + 3]),
      (i) => isWrite(row, i),
      (i) => paths[row[i]] || isWrite(row, i + 1));
    return { text: word, isIn };
  }

  /** Walks over a row: is told of each field, each write, and each removal, until one says true. */
  function walk(row, onField, onWrite, onRemoval) {
    if (row.length < HEAD) return false;
    let at = HEAD;
    for (let n = row[HEAD - 1]; n > 0; n--) {
      if (onField(at)) return true;
      const writes = row[at + 4];
      at += 5;
      for (let w = 0; w < writes; w++, at += 4) if (onWrite(at)) return true;
    }
    for (; at < row.length; at += 5) if (onRemoval(at)) return true;
    return false;
  }

  function stepsOf(row) {
    const found = [row[6], row[7]];
    walk(row, () => false, (i) => { found.push(row[i]); }, (i) => { found.push(row[i + 1]); });
    return found;
  }

  function draw() {
    const list = $("list");
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 6);
    const to = Math.min(visible.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 6);
    const rows = [];
    for (let i = from; i < to; i++) {
      const at = visible[i];
      const row = make("div", "row" + (data.resources[at][7] >= 0 ? " gone" : ""),
        make("b", "", labels[at].title), make("small", "", labels[at].sub));
      row.style.top = i * ROW + "px";
      row.dataset.resource = at;
      row.id = "r" + at;
      row.title = labels[at].id;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(at === current));
      rows.push(row);
    }
    $("rows").style.height = visible.length * ROW + "px";
    $("list").setAttribute("aria-activedescendant", current < 0 ? "" : "r" + current);
    $("rows").replaceChildren(...rows);
  }

  /** Moves to another resource of the list. */
  function move(by) {
    if (!visible.length) return;
    const at = visible.indexOf(current);
    const next = at < 0 ? (by > 0 ? 0 : visible.length - 1) : Math.min(visible.length - 1, Math.max(0, at + by));
    const list = $("list");
    if (next * ROW < list.scrollTop) list.scrollTop = next * ROW;
    if ((next + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (next + 1) * ROW - list.clientHeight;
    go(visible[next], true);
  }

  // A resource and the history of its fields.

  function by(step, at) {
    const [name, entry, role] = data.steps[step];
    const where = placed(at >= 0 ? at : entry);
    return make("span", "", make("span", "step", text(name)), role >= PLUGIN_ROLE ? " " : "",
      role >= PLUGIN_ROLE ? make("span", "badge plugin", "plugin") : "", where ? " " : "", where);
  }

  function back() {
    const button = make("button", "back", "‹ Resources");
    button.type = "button";
    button.addEventListener("click", () => go(-1));
    return button;
  }

  function resource(at, wanted) {
    const row = data.resources[at];
    const head = make("h2", "", labels[at].title, " ", make("small", "", labels[at].sub));
    const about = make("p", "about");
    if (row[6] >= 0) about.append("From ", placed(row[5]), ", brought by ", by(row[6], -1));
    if (row[7] >= 0) about.append(". Removed by ", by(row[7], -1));
    const fields = [];
    const values = new Map();
    walk(row, (i) => {
      const [path, value, origin, where, n] = row.slice(i, i + 5);
      const writes = Array.from({ length: n }, (_, w) => row.slice(i + 5 + w * 4, i + 9 + w * 4));
      fields.push({ path: data.paths[path], value: text(value), origin, where, writes });
      values.set(data.paths[path], text(value));
    }, () => false, (i) => {
      fields.push({ path: data.paths[row[i]], value: null, origin: -1, where: -1, writes: [row.slice(i + 1, i + 5)] });
    });
    if (!fields.length) return [back(), head, about];
    const box = make("div", "fields");
    let made = 0;
    const more = () => {
      for (const end = Math.min(fields.length, made + CHUNK); made < end; made++) box.append(field(fields[made], values, row));
    };
    const index = wanted === null ? -1 : fields.findIndex((one) => one.path === wanted);
    do more(); while (made <= index);
    if (index >= 0) toggle(box.children[index]);
    const end = make("p", "note");
    const watch = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) more();
      if (made >= fields.length) watch.disconnect();
    }, { root: $("detail"), rootMargin: "600px" });
    if (made < fields.length) watch.observe(end);
    return [back(), head, about, box, end];
  }

  /** A path with dots; items of lists by their name. */
  function dotted(path, values) {
    let shown = "";
    let pointer = "";
    for (const part of path.split("/").slice(1)) {
      pointer += "/" + part;
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const name = values.get(pointer + "/name");
      if (/^\d+$/.test(part)) shown += name === undefined ? "[" + part + "]" : "[name=" + name + "]";
      else shown += (shown ? "." : "") + key;
    }
    return shown;
  }

  function field(one, values, row) {
    const changes = one.writes.length;
    const badge = one.value === null ? make("span", "badge gone", "removed")
      : one.origin < 0 ? make("span", "badge added", "added" + (changes > 1 ? ", " + count(changes - 1, "change") : ""))
      : changes ? make("span", "badge", count(changes, "change")) : make("span", "badge plain", placed(one.where, true));
    const value = one.value === null ? "" : one.value === "" ? "\"\"" : one.value.slice(0, 300);
    const line = make("button", "line", make("span", "path", ...breaking(dotted(one.path, values), /(?<=[./\]])/)), make("span", "value", value), badge);
    line.type = "button";
    line.setAttribute("aria-expanded", "false");
    const item = make("div", "field", line);
    item.dataset.path = one.path;
    line.addEventListener("click", () => toggle(item));
    item.history = () => {
      const list = make("ol", "history");
      const show = (at, name) => at < 0 ? make("pre", "none", "none") : make("pre", name, text(at) === "" ? "\"\"" : text(at));
      if (one.origin >= 0) {
        const where = one.where >= 0 ? placed(one.where) : by(row[6], -1);
        list.append(make("li", "", "from ", where, show(one.origin, "new")));
      }
      for (const [step, at, before, after] of one.writes) {
        list.append(make("li", "", by(step, at), show(before, "old"), show(after, "new")));
      }
      return list;
    };
    return item;
  }

  /** Opens or closes the history of a field. */
  function toggle(item) {
    const opens = item.classList.toggle("open");
    item.firstChild.setAttribute("aria-expanded", String(opens));
    if (opens) item.append(item.history());
    else item.lastChild.remove();
    if (current >= 0) {
      const state = { r: labels[current].id };
      if (opens) state.f = item.dataset.path;
      history.replaceState(null, "", "#" + new URLSearchParams(state));
    }
  }

  // The pipeline: a card for each kustomization, or for several that are alike; a column for each
  // depth.

  /** The kustomizations that each one names, and the steps of each. */
  function structure() {
    below = data.layers.map(() => []);
    stepsIn = data.layers.map(() => []);
    data.layers.forEach(([, , above], i) => { if (above >= 0) below[above].push(i); });
    data.steps.forEach((step, i) => stepsIn[step[3]].push(i));
  }

  /** The kustomizations that lead to one, that of the build first. */
  function way(to) {
    const found = [];
    for (let i = data.layers[to][2]; i >= 0; i = data.layers[i][2]) found.unshift(i);
    return found;
  }

  function countBelow(i) {
    return below[i].reduce((sum, one) => sum + countBelow(one), 1);
  }

  /** The cards: the way to the kustomization at which the pipeline begins, and all below it. */
  function cards() {
    const top = zoom < 0 ? 0 : zoom;
    const all = [];
    const draws = countBelow(top) <= FEW;
    const signs = (i) => data.layers[i][1] + " " + [...new Set(stepsIn[i].map((at) => data.steps[at][0]))].join(" ");
    const add = (members, above, depth) => {
      const card = all.push({ members, above, depth }) - 1;
      const kids = members.flatMap((i) => below[i]);
      let alike = Map.groupBy(kids, draws ? (i) => i : signs);
      if (!draws && alike.size > FEW) alike = Map.groupBy(kids, (i) => data.layers[i][1]);
      for (const group of alike.values()) {
        const isFolded = group.length >= LIKE && !draws;
        for (const of of isFolded ? [group] : group.map((i) => [i])) add(of, card, depth + 1);
      }
    };
    way(top).forEach((i, depth) => all.push({ members: [i], above: depth - 1, depth }));
    add([top], all.length - 1, all.length);
    return all;
  }

  function pipeline() {
    if (!data.layers.length) return [make("h2", "", "Pipeline")];
    const all = cards();
    const deepest = all.reduce((most, one) => Math.max(most, one.depth), 0);
    const columns = Array.from({ length: deepest + 1 }, () => make("div", "column"));
    const most = data.steps.reduce((a, step) => Math.max(a, step[4]), 0);
    all.forEach((one, i) => columns[deepest - one.depth].append(card(one, i, most)));
    const graph = make("div", "graph", document.createElementNS("http://www.w3.org/2000/svg", "svg"), ...columns);
    graph.id = "graph";
    const total = data.steps.reduce((sum, step) => sum + Math.max(0, step[4]), 0);
    const plugins = data.steps.filter((step) => step[2] >= PLUGIN_ROLE).length;
    const about = [count(data.layers.length, "kustomization"), count(data.steps.length, "step"),
      plugins ? count(plugins, "plugin call") : "", total ? time(total) + " in steps" : ""].filter(Boolean).join(" · ");
    const folded = all.some((one) => one.members.length > 1);
    return [make("h2", "", "Pipeline"), make("p", "about", about), ...crumbs(), graph,
      make("p", "note", "A step shows the resources that it has made, changed or removed. Choose one to list them." +
        (folded ? " Kustomizations with the same steps have one card: list them to see one of them alone." : ""))];
  }

  /** The way to the kustomization at which the pipeline begins. */
  function crumbs() {
    if (zoom < 0) return [];
    const link = (i, name) => {
      const button = make("button", "", name);
      button.type = "button";
      button.addEventListener("click", () => zoomTo(i));
      return button;
    };
    const steps = way(zoom).flatMap((i) => [link(i, text(data.layers[i][0])), " › "]);
    return [make("p", "crumbs", ...steps, make("b", "", text(data.layers[zoom][0])))];
  }

  /** Begins the pipeline at a kustomization; the first one is that of the build. */
  function zoomTo(i) {
    history.pushState(null, "", i > 0 ? "#" + new URLSearchParams({ pipeline: "", z: i }) : "#pipeline");
    zoom = i > 0 ? i : -1;
    show(-1, null);
  }

  /** The steps of kustomizations; those of one name that follow each other are one. */
  function groups(members) {
    const all = new Map();
    for (const layer of members) {
      const seen = new Map();
      let last = null;
      for (const i of stepsIn[layer]) {
        const [name, , role] = data.steps[i];
        // The same step may come back later, between other steps.
        if (!last || last.step !== name || last.role !== role) {
          const turn = (seen.get(name) || 0) + 1;
          seen.set(name, turn);
          const key = name + " " + role + " " + turn;
          if (!all.has(key)) all.set(key, { step: name, name: text(name), role, members: [] });
          last = all.get(key);
        }
        last.members.push(i);
      }
    }
    return [...all.values()];
  }

  /** The path that files have in common, with signs in place of what differs. */
  function pattern(files) {
    const paths = files.map((file) => file.split("/"));
    const [first] = paths;
    if (paths.every((path) => path.length === first.length)) {
      return first.map((part, i) => (paths.every((path) => path[i] === part) ? part : "*")).join("/");
    }
    let same = 0;
    while (paths.every((path) => same < path.length && path[same] === first[same])) same++;
    return [...first.slice(0, same), "…", first[first.length - 1]].join("/");
  }

  function card(of, at, most) {
    const [layer] = of.members;
    const role = LAYER_ROLES[data.layers[layer][1]];
    const list = make("ul", "steps");
    for (const group of groups(of.members)) {
      const sum = (column) => group.members.reduce((all, at) => all + Math.max(0, data.steps[at][column]), 0);
      const [micros, touched] = [sum(4), sum(5)];
      const isTimed = group.role !== READ_ROLE && group.members.some((at) => data.steps[at][4] >= 0);
      const times = group.members.length > 1 ? " ×\u00a0" + group.members.length.toLocaleString("en") : "";
      const name = make("span", "name", ...breaking(group.name, /(?<=[a-z0-9])(?=[A-Z])/), times, group.role >= PLUGIN_ROLE ? " " : "",
        group.role >= PLUGIN_ROLE ? make("span", "badge plugin", "plugin") : "");
      const detail = [touched ? touched.toLocaleString("en") : "", isTimed ? time(micros) : ""].filter(Boolean).join(" · ");
      const isHot = micros > 1000 && micros * 2 > most;
      const button = make("button", (touched ? "" : "idle") + (isHot ? " hot" : ""), name, make("span", "time", detail));
      button.type = "button";
      button.title = group.name + " " + place(data.steps[group.members[0]][1]);
      button.addEventListener("click", () => { steps = new Set(group.members); filter(); document.body.className = "lists"; draw(); });
      list.append(make("li", "", button));
    }
    const files = [...new Set(of.members.map((i) => text(data.layers[i][0])))];
    const times = of.members.length > 1 ? " × " + of.members.length.toLocaleString("en") : "";
    const name = make("span", "file", ...breaking(pattern(files), /(?<=\/)/));
    const isTop = layer === (zoom < 0 ? 0 : zoom);
    const title = of.members.length > 1 || isTop ? name : make("button", "", name);
    if (title !== name) {
      title.type = "button";
      title.title = "Show this kustomization alone";
      title.addEventListener("click", () => zoomTo(layer));
    }
    const one = make("div", "layer " + role, make("h3", "", make("small", "", role + times), title), list);
    if (of.members.length > 1) one.append(folded(of.members));
    one.dataset.above = of.above;
    one.id = "card" + at;
    return one;
  }

  /** A button that lists the kustomizations of a card. */
  function folded(members) {
    const button = make("button", "fold", "List " + members.length.toLocaleString("en"));
    const box = make("div", "folded", button);
    const names = make("ul", "members");
    let made = 0;
    const more = make("button", "more", "More");
    const add = () => {
      for (const end = Math.min(members.length, made + CHUNK); made < end; made++) {
        const i = members[made];
        // A base with several uses is told apart by what names it.
        const above = data.layers[i][2] >= 0 ? " in " + text(data.layers[data.layers[i][2]][0]) : "";
        const member = make("button", "", ...breaking(text(data.layers[i][0]), /(?<=\/)/));
        member.type = "button";
        member.title = text(data.layers[i][0]) + above;
        member.addEventListener("click", () => zoomTo(i));
        names.append(make("li", "", member));
      }
      more.hidden = made >= members.length;
    };
    button.type = more.type = "button";
    button.setAttribute("aria-expanded", "false");
    more.addEventListener("click", add);
    button.addEventListener("click", () => {
      const opens = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(opens));
      if (opens && !made) add();
      if (opens) box.append(names, more);
      else { names.remove(); more.remove(); }
      edges();
    });
    return box;
  }

  /** Draws a line from each card to the one that asked for it. */
  function edges() {
    const graph = $("graph");
    if (!graph) return;
    const svg = graph.firstChild;
    const box = graph.getBoundingClientRect();
    svg.replaceChildren();
    for (const one of graph.querySelectorAll(".layer")) {
      if (Number(one.dataset.above) < 0) continue;
      const from = one.getBoundingClientRect();
      const to = $("card" + one.dataset.above).getBoundingClientRect();
      const [x1, y1] = [from.right - box.left, from.top - box.top + 24];
      const [x2, y2] = [to.left - box.left, to.top - box.top + 24];
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", `M${x1} ${y1}C${x1 + 28} ${y1} ${x2 - 28} ${y2} ${x2} ${y2}`);
      svg.append(path);
    }
  }

  /** Puts the columns side by side if each has room, or else one below the other. */
  function fit() {
    const graph = $("graph");
    if (!graph) return;
    const [columns, style] = [graph.querySelectorAll(".column").length, getComputedStyle($("detail"))];
    const room = $("detail").clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const width = (room - (columns - 1) * GAP) / columns;
    graph.classList.toggle("stacked", width < NARROWEST);
    graph.style.setProperty("--card", Math.min(WIDEST, Math.floor(width)) + "px");
    edges();
  }

  // The keyboard.

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === $("search");
    const line = event.target.closest(".field > .line");
    const handle = {
      "/": () => { if (isTyping) return false; $("search").focus(); $("search").select(); },
      ArrowDown: () => line ? step(line, 1) : move(1),
      ArrowUp: () => line ? step(line, -1) : move(-1),
      ArrowRight: () => isTyping ? false : line ? open(line, true) : enter(),
      ArrowLeft: () => isTyping ? false : line && line.getAttribute("aria-expanded") === "true" ? open(line, false) : $("list").focus(),
      Enter: () => line || event.target.closest("button, a") ? false : enter(),
      Escape: () => leave(isTyping),
    }[event.key];
    if (handle && handle() !== false) event.preventDefault();
  }

  /** Moves to the next field. */
  function step(line, by) {
    const item = by > 0 ? line.parentElement.nextElementSibling : line.parentElement.previousElementSibling;
    if (item) { item.firstChild.focus(); item.scrollIntoView({ block: "nearest" }); }
  }

  function open(line, opens) {
    if ((line.getAttribute("aria-expanded") === "true") !== opens) toggle(line.parentElement);
  }

  /** Moves to the fields of the resource that is shown. */
  function enter() {
    if (current < 0 && visible.length) go(visible[0]);
    const line = document.querySelector(".field > .line");
    if (line) line.focus();
  }

  function leave(isTyping) {
    if (isTyping && query) { query = $("search").value = ""; filter(); }
    else if (isTyping) $("search").blur();
    else if (document.activeElement.closest(".field")) $("list").focus();
    else if (steps) { steps = null; filter(); }
    else if (current < 0 && zoom >= 0) zoomTo(way(zoom).at(-1));
    else go(-1);
  }
})();
