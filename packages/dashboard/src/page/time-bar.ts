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

/** While the clock stands still. */
let chosen: number = speeds[1]

/** Nothing with a real clock. */
export function timeBar(app: App): TemplateResult | typeof nothing {
  if (app.state.cluster?.clock !== 'manual') return nothing
  const { clock } = app.state
  const playing = clock?.speed ?? null
  const isMoving = playing !== null || (clock?.untilMs ?? null) !== null
  const play = (speed: number | null): void => void app.run('playClock', { speed }, '')
  const choose = (event: Event): void => {
    chosen = Number((event.target as HTMLSelectElement).value)
    if (playing !== null) play(chosen)
    app.redraw()
  }
  return html`<section class="time" aria-label="Virtual time">
    <p class="buttons">
      <button type="button" class="main" @click=${() => play(isMoving ? null : chosen)}>
        ${isMoving ? 'Stop the clock' : 'Play'}
      </button>
      <label
        >Speed
        <select name="speed" @change=${choose}>
          ${speeds.map((each) => html`<option value=${each} ?selected=${each === (playing ?? chosen)}>${each} ×</option>`)}
        </select></label
      >
      ${stepsMs.map(
        ([text, durationMs]) =>
          html`<button type="button" ?disabled=${isMoving} @click=${() => void app.run('advance', { durationMs }, '')}>
            + ${text}
          </button>`,
      )}
      <span class="soft">${clock === null ? '' : dateText(nowOf(app.state))}</span>
    </p>
  </section>`
}

const dateText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 10)} ${timeText(ms)}`
