// The open trajectory: its steps, and the chosen one with thought, answer and evidence.

const PAGE = 200; // steps drawn at a time

function drawDetail(trajectory) {
  const detail = byId("detail");
  if (!trajectory) {
    detail.replaceChildren(el("p", { class: "empty" }, "Choose a trajectory."));
    return;
  }
  const from = Math.floor((state.step || 0) / PAGE) * PAGE;
  const to = Math.min(from + PAGE, trajectory.steps.length);
  const children = childrenOf.get(trajectory.id) || [];
  detail.replaceChildren(append(el("article", { "aria-labelledby": "title" }), [
    overview(trajectory),
    strip(trajectory, from, to),
    legend(trajectory),
    children.length > 0 && evolvedInto(children),
    trajectory.evolution && section("How it was made", pedigree(trajectory)),
    section("Step by step", pager(trajectory, from, to), stepList(trajectory, from, to), pager(trajectory, from, to)),
    groupTable(trajectory),
  ]));
}

function pager(trajectory, from, to) {
  const total = trajectory.steps.length;
  if (total <= PAGE) return null;
  const turn = (step, label) => el("button", { type: "button", class: "plain", disabled: step < 0 || step >= total,
    onclick: () => choose(step, true) }, label);
  return el("p", { class: "pager" }, turn(from - PAGE, "← earlier"),
    ` Steps ${number.format(from + 1)} to ${number.format(to)} of ${number.format(total)} `, turn(from + PAGE, "later →"));
}

function stepList(trajectory, from, to) {
  const first = from === 0 ? start(trajectory) : null;
  const items = trajectory.steps.slice(from, to).map((step) => stepItem(step, trajectory));
  return el("ol", { class: "steps", start: from + 1 }, first, items);
}

function start(trajectory) {
  const seen = trajectory.steps.length ? trajectory.steps[0].observation : text(trajectory.final);
  if (!seen) return null;
  return el("li", { class: "step start" }, el("span", { class: "gutter" }, el("span", { class: "number" }, "0")), el("div", { class: "body" }, longText(seen, 220, { class: "answer" })));
}

function stepItem(step, trajectory) {
  const { name, by } = verdict(step, trajectory);
  const chosen = step.position === state.step;
  const kind = `${name}${by === "discriminator" ? " predicted" : ""}`;
  return el("li", { class: `step ${kind}${chosen ? " chosen" : ""}`, id: `step-${step.position}` },
    el("span", { class: "gutter", "aria-hidden": "true" }, el("span", { class: "number" }, String(step.position + 1)),
      el("i", { class: `mark ${kind}` })),
    el("div", { class: "body" },
      step.thought && el("p", { class: "thought" }, longText(step.thought, 240)),
      el("button", {
        type: "button", class: "head", "aria-expanded": String(chosen),
        onclick: () => choose(chosen ? null : step.position, false),
      },
        el("span", { class: "action" }, step.action === null ? "(no action could be read)" : step.action),
        el("span", { class: `chip ${name}` }, WORDS[name], by === "discriminator" && el("small", {}, " predicted"))),
      step.answer && el("p", { class: "said" }, longText(step.answer, 220, { class: "answer" })),
      chosen && stepDetail(step, trajectory)));
}

/* The step's advantage as the sum it is: of the episode, and λ times the step credit. */
function advantageText(step, trajectory) {
  return `${signed(step.advantage)} = Aᴱ ${signed(trajectory.advantage)} + λ · step credit ${signed(step.stepAdvantage)}`;
}

function stepDetail(step, trajectory) {
  const rows = [
    ["Label", `${WORDS[verdict(step, trajectory).name]}: ${saidBy(step, trajectory)}`],
    ["Discriminator", step.label !== null && step.predicted !== null && step.probability !== null
      ? `${step.predicted ? "necessary" : "redundant"}, p = ${step.probability.toFixed(2)}` : null],
    ["Kind", step.kindKnown ? (step.information ? "information" : "environment-changing") : null],
    ["Exploring", step.exploring ? "looked where nobody had looked, before the task's object was seen" : null],
    ["Valid", step.valid ? null : "no: nothing was executed"],
    ["Prompt", step.truncated ? `cut: ${number.format(step.truncated)} tokens did not fit` : null],
    ["Reward", step.reward ? figure(step.reward) : null],
    ["Advantage A", step.advantage || step.stepAdvantage ? advantageText(step, trajectory) : null],
  ];
  return el("div", { class: "step-detail" },
    evidence(step, trajectory),
    el("dl", { class: "facts small" }, rows.filter(([, value]) => value !== null).map(([name, value]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    step.response !== null && el("details", { class: "response", open: step.action === null },
      el("summary", {}, "The model's whole answer"), el("pre", {}, step.response)));
}
