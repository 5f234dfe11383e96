// State, addresses and keys. The address is #<trajectory id>/<step>, steps counted from 1.

const state = { id: null, step: null };

function hashOf(id, step) {
  const path = id.split("/").map(encodeURIComponent).join("/");
  return `#${path}${step === null ? "" : `/${step + 1}`}`;
}

function parseHash() {
  const raw = location.hash.slice(1);
  let path;
  try {
    path = raw.split("/").map(decodeURIComponent).join("/");
  } catch {
    path = raw;
  }
  if (byTrajectory.has(path)) return { id: path, step: null };
  const cut = path.lastIndexOf("/");
  const [id, step] = [path.slice(0, cut), Number(path.slice(cut + 1)) - 1];
  const trajectory = byTrajectory.get(id);
  if (!trajectory) return null;
  return { id, step: Number.isInteger(step) && step >= 0 && step < trajectory.steps.length ? step : null };
}

/* What to look at first: a redundant step that a replay speaks for. */
function telling(trajectory) {
  const step = trajectory.redundant.find(({ position }) => trajectory.replays[position]) || trajectory.redundant[0];
  return step ? step.position : null;
}

function open(id, step, remember) {
  const trajectory = byTrajectory.get(id);
  state.id = id;
  state.step = step === null ? telling(trajectory) : step;
  history[remember ? "pushState" : "replaceState"](null, "", hashOf(id, step));
  document.body.dataset.view = "detail";
  document.title = `${trajectory.task} · ${source.name}`;
  drawDetail(trajectory);
  byId("detail").scrollTop = 0;
  if (document.body.dataset.view === "detail" && narrow.matches) window.scrollTo(0, 0);
  showRow(id);
}

function choose(step, scroll) {
  if (!state.id) return;
  state.step = step;
  history.replaceState(null, "", hashOf(state.id, step));
  const focused = document.activeElement;
  const had = focused && byId("detail").contains(focused) ? focused.className.split(" ")[0] : "";
  drawDetail(byTrajectory.get(state.id));
  const item = step === null ? null : byId(`step-${step}`);
  if (item && had === "head") item.querySelector(".head").focus({ preventScroll: true });
  if (had === "cell") byId("detail").querySelector(`.cell[data-step="${step}"]`)?.focus({ preventScroll: true });
  if (item && scroll) item.scrollIntoView({ block: "nearest" });
}

function route() {
  const wanted = parseHash();
  if (!wanted) return showList();
  open(wanted.id, wanted.step, false);
  if (wanted.step !== null) byId(`step-${wanted.step}`)?.scrollIntoView({ block: "center" });
}

function showList() {
  document.body.dataset.view = "list";
  document.title = `Trajectories · ${source.name}`;
  const first = visible.find((each) => telling(each) !== null) || visible[0];
  if (!narrow.matches && first) open(first.id, null, false);
  else drawRows();
}

function back() {
  history.pushState(null, "", location.pathname + location.search);
  document.body.dataset.view = "list";
  showRow(state.id);
  byId("list").focus();
}

const narrow = matchMedia("(max-width: 859px)");

const KEYS = [
  [["j", "k"], "next, previous trajectory"],
  [["→", "←"], "next, previous step"],
  [["n", "p"], "next, previous redundant step"],
  [["↓", "↑"], "in the list: next, previous trajectory"],
  [["/"], "search"],
  [["t"], "light, dark, or as the system says"],
  [["Esc"], "close this; leave the search; back to the list on a small screen"],
  [["?"], "this help"],
];

function step(by) {
  const count = state.id ? byTrajectory.get(state.id).steps.length : 0;
  if (!count) return;
  const next = state.step === null ? (by > 0 ? 0 : count - 1) : state.step + by;
  choose(Math.min(Math.max(next, 0), count - 1), true);
}

function nextRedundant(by) {
  if (!state.id) return;
  const trajectory = byTrajectory.get(state.id);
  const all = trajectory.steps.filter((each) => verdict(each, trajectory).name === "redundant").map((each) => each.position);
  const here = state.step === null ? -1 : state.step;
  const found = by > 0 ? all.find((t) => t > here) : all.reverse().find((t) => t < here);
  if (found !== undefined) choose(found, true);
}

function trajectory(by) {
  const next = neighbour(by);
  if (next) open(next.id, null, false);
}

const COMMANDS = {
  j: () => trajectory(1),
  k: () => trajectory(-1),
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  n: () => nextRedundant(1),
  p: () => nextRedundant(-1),
  "/": () => (narrow.matches && back(), byId("query").focus()),
  "?": () => byId("keys").showModal(),
  t: () => nextTheme(),
  Escape: () => narrow.matches && document.body.dataset.view === "detail" && back(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const target = event.target;
  if (target.matches("input, select, textarea")) {
    if (event.key === "Escape" && target.id === "query") byId("list").focus();
    return;
  }
  const command = COMMANDS[event.key] || (target.id === "list" && LIST_COMMANDS[event.key]);
  if (!command) return;
  event.preventDefault();
  command();
}

const LIST_COMMANDS = {
  ArrowDown: () => trajectory(1),
  ArrowUp: () => trajectory(-1),
  Home: () => trajectory(-Infinity),
  End: () => trajectory(Infinity),
  PageDown: () => trajectory(8),
  PageUp: () => trajectory(-8),
  Enter: () => byId("detail").focus(),
};

/* Light and dark: as the system says, unless chosen here. */
const THEMES = { auto: "light dark", light: "light", dark: "dark" };
let theme = "auto";

function setTheme(name) {
  theme = name in THEMES ? name : "auto";
  document.documentElement.style.colorScheme = THEMES[theme];
  byId("theme").textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[theme];
  byId("theme").setAttribute("aria-label", `Colours: ${theme}. Change`);
  try {
    localStorage.setItem("trajevolve-theme", theme);
  } catch {
    // Some browsers keep nothing for files; the choice then lasts as long as the page.
  }
}

function nextTheme() {
  const names = Object.keys(THEMES);
  setTheme(names[(names.indexOf(theme) + 1) % names.length]);
}

function savedTheme() {
  try {
    return localStorage.getItem("trajevolve-theme") || "auto";
  } catch {
    return "auto";
  }
}

function buildHelp() {
  byId("keys").append(
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", { class: "keys" }, KEYS.map(([keys, said]) =>
      el("div", {}, el("dt", {}, keys.map((key) => el("kbd", {}, key))), el("dd", {}, said)))),
    el("h2", {}, "What the labels mean"),
    el("p", {}, "A successful run is replayed in the environment with one step left out; later actions that cannot be executed any more are skipped. If it still succeeds, the step is redundant, and so are the steps that fell with it. If it fails, the step is necessary. Failed runs have nothing to verify: there a discriminator, a trained model, says what it expects."),
    el("p", {}, "The replays in this page were executed by the environment when the page was written."),
    el("form", { method: "dialog" }, el("button", { type: "submit" }, "Close")));
}

function begin() {
  setTheme(savedTheme());
  byId("name").textContent = source.name;
  byId("summary").textContent = summary();
  buildFilters();
  buildHelp();
  byId("theme").addEventListener("click", nextTheme);
  byId("help").addEventListener("click", () => byId("keys").showModal());
  byId("back").addEventListener("click", back);
  byId("list").addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  addEventListener("resize", () => requestAnimationFrame(drawRows));
  addEventListener("popstate", route);
  addEventListener("hashchange", route);
  addEventListener("keydown", onKey);
  for (const note of source.notes) byId("notes").append(el("p", {}, note));
  refreshList();
  route();
  // The second frame begins when the first, with the list and a trajectory in it, is on screen.
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("shown")));
}

function summary() {
  const solved = trajectories.filter((each) => each.success).length;
  return `${plural(trajectories.length, "trajectory", "trajectories")}, ${number.format(solved)} solved`;
}

begin();
