// Elements. Every text goes in as a text node, so what a model wrote can never become markup.

function el(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child); // strings become text nodes
  }
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

const number = new Intl.NumberFormat("en");

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function figure(value) {
  return String(Math.round(value * 100) / 100).replace("-", "−");
}

function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return value < 0 ? `−${text}` : `+${text}`;
}

function plural(count, one, many) {
  return `${number.format(count)} ${count === 1 ? one : many || `${one}s`}`;
}

/* "step 3", "steps 3, 5 and 8", "steps 3–7": positions count from 0, people from 1. */
function stepNames(positions) {
  const sorted = [...positions].sort((a, b) => a - b);
  const ranges = [];
  for (const position of sorted) {
    const last = ranges[ranges.length - 1];
    if (last && position === last[1] + 1) last[1] = position;
    else ranges.push([position, position]);
  }
  const named = ranges.flatMap(([from, to]) =>
    to - from >= 2 ? [`${from + 1}–${to + 1}`] : Array.from({ length: to - from + 1 }, (_, i) => `${from + i + 1}`)
  );
  const list = named.length > 1 ? `${named.slice(0, -1).join(", ")} and ${named[named.length - 1]}` : named[0];
  return `${sorted.length === 1 ? "step" : "steps"} ${list}`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/* A long text shows its beginning and the rest on demand. */
function longText(text, limit, attributes) {
  if (text.length <= limit) return el("span", attributes, text);
  const cut = text.lastIndexOf(" ", limit);
  const shown = el("span", {}, text.slice(0, cut > limit / 2 ? cut : limit), "…");
  const button = el("button", { type: "button", class: "plain more", "aria-expanded": "false" }, "more");
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "less" : "more";
    shown.textContent = open ? text : `${text.slice(0, cut > limit / 2 ? cut : limit)}…`;
  });
  return el("span", attributes, shown, " ", button);
}
