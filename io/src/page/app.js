// The views. Each is a function of the address's hash and of what the server says; nothing is kept, nothing is sent.

import { ago, chip, copyable, count, events, h, long, quoted, read, sideBySide, visible } from './parts.js';

const main = document.getElementById('main');
const status = document.getElementById('status');
const TURNS = 200;
const NEWEST = 20;
const PAGE = 100;
const ROW = 26;

const hour = 3600e3;
const link = (to, ...text) => h('a', { href: `#/${to}` }, ...text);
const entityLink = name => h('a', { href: `#/entity/${encodeURIComponent(name)}`, class: 'mono' }, name);
const words = turn => turn.words || (turn.episode_id ? '(no words)' : 'on the command line');
const steps = turn => turn.steps.length > 1 ? `turn ${turn.steps.at(-1).episode_id} to ${turn.episode_id} · ${turn.steps.length} steps` : `turn ${turn.episode_id}`;
const stateOf = (turn, state) => turn.artifact_states.filter(it => it.state === state);
// What became of a file as a whole follows from its definitions, if any is named.
const definitions = list => {
  const files = new Set(list.filter(it => it.entity?.includes('::')).map(it => it.entity.split('::')[0]));
  return list.filter(it => !files.has(it.entity));
};
const refusedOf = turn => definitions(stateOf(turn, 'PROPOSED'));
const trueOf = turn => definitions(stateOf(turn, 'AUTHORITATIVE'));
const lostOf = it => it.missing_lines ? it.missing_lines.lines.length + it.missing_lines.more : 0;

// A turn is a prompt of the user's with all its steps, newest first: an agent goes on from what was asked. What was refused counts once,
// and not at all if the change was taken in a later step.
const turnOf = steps => {
  const seen = new Set();
  const states = steps.flatMap(step => step.artifact_states.map(it => ({ ...it, step: step.episode_id })).reverse()).filter(it => {
    const is = state => seen.has(`${state} ${it.entity}`);
    const isOld = it.state === 'PROPOSED' && (is('AUTHORITATIVE') || is('PROPOSED'));
    seen.add(`${it.state} ${it.entity}`);
    return !isOld;
  });
  const all = name => steps.flatMap(step => step[name]);
  return { ...steps[0], steps, artifact_states: states.reverse(), entities: all('entities'), hydrated: all('hydrated'), withheld: all('withheld'), cache_break: steps.find(step => step.cache_break)?.cache_break };
};
const turnsOf = all => {
  const turns = new Map();
  for (const step of all) {
    const key = `${step.session_id} ${step.turn ?? step.episode_id}`;
    turns.set(key, [...turns.get(key) ?? [], step]);
  }
  return [...turns.values()].map(turnOf);
};
const shortReason = code => code.toLowerCase().replaceAll('_', ' ');

// The last turns, newest first. While the page is open only the newest are asked for.
let known = [];
async function turns() {
  const { episodes } = await read(`/recent?limit=${known.length ? NEWEST : TURNS}&missing_lines=true`);
  const numbers = new Set(episodes.map(turn => turn.episode_id));
  const older = known.filter(turn => !numbers.has(turn.episode_id));
  const isGap = known.length > 0 && older.length === known.length;
  if (isGap) {
    known = [];
    return turns();
  }
  known = [...episodes, ...older].slice(0, TURNS);
  return known;
}

// What one turn of the list says; the list is read anew only for a turn that isn't in it.
const listed = async id => {
  const of = all => all.find(turn => String(turn.episode_id) === id);
  return of(known) ?? of(await turns());
};

// ---- Now

async function showNow() {
  const [all, over, health] = await Promise.all([turns(), read('/overview'), read('/health')]);
  const prompts = all.filter(turn => turn.episode_id);
  const lately = all.filter(turn => Date.now() - Date.parse(turn.at) < hour);
  const byModel = of => turnsOf(lately.filter(turn => turn.episode_id)).flatMap(of).filter(it => it.by !== 'user');
  const [taken, refused] = [byModel(trueOf), byModel(refusedOf)];
  const disk = new Map(over.stale.map(it => [it.entity, it.disk]));
  const held = refused.filter(it => disk.get(it.entity) === 'refused');
  const sentence = prompts.length === 0 ? 'Nothing has happened yet.'
    : taken.length + refused.length === 0 ? 'The model changed no code in the last hour.'
      : `The model changed ${count(taken.length + refused.length, 'definition')} in the last hour: ${was(taken)} taken, ${was(refused)} refused${held.length === 0 ? '' : refused.length === 1 ? ', and your file holds it' : `, and your files hold ${held.length === 1 ? 'one' : held.length} of them`}.`;
  const findings = [];
  if (over.safe_mode) findings.push(finding('bad', 'Safe mode: ', over.safe_mode));
  if (over.unverified) findings.push(finding('bad', 'Nothing vouches for this page: ', over.unverified));
  for (const it of refused.slice(0, 12)) {
    const lost = lostOf(it);
    findings.push(finding('bad', entityLink(it.entity), lost ? ` lost ${count(lost, 'line')}` : ` was refused (${shortReason(it.reason)})`,
      disk.get(it.entity) === 'refused' ? h('strong', {}, ', and your file holds it') : '', '. ',
      link(`turn/${it.step}`, `See it next to the truth (turn ${it.step})`)));
  }
  const stale = definitions(over.stale);
  const told = new Set(refused.map(it => it.entity));
  const holding = stale.filter(it => it.disk === 'refused');
  for (const it of holding.filter(it => !told.has(it.entity)).slice(0, 12)) {
    findings.push(finding('bad', entityLink(it.entity), ' was refused earlier, ', h('strong', {}, 'and your file holds that change'), '.'));
  }
  const others = stale.filter(it => it.disk !== 'refused');
  for (const it of others.slice(0, 12)) {
    findings.push(finding('warn', entityLink(it.entity), ' is STALE: your file holds something that nobody told the proxy of.'));
  }
  for (const turn of lately.filter(turn => turn.cache_break).slice(0, 3)) {
    findings.push(finding('warn', 'The cache broke at ', link(`sent/${turn.episode_id}`, `turn ${turn.episode_id}`), `: ${turn.cache_break.by === 'tslp' ? 'tslp' : 'the client'} changed the prompt, and some ${count(turn.cache_break.tokens, 'token')} were read again.`));
  }
  const last = prompts[0];
  const facts = [
    ['proxy', [health.status === 'ok' ? 'running' : 'in trouble', h('span', { class: 'soft note' }, MODES[health.mode] ?? '')], health.status === 'ok' ? '' : 'bad'],
    ['model server', over.upstream ?? 'the built-in demo', 'small'],
    ['last prompt', last?.price ? fullness(last) : '–', ''],
    ['cost of the last hour', cost(lately), ''],
    ['refused in the last hour', refused.length, refused.length ? 'bad' : ''],
    ['refused code in your files', holding.length, holding.length ? 'bad' : 'good'],
    ['changed by others', others.length, others.length ? 'bad' : 'good'],
  ];
  return [h('h2', {}, sentence),
    prompts.length === 0 ? welcome() : null,
    findings.length ? h('section', { 'aria-label': 'Findings' }, findings)
      : prompts.length ? finding('good', 'Nothing needs you: no code was lost, and your files hold what is true.') : null,
    h('h3', {}, 'State'),
    h('dl', { class: 'facts' }, facts.map(([name, value, kind]) => h('div', {}, h('dt', {}, name), h('dd', { class: kind }, value)))),
    prompts.length ? [h('h3', {}, 'The last prompts'), chart(prompts.slice(0, 60).reverse())] : null];
}

const was = list => list.length === 0 ? 'none was' : list.length === 1 ? '1 was' : `${list.length} were`;

const cost = list => {
  const [all, anew] = [tokensOf, anewOf].map(of => list.reduce((sum, turn) => sum + of(turn), 0));
  const breaks = list.filter(turn => turn.cache_break).length;
  return [count(all, 'token'), h('span', { class: 'soft note' }, `${anew.toLocaleString('en')} of them read anew; ${breaks ? `the cache broke ${count(breaks, 'time')}` : 'the cache held'}`)];
};

const MODES = {
  BOOT: 'no tool was needed yet', ATTEST: 'the sandbox for tools is being tested', READY: 'tools can run', NO_AI_PROVIDER: 'the model server can’t be reached',
  SAFE_MODE: 'no tools run', OP_PRESERVE: 'after a breach, or with a damaged ledger: nothing is done',
};

// How full the model's window was, as far as the server says how much its models read at once.
const fullness = turn => {
  const [tokens, window] = [tokensOf(turn), turn.window_tokens];
  if (!window) return [count(tokens, 'token'), h('span', { class: 'soft note' }, 'the server doesn’t say how much its model reads at once')];
  const part = Math.round(tokens / window * 100);
  return [`${part} % of the window`, h('meter', { min: 0, max: window, value: Math.min(tokens, window), high: window * 0.8, optimum: 0, 'aria-label': 'The window of the model' }),
    h('span', { class: 'soft note' }, `${tokens.toLocaleString('en')} of ${count(window, 'token')}${turn.model ? ` of ${turn.model}` : ''}`)];
};

const finding = (kind, ...text) => h('div', { class: `card finding ${kind}` }, h('p', {}, ...text));

const welcome = () => h('div', { class: 'empty' },
  h('p', {}, 'Point your client at this address in place of its model server, and ask something about your code:'),
  copyable(`OPENAI_BASE_URL=${location.origin}/v1`), copyable('tslp run claude'),
  h('p', {}, 'Code that you paste with its path becomes true; edits that would lose some of it are refused, and you see both here.'));

const tokensOf = ({ price }) => price?.tokens ?? 0;
const anewOf = ({ price }) => price?.tokens_anew ?? 0;

// What no earlier prompt of the conversation had: all that a perfect cache would have had read.
const newTokens = list => {
  const before = new Map();
  return list.map(turn => {
    const [of, tokens] = [`${turn.session_id} ${turn.model}`, tokensOf(turn)];
    const fresh = Math.max(0, tokens - (before.get(of) ?? 0));
    before.set(of, tokens);
    return fresh;
  });
};

function chart(list) {
  const width = 1000;
  const step = width / Math.max(20, list.length);
  const fresh = newTokens(list);
  const most = Math.max(1, ...list.map(anewOf), ...fresh);
  const top = Math.max(4, ...list.map(turn => trueOf(turn).length + refusedOf(turn).length + turn.withheld.length));
  const bars = list.flatMap((turn, at) => {
    const x = at * step + step * 0.15;
    const bar = (name, y, height, across, title) => h('rect', { class: name, x, y, width: across, height }, h('title-svg', {}, title));
    const good = trueOf(turn).length / top * 40;
    const bad = refusedOf(turn).length / top * 40;
    const kept = turn.withheld.length / top * 40;
    const anew = anewOf(turn) / most * 36;
    const isNew = Math.min(fresh[at], anewOf(turn)) / most * 36;
    const what = `turn ${turn.episode_id}: ${trueOf(turn).length} became true, ${refusedOf(turn).length} refused, ${turn.withheld.length} withheld, ${anewOf(turn)} tokens read anew, ${fresh[at]} of them new`;
    return [good && bar('true', 46 - good, good, step * 0.7, what), bad && bar('refused', 46 - good - bad, bad, step * 0.7, what),
      kept && bar('withheld', 46 - good - bad - kept, kept, step * 0.7, what), bar('anew', 54, anew, step * 0.7, what), isNew && bar('new', 54, isNew, step * 0.7, what)];
  });
  const label = `${count(list.length, 'prompt')}: ${list.reduce((sum, turn) => sum + trueOf(turn).length, 0)} became true, ${list.reduce((sum, turn) => sum + refusedOf(turn).length, 0)} refused`;
  return h('div', { class: 'card' }, h('svg', { class: 'chart', viewBox: `0 0 ${width} 96`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    h('line', { class: 'axis', x1: 0, x2: width, y1: 50, y2: 50 }), bars),
    h('p', { class: 'legend', 'aria-hidden': 'true' }, h('span', {}, 'became true'), h('span', { class: 'refused' }, 'refused'), h('span', { class: 'withheld' }, 'withheld'), h('span', { class: 'new' }, 'new tokens'), h('span', { class: 'anew' }, 'read again')));
}

// ---- Turns

let filter = '';

function passes(turn, text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean).every(word => {
    if (word === 'refused') return refusedOf(turn).length > 0;
    if (word === 'true') return trueOf(turn).length > 0;
    if (word === 'cache') return Boolean(turn.cache_break);
    if (word === 'withheld') return turn.withheld.length > 0;
    if (word === 'today') return turn.at.slice(0, 10) === new Date().toISOString().slice(0, 10);
    const [, key, value] = word.match(/^(turn|file|client|model|reason|session):(.*)$/) ?? [];
    if (key === 'file') return turn.entities.some(name => name.toLowerCase().includes(value));
    if (key === 'turn') return turn.steps.some(step => String(step.episode_id) === value);
    if (key === 'client') return (turn.client ?? '').toLowerCase().includes(value);
    if (key === 'model') return turn.model.toLowerCase().includes(value);
    if (key === 'session') return String(turn.session_id) === value;
    if (key === 'reason') return turn.artifact_states.some(it => it.reason.toLowerCase().includes(value));
    return `${turn.words ?? ''} ${turn.entities.join(' ')}`.toLowerCase().includes(word);
  });
}

function turnCard(turn) {
  const refused = refusedOf(turn);
  const became = trueOf(turn);
  const lost = refused.reduce((sum, it) => sum + lostOf(it), 0);
  const shown = (refused[0] ?? became[0])?.step ?? turn.episode_id;
  const card = h('a', { class: 'card turn', href: turn.episode_id ? `#/turn/${shown}` : '#/turns' },
    h('span', { class: 'meta' }, `${turn.episode_id ? `${steps(turn)} · ` : ''}${turn.client ? `${turn.client} · ` : ''}${turn.model ? `${turn.model} · ` : ''}${ago(turn.at)}`),
    h('p', { class: 'words' }, words(turn)),
    refused.slice(0, 3).map(it => chip('bad', `✕ ${it.entity ?? ''} ${lostOf(it) ? `lost ${count(lostOf(it), 'line')}` : shortReason(it.reason)}`)),
    refused.length > 3 ? chip('bad', `${refused.length - 3} more refused`) : null,
    stateOf(turn, 'UNJUDGED').slice(0, 3).map(it => chip('', `${it.entity} unjudged`)),
    became.slice(0, 3).map(it => chip('good', `✓ ${it.entity}`)),
    became.length > 3 ? chip('good', `${became.length - 3} more true`) : null,
    turn.hydrated.length ? chip('', `${turn.hydrated.length} shown`) : null,
    turn.withheld.length ? chip('warn', `${turn.withheld.length} withheld`) : null,
    turn.price ? chip('', count(tokensOf(turn), 'token')) : null,
    turn.added_ms === null ? null : chip('', `${turn.added_ms.toFixed(1)} ms added`),
    turn.cache_break ? chip('warn', 'cache broke') : null,
    turn.outcome && turn.outcome !== 'completed' ? chip('warn', turn.outcome) : null,
    !turn.outcome && turn.episode_id ? chip('', 'under way') : null);
  return turn.steps.length > 1 && turn.episode_id ? [card, h('details', { class: 'steps' }, h('summary', {}, 'Steps'), stepList(turn.steps))] : card;
}

// The steps of a turn, oldest first.
const stepList = (steps, open) => h('ol', { class: 'plain' }, [...steps].reverse().map(step => h('li', {},
  String(step.episode_id) === open ? h('strong', {}, `turn ${step.episode_id}`) : link(`turn/${step.episode_id}`, `turn ${step.episode_id}`), ' ',
  refusedOf(step).length ? chip('bad', `${refusedOf(step).length} refused`) : null, trueOf(step).length ? chip('good', `${trueOf(step).length} true`) : null,
  step.outcome && step.outcome !== 'completed' ? chip('warn', step.outcome) : null)));

async function showTurns() {
  const all = turnsOf(await turns());
  const list = h('div', {});
  const draw = () => {
    const shown = all.filter(turn => passes(turn, filter));
    list.replaceChildren(...(shown.length ? shown.flatMap(turnCard) : [h('p', { class: 'empty' },
      all.length ? 'No turn is like that.' : 'No prompt has come yet. Point your client at this address, and ask something.')]));
  };
  const field = h('input', { type: 'search', id: 'filter', placeholder: 'refused  file:src/a.c  client:opencode  today', value: filter, 'aria-describedby': 'filter-hint', oninput: event => {
    filter = event.target.value;
    draw();
  } });
  draw();
  return [h('h2', {}, 'Turns'), h('div', { class: 'tools' }, h('label', {}, h('span', { class: 'soft' }, 'Filter '), field)),
    h('p', { class: 'hint', id: 'filter-hint' }, '/ goes here · j and k go through the turns · words, refused, true, withheld, cache, today, turn:, file:, client:, model:, reason:, session:'), list];
}

const textOf = (part, whole) => part?.text === null || part === undefined ? h('p', { class: 'soft' }, 'not on record')
  : long(part.text, { bytes: part.bytes, whole });

function verdict(it, turn) {
  const isRefused = it.state === 'refused';
  const { body, lost } = it.proposed && it.truth ? sideBySide(it.truth.text, it.proposed.text, [
    isRefused || it.state === 'dropped' ? `What is true${it.truth_from ? ` (since turn ${it.truth_from})` : ''}` : 'What was true',
    isRefused ? 'What the model proposed' : it.state === 'dropped' ? 'What was dropped' : 'What is true since'],
  [it.truth.colours, it.proposed.colours]) : { lost: 0 };
  const file = (it.entity ?? '').split('::')[0];
  const unmet = it.rules.filter(rule => !rule.met && rule.is_needed);
  const rule = rule => h('li', { class: rule.met ? '' : rule.is_needed ? 'unmet' : 'idle' },
    h('code', {}, rule.rule), ` ${rule.meaning}`, rule.needed > 0 ? h('strong', {}, ` (saw ${rule.seen}, needs ${rule.needed})`) : '');
  return h('section', { class: `card finding ${isRefused ? 'bad' : it.state === 'true' ? 'good' : 'warn'}` },
    h('div', { class: 'verdict' }, h('h3', { class: 'name' }, entityLink(it.entity)),
      chip(isRefused ? 'bad' : it.state === 'true' ? 'good' : 'warn', isRefused ? 'refused' : it.state === 'true' ? 'became true' : it.state),
      isRefused && lost ? chip('bad', `${count(lost, 'line')} lost`) : null,
      it.disk === 'refused' ? chip('warn', 'your file holds it') : null),
    h('p', {}, it.meaning, ' ', h('code', { class: 'soft' }, it.reason)),
    body ?? (it.proposed ? textOf(it.proposed) : null),
    unmet.length ? h('ul', { class: 'rules', 'aria-label': 'Rules that kept it out' }, unmet.map(rule)) : null,
    it.rules.length > unmet.length ? h('details', {}, h('summary', {}, `All ${it.rules.length} rules`), h('ul', { class: 'rules' }, it.rules.map(rule))) : null,
    isRefused ? [it.disk === 'refused' ? copyable(`tslp undo --episode ${turn.episode}`) : null,
      copyable(`tslp confirm ${quoted(it.entity)}`), copyable(`tslp reject ${quoted(it.entity)}`)] : null,
    /^(superseded|unknown)$/.test(it.disk ?? '') ? copyable(`tslp accept ${quoted(file)}`) : null);
}

const saidList = (title, list) => list?.length ? [h('h3', {}, title), h('ul', { class: 'plain' }, list.map(it => h('li', {},
  it.entity ? [entityLink(it.entity), ' '] : null, h('span', { class: 'soft' }, it.meaning, it.tokens ? `, ${count(it.tokens, 'token')}` : ''))))] : null;

// The turn in view, while its reply is still coming: it is drawn anew as well.
let openTurn = null;

async function showTurn(id) {
  const [turn, said] = await Promise.all([read(`/turn?episode=${id}`), listed(id)]);
  openTurn = turn.outcome ? null : `turn/${id}`;
  const of = said?.episode_id ? turnsOf(known).find(it => it.steps.includes(said)) : null;
  const at = pick => () => read(`/turn?episode=${id}&whole=true`).then(whole => pick(whole).text);
  const order = { refused: 0, unjudged: 1, dropped: 2, removed: 3, true: 4 };
  const judged = [...turn.versions].sort((a, b) => order[a.state] - order[b.state]);
  const last = turn.prompt?.length - 1;
  return [h('p', { class: 'soft' }, link('turns', '← Turns'), ` · turn ${id}`, said ? ` · ${said.client ? `${said.client} · ` : ''}${said.model} · ${said.at} · session ${said.session_id}${said.added_ms === null ? '' : ` · ${said.added_ms.toFixed(1)} ms added`}` : ''),
    h('h2', {}, said ? words(said) : `Turn ${id}`),
    of?.steps.length > 1 ? [h('h3', {}, 'Steps of this turn'), stepList(of.steps, id)] : null,
    judged.length ? judged.slice(0, 60).map(it => verdict(it, turn)) : h('p', { class: 'soft' }, 'No code was judged in this turn.'),
    judged.length > 60 ? h('p', { class: 'soft' }, `and ${judged.length - 60} more: `, h('code', {}, `tslp log --episode ${id}`)) : null,
    h('h3', {}, 'Prompt'), (turn.prompt ?? []).map((part, n) => h('div', { class: 'card' }, h('p', { class: 'role' }, part.role), textOf(part, at(whole => whole.prompt[n])))),
    h('p', {}, link(`sent/${id}`, 'What the model saw →')),
    saidList('Shown to the model', turn.hydrated), saidList('Not shown, and why', turn.dropped), saidList('Withheld from older messages', turn.withheld), saidList('Told', turn.notices),
    turn.tool_calls?.length ? [h('h3', {}, 'Tool calls'), turn.tool_calls.map((call, n) => h('div', { class: 'card' }, h('p', { class: 'role' }, call.name), textOf(call, at(whole => whole.tool_calls[n]))))] : null,
    turn.actions?.length ? [h('h3', {}, 'Verdicts on tools'), h('ul', { class: 'plain' }, turn.actions.map(text => h('li', {}, text)))] : null,
    (turn.parts ?? []).map((part, n) => [h('h3', {}, part.kind), h('div', { class: 'card' }, textOf(part, at(whole => whole.parts[n])))]),
    h('h3', {}, `Reply${turn.outcome ? ` (${turn.outcome})` : ''}`), h('div', { class: 'card' }, turn.reply ? textOf(turn.reply, at(whole => whole.reply)) : h('p', { class: 'soft' }, 'under way')),
    h('details', {}, h('summary', {}, `All ${turn.events?.length ?? 0} events`), h('ul', { class: 'plain mono' }, (turn.events ?? []).map(event => h('li', {}, `${event.seq}  ${event.kind}  ${event.text}`))))];
}

// ---- What the model saw

// The text with ours in colour.
function marked(text, ours) {
  const found = [];
  for (const own of ours) for (let at = text.indexOf(own); at >= 0; at = text.indexOf(own, at + own.length)) found.push([at, at + own.length]);
  found.sort((a, b) => a[0] - b[0]);
  const pieces = [];
  let at = 0;
  for (const [from, to] of found) {
    if (from < at) continue;
    pieces.push(visible(text.slice(at, from)), h('span', { class: 'ours' }, text.slice(from, to)));
    at = to;
  }
  return [...pieces, visible(text.slice(at))];
}

const textsOf = content => typeof content === 'string' ? content
  : Array.isArray(content) ? content.map(part => part.text ?? JSON.stringify(part, null, 1)).join('\n') : content ? JSON.stringify(content, null, 1) : '';

async function showSent(id) {
  const query = new URLSearchParams(location.hash.split('?')[1]);
  const [sent, said] = await Promise.all([read(`/sent?episode=${id}${query.get('whole') ? '&whole=true' : ''}`), listed(id)]);
  const broke = said?.cache_break;
  let request = null;
  try {
    request = JSON.parse(sent.body.text);
  } catch {
    // It is cut: then only its bytes are shown.
  }
  const items = request ? [
    request.system && { role: 'system', content: request.system },
    request.instructions && { role: 'instructions', content: request.instructions },
    ...(Array.isArray(request.input) ? request.input : request.messages ?? [])].filter(Boolean) : [];
  const section = item => {
    const text = textsOf(item.content ?? item.output ?? item.arguments) + (item.tool_calls ? `\n${JSON.stringify(item.tool_calls, null, 1)}` : '');
    return h('section', { class: 'card' }, h('p', { class: 'role' }, `${item.role ?? item.type} · ${count(text.length, 'character')}`),
      long(text, { render: it => marked(it, sent.ours) }));
  };
  const same = sent.same_as_before;
  const raw = sent.body.text;
  const rawBox = h('details', { ontoggle: event => event.target.open && event.target.childElementCount === 1 && event.target.append(h('div', { class: 'card' }, long(raw))) },
    h('summary', {}, 'The exact bytes'));
  return [h('p', { class: 'soft' }, link(`turn/${id}`, `← Turn ${id}`)), h('h2', {}, `What the model saw in turn ${id}`),
    h('p', {}, `${count(sent.bytes, 'byte')}${request?.model ? ` for ${request.model}` : ''}. `,
      same ? [`It begins as `, link(`sent/${same.episode}`, `turn ${same.episode}`), ` did for ${count(same.bytes, 'byte')} of ${same.of.toLocaleString('en')}; the rest had to be read anew. `] : 'It is the first of its conversation. ',
      sent.ours.length ? [h('span', { class: 'ours' }, 'What tslp put in'), ' has this colour.'] : 'tslp put nothing in.'),
    sent.body.bytes ? h('p', {}, link(`sent/${id}?whole=1`, `Show all (${sent.body.bytes.toLocaleString('en')} bytes)`)) : null,
    same?.was ? h('div', { class: 'card finding warn' }, h('p', { class: 'role' }, `The first difference${broke ? `, which ${broke.by === 'tslp' ? 'tslp' : 'the client'} made` : ''}: turn ${same.episode} had`), h('pre', {}, same.was), h('p', { class: 'role' }, 'and this one has'), h('pre', {}, same.is)) : null,
    items.map(section), request?.tools ? h('p', { class: 'soft' }, `and ${count(request.tools.length, 'tool')}`) : null, rawBox,
    copyable(`tslp show-prompt ${id}`)];
}

// ---- Truth

// Only the rows in sight are nodes, and pages of the server come as one scrolls.
const tree = { rows: [], next: undefined, filter: '', isReading: false, run: 0 };

async function moreRows() {
  if (tree.isReading || tree.next === null) return;
  tree.isReading = true;
  const run = tree.run;
  const page = await read(`/state?limit=${PAGE}&contains=${encodeURIComponent(tree.filter)}${tree.next ? `&after=${encodeURIComponent(tree.next)}` : ''}`);
  if (run !== tree.run) return;
  let file = tree.rows.at(-1)?.file;
  for (const [name, state] of Object.entries(page.entities).map(([name, state]) => [name.split('::'), state, name]).sort((a, b) => a[0][0] < b[0][0] ? -1 : a[0][0] > b[0][0] ? 1 : a[2] < b[2] ? -1 : 1).map(([, state, name]) => [name, state])) {
    const path = name.split('::')[0];
    if (path !== file) tree.rows.push({ file: path, name: path, label: path, isFile: true, stale: name === path && state.stale });
    file = path;
    if (name !== path) tree.rows.push({ file: path, name, label: name.slice(path.length + 2), stale: state.stale });
  }
  tree.next = page.next ?? null;
  tree.isReading = false;
}

async function showTruth(selected) {
  const list = h('div', { id: 'tree', role: 'listbox', tabindex: 0, 'aria-label': 'Files and symbols' });
  const space = h('div', {});
  list.append(space);
  const said = h('p', { class: 'hint', role: 'status' });
  const detail = h('section', { 'aria-label': 'Code', 'aria-live': 'polite' });
  let cursor = -1;
  const draw = () => {
    space.setAttribute('class', 'space');
    space.style.height = `${tree.rows.length * ROW}px`;
    const from = Math.max(0, Math.floor(list.scrollTop / ROW) - 10);
    const shown = tree.rows.slice(from, from + Math.ceil(list.clientHeight / ROW) + 20);
    space.replaceChildren(...shown.map((row, n) => {
      const node = h('a', { class: `row ${row.isFile ? 'file' : 'symbol'}`, id: `row-${from + n}`, role: 'option', tabindex: -1, 'aria-selected': cursor === from + n ? 'true' : 'false', href: `#/entity/${encodeURIComponent(row.name)}` },
        row.label, row.stale ? h('span', { class: 'stale' }, 'STALE') : null);
      node.style.top = `${(from + n) * ROW}px`;
      return node;
    }));
    list.setAttribute('aria-activedescendant', cursor >= 0 ? `row-${cursor}` : '');
    said.textContent = tree.rows.length ? `${tree.rows.length.toLocaleString('en')}${tree.next ? '+' : ''} rows` : '';
  };
  // A page of the server may hold few rows, or none, where few names are like the filter: more are asked for until the window is full.
  const fill = async () => {
    const run = tree.run;
    do {
      await moreRows();
      if (run !== tree.run) return;
      if (tree.rows.length) draw();
      else if (tree.next) said.textContent = 'searching…';
    } while (tree.next && !tree.isReading && (tree.rows.length - 100) * ROW < list.scrollTop + list.clientHeight);
    if (!tree.rows.length) {
      said.textContent = '';
      space.replaceChildren(h('p', { class: 'empty' }, tree.filter ? 'Nothing true is named so.' : 'Nothing is true yet: paste code with its path into a prompt, and it will be.'));
    }
  };
  list.addEventListener('scroll', () => {
    draw();
    if (list.scrollTop + list.clientHeight > (tree.rows.length - 100) * ROW) fill();
  }, { passive: true });
  list.addEventListener('keydown', event => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (step) {
      event.preventDefault();
      cursor = Math.max(0, Math.min(tree.rows.length - 1, cursor + step));
      const top = cursor * ROW;
      if (top < list.scrollTop) list.scrollTop = top;
      if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
      draw();
    } else if (event.key === 'Enter' && tree.rows[cursor]) {
      location.hash = `#/entity/${encodeURIComponent(tree.rows[cursor].name)}`;
    }
  });
  let wait = 0;
  const field = h('input', { type: 'search', id: 'filter', placeholder: 'src/ring or ring_put', value: tree.filter, oninput: event => {
    clearTimeout(wait);
    wait = setTimeout(() => {
      Object.assign(tree, { rows: [], next: undefined, filter: event.target.value, isReading: false, run: tree.run + 1 });
      list.scrollTop = 0;
      cursor = -1;
      fill();
    }, 80);
  } });
  Object.assign(tree, { rows: [], next: undefined, isReading: false, run: tree.run + 1 });
  // Its rows need its height.
  queueMicrotask(() => requestAnimationFrame(fill));
  if (selected) detail.append(...[await showEntity(selected)].flat(Infinity).filter(Boolean));
  else detail.append(h('p', { class: 'empty' }, 'Choose a file or a symbol: its code, whether your file holds it, and its story.'));
  return [h('h2', {}, 'Truth'), h('div', { class: 'truth' }, h('div', {}, h('div', { class: 'tools' }, h('label', {}, h('span', { class: 'soft' }, 'Filter '), field)), said, list), detail)];
}

async function showEntity(name) {
  const it = await read(`/entity?name=${encodeURIComponent(name)}`);
  const now = it.now;
  const file = name.split('::')[0];
  const [code, onDisk] = [it.code, it.on_disk].map(pieces => pieces?.map(([, text]) => text).join('') ?? '');
  const runs = pieces => pieces.map(([kind, text]) => [kind, text.length]);
  const wasTrue = now ? 'What is true' : `What was true last${it.episode ? ` (since turn ${it.episode})` : ''}`;
  const coloured = () => h('pre', { class: 'code', tabindex: 0, 'aria-label': 'Code' }, it.code.map(([kind, text]) => kind ? h('span', { class: kind }, text) : text));
  return [h('h3', { class: 'mono' }, it.entity),
    h('p', {}, now ? [chip('good', 'true'), chip('', `from the ${now.origin}`), it.episode ? [link(`turn/${it.episode}`, `turn ${it.episode}`), ' '] : null, h('span', { class: 'soft' }, `since ${now.last_updated.slice(0, 19).replace('T', ' ')} `)]
      : chip('warn', it.tombstoned ? 'removed a short while ago' : 'nothing is true of it now'),
    now?.stale ? chip('bad', `STALE: your file holds ${now.disk === 'refused' ? 'the refused change' : 'something else'}`) : now ? chip('', DISK[now.disk] ?? `on disk: ${now.disk.replaceAll('_', ' ')}`) : null),
    now?.stale ? [copyable(`tslp undo ${quoted(file)}`),
      copyable(now.disk === 'refused' ? `tslp confirm ${quoted(it.entity)}` : `tslp accept ${quoted(file)}`)] : null,
    timeline(it.story.filter(event => event.state)),
    it.on_disk && code ? sideBySide(code, onDisk, [wasTrue, onDisk ? 'What your file holds' : 'Your file holds nothing of it'], [runs(it.code), runs(it.on_disk)]).body
      : !now && code ? h('p', { class: 'soft' }, `${wasTrue}; your file still holds it:`) : null,
    it.code && !it.on_disk ? (code.length > 65536 ? long(code) : coloured()) : null,
    it.code && it.on_disk ? h('details', {}, h('summary', {}, `${wasTrue}, all of it`), code.length > 65536 ? long(code) : coloured()) : null,
    h('h3', {}, 'Story'), story(it.story.filter(event => !/^(artifact_|notice_)/.test(event.kind))),
    h('details', {}, h('summary', {}, `All ${it.story.length} events`), story(it.story))];
}

const DISK = {
  same: 'your file holds it', acknowledged: 'your file holds what you knew of', not_saved: 'not saved in your file yet', missing: 'your file doesn’t hold it', unreadable: 'your file can’t be read',
};

// Each version and each attempt that was refused, through time.
function timeline(events) {
  if (!events.length) return null;
  let versions = 0;
  const point = event => {
    if (event.state === 'true') versions++;
    const what = event.state === 'true' ? `version ${versions}` : event.state;
    const text = [h('strong', {}, what), h('span', { class: 'soft' }, event.episode ? ` turn ${event.episode}` : ' command line'), h('time', { class: 'soft', datetime: event.at }, event.at.slice(0, 16).replace('T', ' '))];
    return h('li', { class: event.state, title: event.text }, event.episode ? link(`turn/${event.episode}`, text) : h('span', {}, text));
  };
  return [h('h3', {}, 'Versions and attempts'),
    h('div', { class: 'card scroll', tabindex: 0, role: 'region', 'aria-label': 'Versions and attempts, the oldest first' }, h('ol', { class: 'timeline' }, events.map(point).slice(-60)))];
}

const story = events => h('ol', { class: 'story' }, events.slice(-200).reverse().map(event => h('li', {
  class: event.state },
h('span', { class: 'soft' }, `${event.at.slice(0, 19).replace('T', ' ')} `), event.episode ? [link(`turn/${event.episode}`, `turn ${event.episode}`), ' '] : null, event.text)));

// ---- Memory, scope, guard

function table(title, rows, empty) {
  if (!rows?.length) return [h('h3', {}, title), h('p', { class: 'soft' }, empty)];
  const columns = Object.keys(rows[0]).filter(name => rows[0][name] !== undefined);
  return [h('h3', {}, title), h('div', { class: 'card scroll', tabindex: 0, role: 'region', 'aria-label': title }, h('table', {}, h('thead', {}, h('tr', {}, columns.map(name => h('th', { scope: 'col' }, name.replaceAll('_', ' '))))),
    h('tbody', {}, rows.map(row => h('tr', {}, columns.map(name => h('td', {}, row[name])))))))];
}

async function showSystems() {
  const over = await read('/overview');
  const now = new Date().toISOString();
  const holds = grant => grant.revoked ? chip('', 'taken back') : grant.until > now ? chip('good', 'holds') : chip('', 'over');
  const grants = over.grants.map(grant => ({ ...grant, until: grant.until.slice(0, 16).replace('T', ' '), revoked: undefined, now: holds(grant) }));
  const calls = over.calls.map(call => ({ turn: call.episode ? link(`turn/${call.episode}`, `turn ${call.episode}`) : '–', call: call.text, asked: call.door,
    decision: chip(!call.decision ? 'warn' : call.decision === 'DENY' ? 'bad' : 'good', call.decision ?? 'held, not judged yet') }));
  const records = over.records.map(record => ({ name: `#${record.key}`, kind: record.kind, statement: record.statement,
    proof: record.path ? [h('code', {}, record.quotation), ' in ', entityLink(record.path)] : 'your word',
    now: record.standing !== 'kept' ? chip('warn', 'waits for your word') : record.grounded ? chip('good', 'told') : chip('warn', `not told: ${record.why_not}`) }));
  const halts = over.sessions.filter(it => it.halt).map(it => ({ whose: it.session === 0 ? 'all conversations' : `session ${it.session}`, why: shortReason(it.halt) }));
  return [h('h2', {}, 'Memory, scope, guard'),
    h('h3', {}, 'The work under way'), over.status.length ? h('div', { class: 'card' }, h('pre', {}, over.status.join('\n'))) : h('p', { class: 'soft' }, 'No work is on record yet.'), copyable('tslp status'),
    h('h3', {}, 'A new conversation is told'), over.recovery ? h('div', { class: 'card' }, h('pre', {}, over.recovery)) : h('p', { class: 'soft' }, 'Nothing: no work is unfinished, and there is no goal.'), copyable('tslp goal TEXT'),
    table('Records', records, 'Nothing is noted. A note is told to prompts as long as the code that it quotes is true.'), copyable('tslp note fact \'#NAME: STATEMENT\''),
    table('Scope: files that models don’t see, or alone see', over.scope, 'Models may see every file.'), copyable('tslp off PATTERN'), copyable('tslp lock PATTERN'),
    table('Budgets', over.budgets, 'No budget is set (`budget.conversation`, `budget.day`).'), over.budgets.length ? copyable('tslp resume') : null,
    table('Grants', grants, 'No tool has a grant.'), copyable('tslp tool allow BUILD_EXEC for 15m'),
    table('Calls, the latest first', calls, 'No tool was called.'), table('Halts', halts, 'Nothing is halted.'), copyable(halts.length ? 'tslp resume' : 'tslp stop'),
    table('Usage', over.usage, 'Nothing was used yet.'), table('Rules in force', over.rules, 'None is on record yet.')];
}

// ---- Which view

const VIEWS = [
  [/^turns$/, showTurns, 'Turns'], [/^turn\/(\d+)$/, showTurn, 'Turns'], [/^sent\/(\d+)$/, showSent, 'Turns'],
  [/^truth$/, showTruth, 'Truth'], [/^entity\/(.+)$/, name => showTruth(decodeURIComponent(name)), 'Truth'],
  [/^systems$/, showSystems, 'Memory, scope, guard'], [/^/, showNow, 'Now'],
];
let drawing = 0;

async function draw(isSame) {
  const run = ++drawing;
  const path = location.hash.replace(/^#\/?/, '').split('?')[0];
  const [pattern, view, name] = VIEWS.find(([pattern]) => pattern.test(path));
  for (const item of document.querySelectorAll('nav a')) {
    if (item.textContent === name) item.setAttribute('aria-current', 'page');
    else item.removeAttribute('aria-current');
  }
  document.title = `${name} · TSLP`;
  let nodes;
  try {
    nodes = await view(...(path.match(pattern) ?? []).slice(1));
  } catch (error) {
    nodes = [h('p', { class: 'empty', role: 'alert' }, error.message)];
  }
  if (run !== drawing) return;
  const typed = document.activeElement?.id === 'filter' ? document.activeElement.selectionStart : null;
  const scrolled = scrollY;
  main.replaceChildren(...nodes.flat(Infinity).filter(Boolean));
  if (isSame) scrollTo(0, scrolled);
  else {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  if (typed !== null) {
    const field = document.getElementById('filter');
    field?.focus();
    field?.setSelectionRange(typed, typed);
  }
  main.dataset.view = path || 'now';
}

addEventListener('hashchange', () => draw(false));
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|TEXTAREA/.test(event.target.tagName)) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  if (event.key === '/') {
    const field = document.getElementById('filter');
    if (field) {
      event.preventDefault();
      field.focus();
    }
  } else if (event.key === 'j' || event.key === 'k') {
    const cards = [...document.querySelectorAll('.turn')];
    const at = cards.indexOf(document.activeElement);
    cards[Math.max(0, Math.min(cards.length - 1, at + (event.key === 'j' ? 1 : -1)))]?.focus();
  } else if (/^[1-4]$/.test(event.key)) {
    document.querySelectorAll('nav a')[event.key - 1].click();
  }
});

// ---- Live

const DRAWN_EVERY = 1000;
let head = null;
let drawn = null;
let isDrawing = false;

// What somebody reads or unfolds stays as it is; lists are drawn anew. A reply that is still coming is many commits.
async function catchUp() {
  const isLive = /^(now|turns|systems)$/.test(main.dataset.view) || openTurn === main.dataset.view;
  if (isDrawing || drawn === head || !isLive) return;
  isDrawing = true;
  drawn = head;
  await draw(true);
  setTimeout(() => {
    isDrawing = false;
    catchUp();
  }, DRAWN_EVERY);
}

function heard(position) {
  status.textContent = 'live';
  drawn ??= position;
  head = position;
  catchUp();
}

const seen = () => document.hidden ? new Promise(done => document.addEventListener('visibilitychange', done, { once: true })).then(seen) : null;

// A tab that nobody sees holds no connection: browsers have six to a server. A reader of the stream can send a token, an event source can't.
async function follow() {
  for (;;) {
    await seen();
    const stop = new AbortController();
    const isHidden = () => document.hidden && stop.abort();
    document.addEventListener('visibilitychange', isHidden);
    try {
      for await (const event of events('/events', stop.signal)) heard(event);
      status.textContent = 'the proxy has ended';
    } catch (error) {
      status.textContent = error instanceof TypeError ? 'the proxy doesn’t answer' : error.message;
    }
    document.removeEventListener('visibilitychange', isHidden);
    if (!document.hidden) {
      await new Promise(done => setTimeout(done, 1500));
    }
  }
}

await draw(false);
follow();
