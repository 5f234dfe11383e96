// The list: filters with their counts, sorting, and only those rows in the page that can be seen.

const ROW = 66; // px, as in style.css
const filters = { query: "", iteration: "", type: "", outcome: "", origin: "", steps: "", sort: "recorded" };

const FACETS = {
  iteration: { title: "All iterations", of: (each) => (each.iteration === null ? [] : [String(each.iteration)]) },
  type: { title: "All task types", of: (each) => (each.type ? [each.type] : []) },
  outcome: { title: "Any outcome", of: (each) => [each.success ? "solved" : "failed"] },
  origin: { title: "Sampled or evolved", of: (each) => [each.origin] },
  steps: {
    title: "Any steps",
    of: (each) => [
      each.redundant.some((step) => step.valid) && "with redundant steps",
      each.invalid > 0 && "with invalid steps",
      each.verified && "with verified labels",
      childrenOf.has(each.id) && "with evolved children",
    ].filter(Boolean),
  },
};

const SORTS = {
  recorded: ["as recorded", null],
  redundancy: ["most redundant", (a, b) => b.rho - a.rho],
  longest: ["longest", (a, b) => b.steps.length - a.steps.length],
  shortest: ["shortest", (a, b) => a.steps.length - b.steps.length],
  best: ["highest reward", (a, b) => b.reward - a.reward],
  worst: ["lowest reward", (a, b) => a.reward - b.reward],
};

let visible = trajectories;

function passes(each, except) {
  for (const name of Object.keys(FACETS))
    if (name !== except && filters[name] && !FACETS[name].of(each).includes(filters[name])) return false;
  return !filters.query || filters.query.toLowerCase().split(/\s+/).every((word) => haystack(each).includes(word));
}

function buildFilters() {
  const selects = byId("selects");
  for (const [name, facet] of Object.entries(FACETS)) {
    const values = new Set(trajectories.flatMap(facet.of));
    facet.values = [...values].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    if (facet.values.length < 2 && name !== "steps") continue;
    facet.select = el("select", { id: `filter-${name}`, "aria-label": facet.title, onchange: onFilter });
    facet.options = ["", ...facet.values].map((value) => el("option", { value }));
    facet.select.append(...facet.options);
    selects.append(facet.select);
  }
  const options = Object.entries(SORTS).map(([value, [title]]) => el("option", { value }, `Sort: ${title}`));
  selects.append(el("select", { id: "sort", "aria-label": "Sort", onchange: onFilter }, options));
  byId("query").addEventListener("input", onFilter);
  byId("clear").addEventListener("click", clearFilters);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

function onFilter() {
  filters.query = byId("query").value.trim();
  filters.sort = byId("sort").value;
  for (const [name, facet] of Object.entries(FACETS)) if (facet.select) filters[name] = facet.select.value;
  refreshList();
}

function clearFilters() {
  byId("query").value = "";
  for (const facet of Object.values(FACETS)) if (facet.select) facet.select.value = "";
  onFilter();
}

function refreshList() {
  visible = trajectories.filter((each) => passes(each));
  const compare = SORTS[filters.sort][1];
  if (compare) visible.sort(compare);
  countOptions();
  byId("count").textContent = `${number.format(visible.length)} of ${plural(trajectories.length, "trajectory", "trajectories")}`;
  byId("clear").hidden = visible.length === trajectories.length;
  byId("list").scrollTop = 0;
  byId("rows").style.height = `${visible.length * ROW}px`;
  drawRows();
}

/* Each option says how many would be left, the other filters standing. */
function countOptions() {
  for (const [name, facet] of Object.entries(FACETS)) {
    if (!facet.select) continue;
    const counts = new Map();
    for (const each of trajectories) {
      if (!passes(each, name)) continue;
      for (const value of facet.of(each)) counts.set(value, (counts.get(value) || 0) + 1);
    }
    for (const option of facet.options) {
      const said = name === "iteration" ? `iteration ${option.value}` : option.value.replaceAll("_", " ");
      option.textContent = option.value
        ? `${said} (${number.format(counts.get(option.value) || 0)})`
        : facet.title;
    }
  }
}

function drawRows() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 6);
  const last = Math.min(visible.length, first + Math.ceil(list.clientHeight / ROW) + 12);
  const rows = [];
  for (let index = first; index < last; index += 1) rows.push(listRow(visible[index], index));
  byId("rows").replaceChildren(...rows);
  if (!visible.length) byId("rows").replaceChildren(el("p", { class: "empty" }, "Nothing passes these filters."));
  const selected = visible.findIndex((each) => each.id === state.id);
  if (selected >= first && selected < last) list.setAttribute("aria-activedescendant", `row-${selected}`);
  else list.removeAttribute("aria-activedescendant");
}

function listRow(each, index) {
  const redundancy = each.verified && each.rho ? ` · ${percent(each.rho)} redundant` : "";
  const origin = each.evolution ? ` · ${each.origin}` : "";
  const outcome = each.success ? "solved" : "failed";
  const row = el("div", {
    class: `row ${outcome}`, role: "option", id: `row-${index}`,
    "aria-selected": String(each.id === state.id), "aria-setsize": visible.length, "aria-posinset": index + 1,
    onclick: () => open(each.id, null, true),
  },
    el("span", { class: "outcome", title: outcome }, each.success ? "✓" : "✕", el("span", { class: "unseen" }, ` ${outcome}. `)),
    el("span", { class: "row-task" }, each.task),
    marks(each, 60),
    el("span", { class: "row-facts" }, `${plural(each.steps.length, "step")}${redundancy}${origin}`));
  row.style.transform = `translateY(${index * ROW}px)`;
  return row;
}

function showRow(id) {
  const index = visible.findIndex((each) => each.id === id);
  const list = byId("list");
  if (index >= 0) {
    const top = index * ROW;
    const seen = top >= list.scrollTop && top + ROW <= list.scrollTop + list.clientHeight;
    const near = Math.abs(top - list.scrollTop - list.clientHeight / 2) < list.clientHeight / 2 + 2 * ROW;
    if (!seen) list.scrollTop = near ? list.scrollTop + (top < list.scrollTop ? -ROW : ROW) : top - list.clientHeight / 3;
  }
  drawRows();
}

/* Move `by` places in the list from the open trajectory. */
function neighbour(by) {
  const index = visible.findIndex((each) => each.id === state.id);
  const next = index < 0 ? (by > 0 ? 0 : visible.length - 1) : index + by;
  return visible[Math.min(Math.max(next, 0), visible.length - 1)];
}
