// What a trajectory was, before its steps: task, outcome, the strip, its group and relatives.

function trajectoryLink(id, label) {
  return byTrajectory.has(id) ? el("a", { href: hashOf(id, null) }, label || id) : label || id;
}

function section(title, ...content) {
  return el("section", {}, el("h2", {}, title), content);
}

function overview(trajectory) {
  const where = [trajectory.type.replaceAll("_", " "), trajectory.iteration !== null && `iteration ${trajectory.iteration}`,
    trajectory.evolution && strategyName(trajectory.origin)].filter(Boolean);
  return el("header", { class: "overview" },
    el("p", { class: "eyebrow" }, where.join(" · "), where.length > 0 && " · ", el("code", {}, trajectory.id)),
    el("h1", { id: "title" }, trajectory.task),
    el("p", { class: "lead" }, lead(trajectory)),
    facts(trajectory));
}

/* The one sentence to read when there is time for only one. */
function lead(trajectory) {
  const steps = plural(trajectory.steps.length, "step");
  if (!trajectory.success) {
    const invalid = trajectory.invalid ? `, ${trajectory.invalid} of which could not be executed` : "";
    const doubted = trajectory.steps.some((step) => step.predicted !== null);
    return [`Not solved in ${steps}${invalid}.`,
      doubted && " Nothing can be verified without a success, so the discriminator judges these steps."];
  }
  if (!trajectory.verified) return `Solved in ${steps}. Its steps have no verified labels.`;
  const { length } = trajectory.redundant;
  if (!length) return `Solved in ${steps}. None that changes anything can be left out: without it the run fails.`;
  return [`Solved in ${steps}, but `, el("strong", {}, `${length} ${length === 1 ? "was" : "were"} not needed`),
    `: the run also succeeds in ${trajectory.minimal.length}.`];
}

const ENDS = { limit: "step limit", recording: "not solved", environment: "ended by the environment" };

function facts(trajectory) {
  const { success, verified, steps, minimal, reward, shaped, advantage, rho, score } = trajectory;
  const rows = [
    ["Outcome", success ? "✓ solved" : `✕ ${ENDS[trajectory.termination] || trajectory.termination}`],
    ["Score", score !== 0 && score !== 1 ? String(score) : null],
    ["Length", `${steps.length}${verified && minimal.length < steps.length ? ` → ${minimal.length} needed` : ""}`],
    ["Redundancy ρ", verified ? percent(rho) : null],
    ["Reward", figure(reward)],
    ["Shaped reward", shaped ? figure(shaped) : null],
    ["Advantage Aᴱ", shaped || advantage ? signed(advantage) : null],
  ];
  return el("dl", { class: "facts" },
    rows.filter(([, value]) => value !== null).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/* One cell a step: shape and height say what it is, colour repeats it. */
function strip(trajectory, from, to) {
  const replay = state.step === null ? undefined : trajectory.replays[state.step];
  const together = new Set(replay ? [...replay.omitted, ...replay.fallen] : []); // gone with the chosen step
  const cells = trajectory.steps.slice(from, to).map((step) => {
    const { name, by } = verdict(step, trajectory);
    const chosen = step.position === state.step;
    return el("button", {
      type: "button",
      class: `cell ${name}${by === "discriminator" ? " predicted" : ""}${!chosen && together.has(step.position) ? " with" : ""}`,
      "aria-current": chosen ? "step" : null, "data-step": step.position,
      "aria-label": `Step ${step.position + 1}, ${WORDS[name]}: ${step.action || "no action"}`,
      title: `${step.position + 1}. ${step.action || "(no action)"}: ${WORDS[name]}`,
      onclick: () => choose(step.position, true),
    }, el("i", { class: "bar-mark" }), el("span", { class: "cell-number" }, String(step.position + 1)));
  });
  return el("div", { class: "strip", role: "group", "aria-label": "Steps" }, cells);
}

function legend(trajectory) {
  const names = new Set(trajectory.steps.map((step) => {
    const { name, by } = verdict(step, trajectory);
    return by === "discriminator" ? `${name} predicted` : name;
  }));
  const meaning = {
    necessary: "necessary",
    redundant: "redundant",
    "necessary predicted": "necessary, says the discriminator",
    "redundant predicted": "redundant, says the discriminator",
    information: "only looks",
    invalid: "could not be executed",
    unknown: "not judged",
  };
  const replay = state.step === null ? undefined : trajectory.replays[state.step];
  const others = replay ? [...replay.omitted, ...replay.fallen].filter((t) => t !== state.step) : [];
  return el("p", { class: "legend" },
    Object.entries(meaning).filter(([name]) => names.has(name)).map(([name, said]) =>
      el("span", {}, el("i", { class: `mark ${name}` }), " ", said)),
    others.length > 0 && el("span", {}, el("i", { class: "mark with" }), ` goes with step ${state.step + 1}`));
}

function evolvedInto(children) {
  return el("p", { class: "why" }, "Evolved into ",
    children.map((child, index) => [index > 0 && ", ", trajectoryLink(child.id),
      ` (${child.success ? "solved" : "not solved"} in ${plural(child.steps.length, "step")}${child.evolution.accepted ? "" : `, not used: ${child.evolution.reason}`})`]),
    ".");
}

const LARGEST_GROUP = 40; // members listed

/* The other trajectories of the same task and iteration: what the advantage compares with. */
function groupTable(trajectory) {
  const members = groups.get(trajectory.group);
  if (members.length < 2) return null;
  const rows = members.slice(0, LARGEST_GROUP).map((each) => el("tr", { "aria-current": each === trajectory ? "true" : null },
    el("td", {}, trajectoryLink(each.id), each.evolution && !each.evolution.accepted && " (not used)"),
    el("td", {}, marks(each, 40)),
    el("td", {}, each.success ? "✓ solved" : "✕ failed"),
    el("td", { class: "figure" }, String(each.steps.length)),
    el("td", { class: "figure" }, each.verified ? percent(each.rho) : "–"),
    el("td", { class: "figure" }, figure(each.reward)),
    el("td", { class: "figure" }, each.shaped || each.advantage ? signed(each.advantage) : "–")));
  const sampled = trajectory.iteration === null
    ? `${members.length} trajectories of this task.`
    : `${members.length} trajectories of this task in this iteration; the advantage Aᴱ compares them.`;
  const listed = members.length > LARGEST_GROUP ? ` The first ${LARGEST_GROUP}:` : "";
  return section(trajectory.iteration === null ? "The same task" : "Its group",
    el("p", { class: "why" }, sampled, listed),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Trajectory", "Steps", "Outcome", "Length", "ρ", "Reward", "Aᴱ"].map((name, index) =>
        el("th", { scope: "col", class: index > 2 ? "figure" : null }, name)))),
      el("tbody", {}, rows))));
}
