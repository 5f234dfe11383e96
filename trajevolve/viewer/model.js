// The document's rows as objects, and what the page says about them.

const source = JSON.parse(byId("document").textContent);

function text(index) {
  return index === null || index === undefined ? null : source.strings[index];
}

function decodeStep(row, position) {
  return {
    position,
    observation: text(row[0]),
    action: text(row[1]),
    response: text(row[2]),
    thought: text(row[3]),
    valid: row[4] === 1,
    information: row[5] === 2,
    kindKnown: row[5] !== 0,
    label: row[6],
    predicted: row[7],
    probability: row[8],
    reward: row[9],
    advantage: row[10],
    stepAdvantage: row[11],
    dependents: row[12],
    truncated: row[13],
    exploring: row[14] === 1,
  };
}

function decode(raw) {
  const steps = raw.steps.map(decodeStep);
  steps.forEach((step, t) => {
    step.answer = t + 1 < steps.length ? steps[t + 1].observation : text(raw.final);
  });
  return {
    ...raw,
    task: text(raw.task),
    steps,
    origin: raw.evolution ? raw.evolution.strategy : "sampled",
    invalid: steps.filter((step) => !step.valid).length,
    redundant: raw.verified ? steps.filter((step) => step.label === 0) : [],
    replays: raw.replays || {},
  };
}

const trajectories = source.trajectories.map(decode);
const byTrajectory = new Map(trajectories.map((each) => [each.id, each]));
const groups = new Map();
const childrenOf = new Map();
for (const each of trajectories) {
  each.group = `${each.iteration} ${each.taskId}`;
  collect(groups, each.group, each);
  if (each.evolution) collect(childrenOf, each.evolution.parent, each);
}

function collect(map, key, value) {
  if (map.has(key)) map.get(key).push(value);
  else map.set(key, [value]);
}

/* What a step counts as, and who says so. */
function verdict(step, trajectory) {
  if (!step.valid && step.label === null && step.predicted === null)
    return { name: "invalid", by: "" };
  const label = step.label !== null ? step.label : step.predicted;
  if (label === null) return { name: step.information ? "information" : "unknown", by: "" };
  const by = step.label !== null && trajectory.verified ? "verification" : "discriminator";
  if (!step.valid) return { name: "invalid", by: "rule" };
  if (step.information && label === 1) return { name: "information", by: "rule" };
  return { name: label === 1 ? "necessary" : "redundant", by };
}

const WORDS = {
  necessary: "necessary",
  redundant: "redundant",
  information: "information",
  invalid: "invalid",
  unknown: "no label",
};

function saidBy(step, trajectory) {
  const { name, by } = verdict(step, trajectory);
  if (name === "invalid")
    return by ? "could not be executed, so it counts as redundant" : "could not be executed";
  if (name === "information") return "only looks; necessary by default, never tried";
  if (by === "verification") return "verified by replay";
  if (by === "discriminator" && step.probability !== null)
    return `discriminator: ${percent(step.probability)} likely to be necessary`;
  return by ? "the discriminator says so" : "nobody has judged it";
}

function strategyName(strategy) {
  return {
    elimination: "redundancy elimination",
    correction: "format correction",
    rollback: "error rollback",
  }[strategy];
}

function haystack(each) {
  if (!each.words) {
    const actions = each.steps.map((step) => step.action || step.response || "");
    each.words = [each.id, each.task, each.type, each.taskId, ...actions].join("\n").toLowerCase();
  }
  return each.words;
}

/* The row of small marks that shows a trajectory at a glance; at most `most` of them. */
function marks(trajectory, most) {
  const { steps } = trajectory;
  const stride = Math.max(1, Math.ceil(steps.length / most));
  const cells = [];
  for (let t = 0; t < steps.length; t += stride) {
    const { name, by } = verdict(steps[t], trajectory);
    cells.push(el("i", { class: `mark ${name}${by === "discriminator" ? " predicted" : ""}` }));
  }
  return el("span", { class: "marks", "aria-hidden": "true" }, cells);
}
