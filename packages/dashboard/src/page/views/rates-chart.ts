/** Operations a second by kind, over the last two minutes. */
import { html, type TemplateResult } from 'lit-html'
import uPlot from 'uplot'
import type { LiveState } from '../../stream/live-state.js'
import type { App } from '../app.js'
import { nowOf } from '../now.js'
import { rateNames, ratesOf, type RateName, type Rates } from '../operation-sums.js'
import { badColour, colourOf, inkColour, isDark, ruleColour } from '../palette.js'
import { rateText, timeText } from '../text.js'
import { tableFrame } from './table-frame.js'

const seconds = 120
/** The last second is not over. */
const shownSeconds = 5
const heightPixels = 200
const titles: Readonly<Record<RateName, string>> = {
  targeted: 'targeted',
  multi: 'multi-shard',
  broadcast: 'broadcast',
  failed: 'failed',
}
/** Colour is not the only difference. */
const dashes: Readonly<Record<RateName, number[]>> = { targeted: [], multi: [6, 3], broadcast: [2, 3], failed: [] }

interface Drawn {
  readonly plot: uPlot
  readonly parent: Element
  readonly look: string
  endSecond: number
  events: number
}
let drawn: Drawn | null = null

export function ratesChart(app: App): TemplateResult {
  const now = present(app)
  const text = rateNames.map((name) => `${titles[name]} ${rateText(now[name])}`).join(', ')
  const rows = rateNames.map(
    (name) =>
      html`<tr>
        <td>${titles[name]}</td>
        <td data-rate=${name}>${rateText(now[name])}</td>
      </tr>`,
  )
  return html`<figure>
      <div class="plot" role="img" aria-label="Operations a second, over two minutes. Now: ${text}."></div>
    </figure>
    ${tableFrame('Operations a second', ['kind', `a second, over ${shownSeconds} s`], rows, 'rates')}`
}

/** Means over the last seconds. */
function present({ state }: App): Record<RateName, number> {
  const rates = ratesOf(state.operations, nowOf(state), shownSeconds)
  const mean = (name: RateName): number => rates[name].reduce((sum, rate) => sum + rate, 0) / shownSeconds
  return { targeted: mean('targeted'), multi: mean('multi'), broadcast: mean('broadcast'), failed: mean('failed') }
}

/** After the page has been drawn. */
export function drawRates({ state }: App): void {
  const parent = document.querySelector<HTMLElement>('.plot')
  if (parent === null) return
  const look = `${parent.clientWidth} ${isDark()}`
  const endSecond = endSecondOf(state)
  if (drawn?.parent !== parent || drawn.look !== look) {
    drawn?.plot.destroy()
    parent.textContent = ''
    drawn = { plot: newPlot(parent), parent, look, endSecond: 0, events: 0 }
  }
  const { length: events } = state.operations
  if (drawn.endSecond === endSecond && drawn.events === events) return
  Object.assign(drawn, { endSecond, events })
  drawn.plot.setData(dataOf(ratesOf(state.operations, endSecond * 1000, seconds), endSecond))
}

/** The present second is not over, and with a clock that stands still it may never be. */
const endSecondOf = (state: LiveState): number =>
  Math.floor(nowOf(state) / 1000) + (state.cluster?.clock === 'manual' ? 1 : 0)

function dataOf(rates: Rates, endSecond: number): uPlot.AlignedData {
  const times = Array.from({ length: seconds }, (_, i) => endSecond - seconds + i)
  return [times, ...rateNames.map((name) => [...rates[name]])] as unknown as uPlot.AlignedData
}

const timesOf = (_: uPlot, seconds: number[]): string[] => seconds.map((second) => timeText(second * 1000).slice(0, 8))

function newPlot(parent: HTMLElement): uPlot {
  const axis = { stroke: inkColour(), grid: { stroke: ruleColour(), width: 1 }, ticks: { stroke: ruleColour() } }
  const series = rateNames.map((name, i) => ({
    label: titles[name],
    stroke: name === 'failed' ? badColour() : colourOf(i),
    width: name === 'failed' ? 3 : 2,
    dash: dashes[name],
    points: { show: false },
  }))
  const axes = [
    { ...axis, values: timesOf, space: 80 },
    { ...axis, size: 56 },
  ]
  const options: uPlot.Options = {
    ...{ width: parent.clientWidth, height: heightPixels, axes, series: [{}, ...series] },
    ...{ cursor: { drag: { x: false, y: false } }, legend: { live: false } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
  }
  return new uPlot(options, dataOf(ratesOf([], 0, seconds), 0), parent)
}
