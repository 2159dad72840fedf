/** One self-contained page that needs no network. */
import { counted } from '@shardlab/quantities'
import { escape, style } from '@shardlab/load'
import type { ScenarioFile } from '../file/parse.js'
import type { Decision, VariantRun } from '../types.js'
import { operationShare } from '../run/operation-share.js'
import { wallTimeMs } from '../run/wall-time.js'
import { chunkMap } from './chunk-map.js'
import { bytesText, clockText, percent, timeText, whole } from './format.js'
import { mapScript, mapStyle } from './map-script.js'
import { operationsHtml } from './operations-table.js'
import { plotsOf, shardsOf, sideBySide } from './plots.js'
import { rowsOf } from './rows.js'
import { slider, sliderScript, sliderStyle } from './slider.js'
import { shownRows } from './result-rows.js'
import { interruptions, obstacles, shardName } from './text-report.js'
import { tonesOf, tonesStyle } from './tones.js'
import { wordList } from './words.js'

const decisionsMax = 500
/** Longer tables are collapsed. */
const openMax = 40

const ownStyle = `
.fails{color:var(--bad);margin:14px 0}.fails li{color:var(--bad)}
.compare td{text-align:left;white-space:normal;min-width:120px}.compare th{white-space:normal;min-width:120px;max-width:240px;vertical-align:bottom}.compare td:first-child{color:var(--soft)}.compare td.part{padding-left:24px}
h2,th,.legend span{overflow-wrap:anywhere}.about{max-width:75ch}.words td.left{white-space:nowrap;vertical-align:top}td.why{white-space:normal;overflow-wrap:anywhere;text-align:left;min-width:240px}td.left{text-align:left}
details{margin:14px 0}summary{cursor:pointer;color:var(--soft)}
@media(max-width:720px){.compare td:first-child{min-width:96px}}`

export function htmlReport(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const name = file.path
    .split(/[\\/]/)
    .at(-1)!
    .replace(/\.ya?ml$/, '')
  const body = [
    `<h1>${escape(name)}</h1>`,
    file.shows === null ? '' : `<p>${escape(file.shows)}</p>`,
    file.about === null ? '' : `<p class="about">${escape(file.about)}</p>`,
    failures(file, runs),
    comparison(runs),
    operationsHtml(runs.map(({ result }) => result)),
    expectations(file),
    wordList(),
    runs.length > 1 ? sideBySide(runs) : '',
    ...runs.map((run) => variant(run, runs.length > 1)),
    `<footer><p>Seed ${file.seed}; simulated in ${(wallTimeMs(runs) / 1000).toFixed(1)} s of real time. The same file and seed always give the same result.</p></footer>`,
  ].join('')
  const toneCount = Math.max(runs.length, ...runs.map(({ samples }) => shardsOf(samples).length))
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(name)}</title><style>${style}${ownStyle}${sliderStyle}${mapStyle}${tonesStyle(toneCount)}</style><body><main>${body}</main><script>${sliderScript}${mapScript}</script></body></html>\n`
}

function failures(file: ScenarioFile, runs: readonly VariantRun[]): string {
  const failed = runs.flatMap(({ result: { name, failedExpectations, failedSteps } }) => [
    ...failedExpectations.map(({ message }) => `${name}: ${message}`),
    ...failedSteps.map(({ atMs, step, error }) => `${name}: at ${timeText(atMs)} ${step} failed: ${error}`),
  ])
  const sentences = [...interruptions(file, runs), ...failed, ...obstacles(runs.map(({ result }) => result))]
  return sentences.length === 0
    ? ''
    : `<ul class="fails">${sentences.map((sentence) => `<li>${escape(sentence)}</li>`).join('')}</ul>`
}

/** Failed expectations are listed above this table. */
function expectations({ variants }: ScenarioFile): string {
  const expected = variants.filter(({ expect }) => expect.length > 0)
  if (expected.length === 0) return ''
  const rows = expected.map(
    ({ name, expect }) =>
      `<tr><td class="left">${escape(name)}</td><td class="why">${expect.map(escape).join('<br>')}</td></tr>`,
  )
  return `<details><summary>Expectations of the file</summary><div class="wide"><table><tbody>${rows.join('')}</tbody></table></div></details>`
}

function comparison(runs: readonly VariantRun[]): string {
  const head =
    runs.length > 1
      ? `<thead><tr><th></th>${runs.map(({ result }) => `<th style="text-align:left">${escape(result.name)}</th>`).join('')}</tr></thead>`
      : ''
  const rows = shownRows(runs.map(({ result }) => result)).map(
    ([name, of]) =>
      `<tr><td${name.startsWith(' ') ? ' class="part"' : ''}>${escape(name.trim())}</td>${runs.map(({ result }) => `<td>${escape(of(result))}</td>`).join('')}</tr>`,
  )
  return `<div class="wide"><table class="compare">${head}<tbody>${rows.join('')}</tbody></table></div>`
}

function variant(run: VariantRun, isOneOfMany: boolean): string {
  const { result, samples, decisions, maps } = run
  const shards = shardsOf(samples)
  const classes = tonesOf(shards)
  const tones = new Map(shards.map((shard, i) => [shard, classes[i]!]))
  const toneOfShard = (shard: string): string => tones.get(shard) ?? ''
  const rows = rowsOf(samples)
  return [
    `<section class="run">${isOneOfMany ? `<h2>${escape(result.name)}</h2>` : ''}`,
    slider(rows, shards, classes),
    ...plotsOf(run, shards, toneOfShard),
    ...Object.entries(maps).map(([ns, map]) => chunkMap(ns, { rows, map, toneOf: toneOfShard })),
    shardTable(result.shards),
    decisionTable(decisions),
    '</section>',
  ].join('')
}

function shardTable(shards: VariantRun['result']['shards']): string {
  const rows = Object.entries(shards).map(([id, shard]) => {
    const { bytes, peak, chunks, operations, sentBytes, receivedBytes } = shard
    const cells = [
      bytesText(bytes),
      bytesText(peak.bytes),
      bytesText(peak.diskBytes),
      whole(peak.orphans),
      `${bytesText(sentBytes)} / ${bytesText(receivedBytes)}`,
      whole(chunks),
      whole(operations),
      percent(operationShare(shards, id)),
    ]
    return `<tr><td class="left">${escape(shardName(id, shard))}</td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
  })
  const heads = ['bytes', 'bytes at most', 'disk at most', 'orphans at most', 'sent / received', 'chunks', 'operations']
  const shown = `<div class="wide"><table><thead><tr><th>shard, at the end</th>${heads.map((head) => `<th>${head}</th>`).join('')}<th>share of operations</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
  return rows.length <= openMax
    ? shown
    : `<details><summary>${counted(rows.length, 'shard', whole)} at the end</summary>${shown}</details>`
}

function decisionTable(decisions: readonly Decision[]): string {
  if (decisions.length === 0) return '<p>The balancer made no decisions.</p>'
  const rows = decisions
    .slice(0, decisionsMax)
    .map(
      ({ atMs, kind, text }) =>
        `<tr><td class="left">${clockText(atMs)}</td><td class="left">${kind}</td><td class="why">${escape(text)}</td></tr>`,
    )
  const more =
    decisions.length > decisionsMax
      ? `<p>Not shown: ${whole(decisions.length - decisionsMax)} more; shardlab simulate --explain prints all.</p>`
      : ''
  return `<details${decisions.length <= openMax ? ' open' : ''}><summary>${counted(decisions.length, 'decision', whole)} with reasons</summary><div class="wide"><table><tbody>${rows.join('')}</tbody></table></div>${more}</details>`
}
