/** Failed runs of a swarm as one self-contained page. */
import { counted } from '@shardlab/quantities'
import { escape, style } from '@shardlab/load'
import type { FailedRun, SwarmReport, TimelineEntry } from '../types.js'
import { planText } from '../swarm-text.js'
import { lanes } from './lanes.js'

const kinds: Readonly<Record<TimelineEntry['kind'], string>> = {
  command: 'commands',
  answer: 'answers',
  step: 'steps of members',
  fault: 'faults',
  member: 'members',
  catalog: 'catalog',
  violation: 'violations',
}

const ownStyle = `.fails li{overflow-wrap:anywhere}.fails li,tr.violation td{color:var(--bad)}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);padding:10px}fieldset{border:0;padding:0;margin:14px 0;display:flex;flex-wrap:wrap;gap:4px 16px}td{vertical-align:top}th.left,td.left{text-align:left}td.why{white-space:normal;overflow-wrap:anywhere;text-align:left}tr.own td.why{font-weight:600}tr.hidden{display:none}figure{overflow-x:auto}svg.lanes{min-width:860px}.lanes text{font-size:11px;fill:var(--soft)}.lanes line{stroke:var(--rule)}.lanes .command{fill:var(--s2);fill-opacity:.35}.lanes .command.own{fill:var(--s1);fill-opacity:1}.lanes .step{fill:var(--s5)}.lanes .catalog{fill:var(--s0)}.lanes .fault,.lanes .member{fill:var(--s4)}.lanes .violation{stroke:var(--bad);stroke-width:2}`

/** Without the script, the page shows every entry. */
const script = `
for (const run of document.querySelectorAll('.run')) {
  const inputs = [...run.querySelectorAll('input')]
  const show = () => {
    const hidden = new Set(inputs.filter(({ name, checked }) => name !== 'own' && !checked).map(({ name }) => name))
    const ownOnly = inputs.some(({ name, checked }) => name === 'own' && checked)
    for (const row of run.querySelectorAll('tr[data-kind]')) {
      const { kind } = row.dataset
      const other = ownOnly && !row.classList.contains('own') && (kind === 'command' || kind === 'answer')
      row.classList.toggle('hidden', hidden.has(kind) || other)
    }
  }
  for (const input of inputs) input.addEventListener('change', show)
  show()
}`

export function swarmPage({ runs, failed }: SwarmReport): string {
  const title = `Swarm: ${failed.length} of ${counted(runs, 'run')} failed`
  const body = [
    `<h1>${title}</h1>`,
    failed.length === 0 ? '<p>No run violated an invariant.</p>' : '',
    ...failed.map(failure),
    '<footer><p>The same seed and options always give the same run.</p></footer>',
  ]
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}${ownStyle}</style><body><main>${body.join('')}</main><script>${script}</script></body></html>\n`
}

function failure({ seed, checker, violations, replay, plan, timeline }: FailedRun): string {
  const sentences = violations.map((violation) => `<li>${escape(`${violation.checker}: ${violation.sentence}`)}</li>`)
  return [
    `<section class="run"><h2>Seed ${seed}: ${checker}</h2>`,
    `<ul class="fails">${sentences.join('')}</ul>`,
    `<p>${escape(planText(plan))}</p><pre>${escape(replay)}</pre>`,
    lanes(timeline),
    filters(timeline),
    table(timeline),
    '</section>',
  ].join('')
}

function filters(timeline: readonly TimelineEntry[]): string {
  const box = (name: string, text: string) =>
    `<label><input type="checkbox" name="${name}" checked> ${escape(text)}</label>`
  const present = Object.entries(kinds).filter(([kind]) => timeline.some((entry) => entry.kind === kind))
  const own = timeline.some(({ ofDocument }) => ofDocument)
    ? box('own', 'of commands only those that name the documents of the violation')
    : ''
  return `<fieldset>${present.map(([kind, text]) => box(kind, text)).join('')}${own}</fieldset>`
}

function table(timeline: readonly TimelineEntry[]): string {
  const rows = timeline.map(
    ({ atMs, kind, member, text, ofDocument }) =>
      `<tr class="${kind}${ofDocument ? ' own' : ''}" data-kind="${kind}"><td>${atMs.toFixed(1)}</td><td class="left">${kind}</td><td class="left">${escape(member)}</td><td class="why">${escape(text)}</td></tr>`,
  )
  return `<div class="wide"><table><thead><tr><th>virtual ms</th><th class="left">what</th><th class="left">client or member</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}
