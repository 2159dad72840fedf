/** Moves the clock of a cluster with a manual clock, which all pages share. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from './app.js'
import { nowOf } from './now.js'
import { timeText } from './text.js'

const stepsMs = [
  ['1 s', 1000],
  ['1 min', 60_000],
  ['1 h', 3_600_000],
] as const
/** Virtual seconds in one of reality. */
const speeds = [1, 10, 60, 600] as const

/** A long move is one of many such, so that the page shows its progress and can stop it. */
const moveMsMax = 60_000

/** While the clock stands still. */
let chosen: number = speeds[1]
/** Of a move, still to come. */
let leftMs = 0

/** Nothing with a real clock. */
export function timeBar(app: App): TemplateResult | typeof nothing {
  if (app.state.cluster?.clock !== 'manual') return nothing
  const { clock } = app.state
  const playing = clock?.speed ?? null
  const isMoving = playing !== null || leftMs > 0
  const play = (speed: number | null): void => void app.run('playClock', { speed }, '')
  const toggle = (): void => {
    leftMs = 0
    play(isMoving ? null : chosen)
  }
  const choose = (event: Event): void => {
    chosen = Number((event.target as HTMLSelectElement).value)
    if (playing !== null) play(chosen)
    app.redraw()
  }
  return html`<section class="time" aria-label="Virtual time">
    <p class="buttons">
      <button type="button" class="main" @click=${toggle}>${isMoving ? 'Stop the clock' : 'Play'}</button>
      <label
        >Speed
        <select name="speed" @change=${choose}>
          ${speeds.map((each) => html`<option value=${each} ?selected=${each === (playing ?? chosen)}>${each} ×</option>`)}
        </select></label
      >
      ${stepsMs.map(
        ([text, durationMs]) =>
          html`<button type="button" ?disabled=${isMoving} @click=${() => void move(durationMs, app)}>
            + ${text}
          </button>`,
      )}
      <span class="soft">${clock === null ? '' : dateText(nowOf(app.state))}</span>
    </p>
  </section>`
}

async function move(durationMs: number, app: App): Promise<void> {
  leftMs = durationMs
  app.redraw()
  while (leftMs > 0) {
    const nextMs = Math.min(leftMs, moveMsMax)
    const reply = await app.run('advance', { durationMs: nextMs }, '')
    // Meanwhile the reader may have stopped it.
    leftMs = reply === null ? 0 : Math.max(0, leftMs - nextMs)
  }
  app.redraw()
}

const dateText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 10)} ${timeText(ms)}`
