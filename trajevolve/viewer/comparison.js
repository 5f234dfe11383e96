// Two runs beside each other: a trajectory and its replay without a step, or parent and child.

/* rows: [{left, right, state, note}], left and right {number, action, answer} or null. */
function comparison(titles, rows, ends, label) {
  const table = el("div", { class: "compare", role: "table", "aria-label": label });
  table.append(
    el("div", { class: "pair heads", role: "row" },
      titles.map((title) => el("div", { role: "columnheader" }, title)))
  );
  for (const part of folded(rows)) table.append(part.fold ? foldedRows(part) : comparisonRow(part));
  table.append(
    el("div", { class: "pair ends", role: "row" }, ends.map((end) => el("div", { role: "cell" }, end)))
  );
  return table;
}

const FOLD = 3; // this many rows with nothing to compare become one line

/* Equal beginnings, and stretches that are not in the replay at all, say so in one line. */
function folded(rows) {
  const parts = [];
  let from = 0;
  while (from < rows.length) {
    const { state, note } = rows[from];
    let to = from + 1;
    while (to < rows.length && rows[to].state === state && rows[to].note === note) to += 1;
    const foldable = state === "gone" || (state === "same" && from === 0);
    if (foldable && to - from >= FOLD && rows[from].left) parts.push({ fold: rows.slice(from, to) });
    else parts.push(...rows.slice(from, to));
    from = to;
  }
  return parts;
}

function foldedRows({ fold }) {
  const said = fold[0].state === "same" ? "the same in both" : fold[0].note;
  const button = el("button", { type: "button", class: "plain" },
    `${capital(stepNames(fold.map((row) => row.left.number - 1)))}: ${said}. Show`);
  const line = el("div", { class: "folded", role: "row" }, el("div", { role: "cell" }, button));
  button.addEventListener("click", () => line.replaceWith(...fold.map(comparisonRow)));
  return line;
}

function comparisonRow(row) {
  return el("div", { class: `pair ${row.state}`, role: "row" },
    side(row.left, row.leftNote, row.state, "left"), side(row.right, row.note, row.state, "right"));
}

function side(half, note, state, where) {
  const cell = el("div", { class: where, role: "cell" });
  if (half) {
    cell.append(
      el("span", { class: "number" }, String(half.number)),
      el("span", { class: "action" }, half.action === null ? "(no action)" : half.action)
    );
    const repeated = where === "right" && state === "same";
    if (half.answer && !repeated) cell.append(longText(half.answer, 120, { class: "answer" }));
  }
  if (note) cell.append(el("span", { class: "note" }, note));
  return cell;
}

function halfOf(step, answer) {
  return { number: step.position + 1, action: step.action, answer: answer === undefined ? step.answer : answer };
}

/* The rows of a replay without some steps, by position in the trajectory. */
function replayRows(trajectory, replay) {
  const omitted = new Set(replay.omitted);
  const fallen = new Set(replay.fallen);
  const unreached = new Set(replay.unreached);
  const survivors = new Set(trajectory.minimal);
  return trajectory.steps.slice(0, trajectory.reached).map((step) => {
    const t = step.position;
    const left = halfOf(step);
    const told = text(replay.answers[t]);
    if (omitted.has(t)) return { left, state: "omitted", note: "left out" };
    if (!step.valid) return { left, state: "invalid", note: "not executable, in no replay" };
    if (replay.basis === "survivors" && !survivors.has(t))
      return { left, state: "gone", note: "left out before, as redundant" };
    if (fallen.has(t))
      return { left, right: halfOf(step, told), state: "fallen", note: "falls with it: cannot be executed" };
    if (unreached.has(t)) return { left, state: "gone", note: "not reached: the replay is over" };
    if (told === null) return { left, right: halfOf(step, ""), state: "same", note: "same answer" };
    return { left, right: halfOf(step, told), state: "differs", note: null };
  });
}

/* Why the step is or is not needed, with the replay that shows it. */
function evidence(step, trajectory) {
  const replay = trajectory.replays[step.position];
  if (!replay) return el("p", { class: "why" }, whyNone(step, trajectory));
  const one = stepNames(replay.omitted);
  const survivors = replay.basis === "survivors";
  const rows = replayRows(trajectory, replay);
  const played = rows.filter((row) => row.state === "same" || row.state === "differs").length;
  const title = replay.success
    ? `Without ${one} the run still succeeds`
    : `Without ${one} the run fails`;
  return el("section", { class: `evidence ${replay.success ? "succeeds" : "fails"}`, "aria-label": title },
    el("h3", {}, el("span", { class: "sign", "aria-hidden": "true" }, replay.success ? "✓" : "✕"), title,
      survivors ? ", once its substitute is gone" : ""),
    !replay.confirms && el("p", { class: "warning", role: "note" },
      `The recorded label says otherwise: the environment does not bear it out today.`),
    el("p", { class: "why" }, story(step, trajectory, replay)),
    comparison(
      ["As it happened", survivors ? `The needed steps, without ${one}` : `Replayed without ${one}`],
      rows,
      [`${trajectory.success ? "✓ solved" : "✕ failed"} in ${plural(trajectory.steps.length, "step")}`,
        `${replay.success ? "✓ solved" : "✕ not solved"} after ${plural(played, "step")}`],
      title
    )
  );
}

function story(step, trajectory, replay) {
  const said = [`Executed again in ${source.env} with ${stepNames(replay.omitted)} left out.`];
  if (replay.basis === "survivors")
    said.push("In the whole run another step does the same, so this replay has only the steps that were found necessary.");
  else if (replay.omitted.length > 1)
    said.push(`Step ${step.position + 1} cannot go alone, only together with the others.`);
  if (replay.fallen.length)
    said.push(`${capital(stepNames(replay.fallen))} could not be executed any more and ${replay.fallen.length === 1 ? "falls" : "fall"} with it.`);
  if (replay.partsAt !== null) said.push(`The runs part at step ${replay.partsAt + 1}.`);
  else if (replay.success) said.push("Every later step got the very same answer.");
  else said.push("Every later step got the same answer, but the task stays unsolved.");
  return said.join(" ");
}

function whyNone(step, trajectory) {
  if (trajectory.problem) return `No replay to show: ${trajectory.problem}.`;
  if (!trajectory.success)
    return `A failed run has no replay to compare with: there is no success to lose.${step.predicted === null ? "" : " Its labels are the discriminator's."}`;
  if (!trajectory.verified) return "This success was not verified: replayed as it is, it did not succeed, or nobody tried.";
  if (trajectory.reached !== undefined && step.position >= trajectory.reached)
    return "The task was solved before this step, so it was never needed.";
  if (!step.valid) return "The environment could not execute this step. It changed nothing and takes part in no replay.";
  if (step.information) return "This step only looks. Verification keeps such steps and does not try to leave them out.";
  if (!source.env) return "No replay to show: the environment is not known or not there. Write the page again with --env.";
  return "No replay was asked for. Write the page again with --evidence all.";
}

/* A child beside its parent: what was cut, corrected or decided again. */
function pedigree(child) {
  const { evolution } = child;
  const parent = byTrajectory.get(evolution.parent);
  const used = evolution.accepted ? "It takes part in the update." : `It is not used: ${evolution.reason}.`;
  if (!parent)
    return el("p", { class: "why" }, `Made by ${strategyName(evolution.strategy)} from ${evolution.parent}, which is not in this page. ${used}`);
  const rows = evolution.strategy === "elimination" ? cutRows(parent, child) : regrownRows(parent, child);
  return [
    el("p", { class: "why" }, `${capital(strategyName(evolution.strategy))} of `, trajectoryLink(parent.id),
      `: ${pedigreeStory(rows, evolution)} ${used}`),
    comparison(["Parent", "Evolved"], rows, [parent, child].map((each) =>
      `${each.success ? "✓ solved" : "✕ not solved"} in ${plural(each.steps.length, "step")}, reward ${figure(each.reward)}`), "Parent and evolved trajectory"),
  ];
}

function pedigreeStory(rows, evolution) {
  const count = (state) => rows.filter((row) => row.state === state).length;
  if (evolution.strategy === "elimination")
    return `${plural(count("omitted"), "step")} cut, the other ${count("same") + count("differs")} executed again.`;
  const corrected = count("corrected");
  const parts = [plural(evolution.kept - corrected, "step") + " kept"];
  if (corrected) parts.push(`${plural(corrected, "invalid action")} replaced by the nearest possible one`);
  const grown = count("regrown");
  if (grown) parts.push(`${plural(grown, "step")} decided again by the policy`);
  return `${parts.join(", ")}.`;
}

function cutRows(parent, child) {
  let next = 0;
  const kept = new Set(parent.minimal);
  return parent.steps.map((step) => {
    if (!kept.has(step.position) || next >= child.steps.length)
      return { left: halfOf(step), state: "omitted", note: "cut" };
    const mine = child.steps[next++];
    const state = mine.answer === step.answer ? "same" : "differs";
    return { left: halfOf(step), right: halfOf(mine), state, note: state === "same" ? "kept, same answer" : "kept" };
  });
}

function regrownRows(parent, child) {
  const { kept } = child.evolution;
  const length = Math.max(parent.steps.length, child.steps.length);
  return Array.from({ length }, (_, t) => {
    const [was, is] = [parent.steps[t], child.steps[t]];
    const left = was && halfOf(was);
    if (!is) return { left, state: "gone", note: "the evolved one is over" };
    const right = halfOf(is);
    if (t >= kept) return { left, right, state: "regrown", note: "decided again" };
    if (!was || was.action !== is.action)
      return { left, leftNote: "not executable", right, state: "corrected", note: "corrected" };
    const same = was.answer === is.answer;
    return { left, right, state: same ? "same" : "differs", note: same ? "kept, same answer" : "kept" };
  });
}
