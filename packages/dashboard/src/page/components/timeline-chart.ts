/** The lanes of a timeline below each other, over one axis of time. */
import type { TimelineItem, TimelineLane } from '@shardlab/report'
import { html, svg, type TemplateResult } from 'lit-html'
import { rowsOf } from './lane-rows.js'

const barTop = 18
const barHeight = 12
const rowHeight = barHeight + 3
const laneGap = 3
/** Percent of the width, so that short bars are visible. */
const leastWidth = 0.4
const leastHeight = 3
const axisHeight = 20

export interface TimelineChart {
  /** For screen readers. */
  readonly label: string
  readonly lanes: readonly TimelineLane[]
  readonly fromMs: number
  /** Where bars end that have not ended. */
  readonly toMs: number
  /** Lines through all lanes. */
  readonly lines?: readonly { readonly atMs: number; readonly text: string }[]
  readonly timeText: (ms: number) => string
}

export function timelineChart({ label, lanes, fromMs, toMs, lines = [], timeText }: TimelineChart): TemplateResult {
  const share = (atMs: number): number => Math.min(100, Math.max(0, (100 * (atMs - fromMs)) / (toMs - fromMs)))
  let lanesHeight = 0
  const placed = lanes.map((lane) => {
    const top = lanesHeight
    const { rows, count } = rowsOf(lane.items)
    lanesHeight += barTop + count * rowHeight + laneGap
    return { ...lane, top, rows, count }
  })
  const height = lanesHeight + axisHeight
  const shape = (item: TimelineItem, top: number): TemplateResult => {
    const title = svg`<title>${timeText(item.fromMs)} ${item.text}${item.toMs === null ? ', not ended' : ''}</title>`
    return item.toMs === item.fromMs ? instant(item, share, top, title) : bar(item, share, top, title)
  }
  return html`<svg class="lanes" height=${height} role="img" aria-label=${label}>
    ${placed.map(({ name, items, top, rows, count }) => {
      return svg`<text y=${top + 13}>${name}</text>
        ${Array.from({ length: count }, (_, row) => svg`<rect class="lane" y=${top + barTop + row * rowHeight} width="100%" height=${barHeight}></rect>`)}
        ${items.map((item, place) => shape(item, top + rows[place]! * rowHeight))}`
    })}
    ${lines.map(({ atMs, text }) => svg`<line class="bad" x1="${share(atMs)}%" x2="${share(atMs)}%" y2=${height - axisHeight}><title>${timeText(atMs)} ${text}</title></line>`)}
    <text y=${height - 5}>${timeText(fromMs)}</text>
    <text y=${height - 5} x="100%" text-anchor="end">${timeText(toMs)}</text>
  </svg>`
}

type Share = (atMs: number) => number

/** A circle in the background, a diamond for what matters. */
function instant({ fromMs, tone }: TimelineItem, share: Share, top: number, title: TemplateResult): TemplateResult {
  const path = tone === 'soft' ? 'M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z' : 'M0-7 5 0 0 7-5 0Z'
  return svg`<svg x="${share(fromMs)}%" y=${top + barTop + barHeight / 2} overflow="visible" class=${tone}>
    <path d=${path}></path>${title}</svg>`
}

/** Bad ones are hatched by an outline. */
function bar(item: TimelineItem, share: Share, top: number, title: TemplateResult): TemplateResult {
  const { fromMs, toMs, tone, share: ofHeight = tone === 'soft' ? 0.6 : 1 } = item
  const from = share(fromMs)
  const to = toMs === null ? 100 : share(toMs)
  const height = Math.max(leastHeight, ofHeight * barHeight)
  return svg`<rect class="bar ${tone} ${toMs === null ? 'open' : ''}" x="${from}%" y=${top + barTop + barHeight - height}
    width="${Math.max(leastWidth, to - from)}%" height=${height}>${title}</rect>`
}
