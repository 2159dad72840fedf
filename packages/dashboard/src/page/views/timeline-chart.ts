/** The lanes of the timeline below each other, over one axis of time. */
import { html, svg, type TemplateResult } from 'lit-html'
import { counted, timeText } from '../text.js'
import type { TimelineItem, TimelineLane } from './timeline-lanes.js'

const laneHeight = 36
const barTop = 18
const barHeight = 12
/** Percent of the width, so that short bars are visible. */
const leastWidth = 0.4
const leastHeight = 3
const axisHeight = 20
/** A history of a moment would be as wide as the page. */
const leastSpanMs = 10_000

/** @param nowMs where bars end that have not ended */
export function timelineChart(lanes: readonly TimelineLane[], nowMs: number): TemplateResult {
  const first = Math.min(...lanes.flatMap(({ items }) => items.map(({ fromMs }) => fromMs)))
  const fromMs = Math.min(first, nowMs - leastSpanMs)
  const spanMs = nowMs - fromMs
  const share = (atMs: number): number => Math.min(100, Math.max(0, (100 * (atMs - fromMs)) / spanMs))
  const height = lanes.length * laneHeight + axisHeight
  const summary = lanes.map(({ name, items }) =>
    name === 'errors'
      ? `${counted(items.length, 'second')} with errors`
      : counted(items.length, name === 'balancer' ? 'round' : name.replace(/s$/, '')),
  )
  return html`<svg
    class="lanes"
    height=${height}
    role="img"
    aria-label="Timeline from ${timeText(fromMs)} to ${timeText(nowMs)}: ${summary.join(', ')}. The table below has the events."
  >
    ${lanes.map(({ name, items }, i) => {
      const top = i * laneHeight
      return svg`<text y=${top + 13}>${name}</text>
        <rect class="lane" y=${top + barTop} width="100%" height=${barHeight}></rect>
        ${items.map((item) => shape(item, share, top))}`
    })}
    <text y=${height - 5}>${timeText(fromMs)}</text>
    <text y=${height - 5} x="100%" text-anchor="end">${timeText(nowMs)}</text>
  </svg>`
}

/** A diamond for an instant, a bar for what lasts; bad ones are hatched by an outline. */
function shape(
  { fromMs, toMs, text, kind, share: ofHeight = 1 }: TimelineItem,
  share: (atMs: number) => number,
  top: number,
): TemplateResult {
  const from = share(fromMs)
  const title = svg`<title>${timeText(fromMs)} ${text}${toMs === null ? ', now' : ''}</title>`
  if (toMs === fromMs)
    return svg`<svg x="${from}%" y=${top + barTop + barHeight / 2} overflow="visible" class=${kind}>
      <path d="M0-7 5 0 0 7-5 0Z"></path>${title}</svg>`
  const to = toMs === null ? 100 : share(toMs)
  const height = Math.max(leastHeight, ofHeight * barHeight)
  return svg`<rect class="bar ${kind} ${toMs === null ? 'open' : ''}" x="${from}%" y=${top + barTop + barHeight - height}
    width="${Math.max(leastWidth, to - from)}%" height=${height}>${title}</rect>`
}
