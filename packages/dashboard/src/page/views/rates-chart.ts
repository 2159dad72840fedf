/** Operations a second by kind, over the last two minutes. */
import type { LineChart } from '@shardlab/report'
import { html, type TemplateResult } from 'lit-html'
import type { OperationsEvent } from '@shardlab/actor'
import type { LiveState } from '../../stream/live-state.js'
import type { App } from '../app.js'
import { lineChart } from '../components/line-chart.js'
import { tableFrame } from '../components/table-frame.js'
import { memo } from '../memo.js'
import { nowOf } from '../now.js'
import { meansOf, rateNames, ratesOf, type RateName } from '../operation-sums.js'
import { rateText } from '../text.js'

const seconds = 120
/** The last second is not over. */
const shownSeconds = 5
const titles: Readonly<Record<RateName, string>> = {
  targeted: 'targeted',
  multi: 'multi-shard',
  broadcast: 'broadcast',
  failed: 'failed',
}

/** Routers report twice a second. */
const deliveredAfterMs = 500

const knownChart = memo<LineChart>()

export function ratesChart({ state }: App): TemplateResult {
  const now = meansOf(state.operations, nowOf(state) - deliveredAfterMs, {
    seconds: shownSeconds,
    sinceMs: state.recordedSinceMs,
  })
  const rows = rateNames.map(
    (name) =>
      html`<tr>
        <td>${titles[name]}</td>
        <td data-rate=${name}>${rateText(now[name])}</td>
      </tr>`,
  )
  const { operations, recordedSinceMs } = state
  const endSecond = endSecondOf(state)
  const keys = [endSecond, operations.at(-1), recordedSinceMs]
  const chart = knownChart(keys, () => chartOf(operations, endSecond, recordedSinceMs))
  return html`${lineChart(chart)}
  ${tableFrame('Operations a second', ['kind', `a second, over ${shownSeconds} s`], rows, 'rates')}`
}

/** The present second is not over, and with a clock that stands still it may never be. */
const endSecondOf = (state: LiveState): number =>
  Math.floor(nowOf(state) / 1000) + (state.cluster?.clock === 'manual' ? 1 : 0)

/** What happened in the second in which the recording began is not all known. */
function chartOf(operations: readonly OperationsEvent[], endSecond: number, recordedSinceMs: number): LineChart {
  const isKnown = (second: number): boolean => 1000 * second >= recordedSinceMs
  const rates = ratesOf(operations, endSecond * 1000, seconds)
  return {
    ...{ kind: 'lines', title: 'Operations', marks: [], bands: null, hasDots: false },
    x: { label: 'time (UTC)', format: 'clock' },
    y: { label: 'a second', format: 'number', to: 1 },
    series: rateNames.map((name, tone) => ({
      ...{ name: titles[name], tone: name === 'failed' ? 'bad' : tone },
      points: rates[name].map((rate, i) => {
        const second = endSecond - seconds + i
        return [1000 * second, isKnown(second) ? rate : null] as const
      }),
    })),
  }
}
