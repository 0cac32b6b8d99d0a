// What every view is made of. All text is set as text: nothing here reads HTML.

const LINE_MAX = 2000;
const TEXT_MAX = 65536;
const SVG = 'http://www.w3.org/2000/svg';

// Characters that a reader can't see, or that turn the text around, are spelt out.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
export const visible = text =>
  String(text ?? '').replace(/\r\n/g, '\n').replace(UNSEEN, c => `\\u{${c.codePointAt(0).toString(16)}}`);

export function h(tag, attributes, ...children) {
  const isSvg = tag === 'svg' || tag === 'rect' || tag === 'line' || tag === 'title-svg';
  const node = isSvg ? document.createElementNS(SVG, tag === 'title-svg' ? 'title' : tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : visible(child));
  }
  return node;
}

// The token stays in this variable, and goes when the tab does.
let token = null;
const credentials = () => token === null ? {} : { authorization: `Bearer ${token}` };

// One form for all readings that wait.
let asking = null;
const askForToken = () => (asking ??= tokenForm().finally(() => {
  asking = null;
}));

function tokenForm() {
  return new Promise(resolve => {
    const field = h('input', { type: 'password', id: 'token', autocomplete: 'off', 'aria-describedby': 'token-hint' });
    const form = h('form', { class: 'card', onsubmit: event => {
      event.preventDefault();
      token = field.value;
      resolve();
    } }, h('label', { for: 'token' }, 'This proxy has a token'), field,
    h('p', { class: 'soft', id: 'token-hint' }, 'The setting `token`. It stays in this tab’s memory.'),
    h('button', { class: 'more' }, 'Go on'));
    document.getElementById('main').replaceChildren(form);
    field.focus();
  });
}

export async function read(path) {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(path, { headers: credentials(), cache: 'no-store' });
    if (answer.status === 401) {
      await askForToken();
      continue;
    }
    // The thread that answers is busy with other pages.
    if (answer.status === 503 && tries < 4) {
      await new Promise(done => setTimeout(done, 250 << tries));
      continue;
    }
    const type = answer.headers.get('content-type') ?? '';
    const body = type.includes('json') ? await answer.json() : await answer.text();
    if (!answer.ok) throw new Error(body?.error?.message ?? `status ${answer.status}`);
    return body;
  }
}

// The data of server-sent events, as they come.
export async function* events(path, signal) {
  const answer = await fetch(path, { headers: credentials(), cache: 'no-store', signal });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const whole = (rest + value).split('\n\n');
    rest = whole.pop();
    for (const event of whole) yield event.replace(/^data: /, '');
  }
}

const chip = (kind, ...text) => h('span', { class: `chip ${kind}` }, ...text);
export { chip };

export const copyable = command => h('button', { class: 'copy', type: 'button', 'aria-label': `Copy the command: ${command}`, onclick: async event => {
  const button = event.currentTarget;
  await navigator.clipboard.writeText(command);
  button.classList.add('done');
} }, command);

// An argument as a shell reads it back.
export const quoted = text => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

// A long text is cut, with a way to see all: the rest is here, or the server has it.
export function long(text, { bytes, whole, render } = {}) {
  const show = render ?? (it => visible(it));
  const lines = text.split('\n').some(line => line.length > LINE_MAX);
  const isCut = text.length > TEXT_MAX || lines;
  if (!isCut && !bytes) return h('pre', {}, show(text));
  const cut = text.slice(0, TEXT_MAX).split('\n').map(line => line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)} …` : line).join('\n');
  const pre = h('pre', {}, show(cut));
  const all = bytes ?? text.length;
  const button = h('button', { class: 'more', type: 'button', onclick: async () => {
    button.disabled = true;
    const rest = bytes && whole ? await whole() : text;
    pre.replaceChildren(...[show(rest)].flat(Infinity));
    button.remove();
  } }, `Show all (${all.toLocaleString('en')} bytes)`);
  return h('div', {}, pre, button);
}

// Pairs of lines, each [kind, left, right] by their positions: ' ' in both, '-' only left, '+' only right.
export function compare(left, right) {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let ends = 0;
  while (ends < left.length - start && ends < right.length - start && left.at(-1 - ends) === right.at(-1 - ends)) ends++;
  const pairs = [];
  for (let at = 0; at < start; at++) pairs.push([' ', at, at]);
  const a = left.slice(start, left.length - ends);
  const b = right.slice(start, right.length - ends);
  if (a.length * b.length > 4e6) {
    // Too much to compare line by line.
    a.forEach((_, at) => pairs.push(['-', start + at, null]));
    b.forEach((_, at) => pairs.push(['+', null, start + at]));
  } else {
    const width = b.length + 1;
    const longest = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([' ', start + i++, start + j++]);
      else if (j >= b.length || (i < a.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) pairs.push(['-', start + i++, null]);
      else pairs.push(['+', null, start + j++]);
    }
  }
  for (let at = 0; at < ends; at++) pairs.push([' ', left.length - ends + at, right.length - ends + at]);
  return pairs;
}

// Lines that were replaced stand beside each other.
function aligned(pairs) {
  const rows = [];
  for (let at = 0; at < pairs.length;) {
    if (pairs[at][0] === ' ') {
      rows.push([pairs[at][1], pairs[at][2], true]);
      at++;
      continue;
    }
    const gone = [];
    const come = [];
    for (; at < pairs.length && pairs[at][0] !== ' '; at++) (pairs[at][0] === '-' ? gone : come).push(pairs[at]);
    for (let row = 0; row < Math.max(gone.length, come.length); row++) rows.push([gone[row]?.[1] ?? null, come[row]?.[2] ?? null, false]);
  }
  return rows;
}

const CONTEXT = 3;

// A text's lines, each as pieces with their colours: runs of so many characters.
function colouredLines(lines, runs) {
  let run = 0;
  let left = runs[0]?.[1] ?? Infinity;
  return lines.map(line => {
    const pieces = [];
    for (let at = 0; at < line.length + 1;) {
      while (left === 0 && run < runs.length) left = runs[++run]?.[1] ?? Infinity;
      const length = Math.min(left, line.length + 1 - at);
      // The line's end belongs to a run as well.
      const text = line.slice(at, at + length);
      if (text) pieces.push(runs[run]?.[0] ? h('span', { class: runs[run][0] }, text) : text);
      at += length;
      left -= length;
    }
    return pieces;
  });
}

// `left` is what is true, `right` what was proposed; `colours` are the runs of both.
export function sideBySide(left, right, heads, colours = []) {
  const [a, b] = [left, right].map(text => (text ?? '').replace(/\n$/, '').split('\n'));
  const [ofA, ofB] = [a, b].map((lines, n) => colours[n] ? colouredLines(lines, colours[n]) : []);
  const rows = aligned(compare(a, b));
  const near = rows.map((_, at) => rows.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(row => !row[2]));
  const side = (lines, coloured, at, kind, word) => {
    if (at === null) return h('div', { class: 'side gap' }, h('span', { class: 'no' }), h('span', { class: 'text' }));
    const line = lines[at];
    const shown = line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)} …` : line;
    return h('div', { class: `side ${kind}`, 'aria-label': kind === 'same' ? null : `${word}: ${shown}`, role: kind === 'same' ? null : 'group' },
      h('span', { class: 'no' }, at + 1), h('span', { class: 'text' }, shown === line && coloured[at]?.length ? coloured[at] : shown || ' '));
  };
  const body = h('div', { class: 'diff' }, h('div', { class: 'heads' }, heads.map(head => h('div', {}, head))));
  const draw = ([i, j, same]) => h('div', { class: 'row' }, side(a, ofA, i, same ? 'same' : 'lost', 'lost line'), side(b, ofB, j, same ? 'same' : 'new', 'new line'));
  for (let at = 0; at < rows.length;) {
    if (near[at] || rows.length < 60) {
      body.append(draw(rows[at++]));
      continue;
    }
    let until = at;
    while (until < rows.length && !near[until]) until++;
    const hidden = rows.slice(at, until);
    const button = h('button', { class: 'more', type: 'button', onclick: () => place.replaceWith(...hidden.map(draw)) }, `${hidden.length} same lines`);
    const place = h('div', { class: 'skip-row' }, button);
    body.append(place);
    at = until;
  }
  // A line that only moved, or is indented otherwise, isn't lost.
  const kept = new Map();
  for (const line of b) kept.set(line.trim(), (kept.get(line.trim()) ?? 0) + 1);
  const lost = a.filter(line => {
    const left = kept.get(line.trim()) ?? 0;
    kept.set(line.trim(), left - 1);
    return left <= 0 && line.trim();
  }).length;
  return { body, lost };
}

export const ago = moment => {
  const seconds = Math.max(0, (Date.now() - Date.parse(moment)) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return moment.slice(0, 10);
};

export const count = (number, one, many) => `${number.toLocaleString('en')} ${number === 1 ? one : many ?? `${one}s`}`;
