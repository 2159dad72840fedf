/** Moves the clock of a cluster with a manual clock. */
import { html, nothing, type TemplateResult } from 'lit-html'
import type { App } from './app.js'
import { movedToMs, noteMove } from './now.js'

const stepsMs = [
  ['1 s', 1000],
  ['1 min', 60_000],
  ['1 h', 3_600_000],
] as const
/** Virtual seconds in one of reality. */
const speeds = [1, 10, 60, 600] as const
const tickMs = 250

let speed: number = speeds[1]
let timer: ReturnType<typeof setInterval> | null = null
let isMoving = false

/** Nothing with a real clock. */
export function timeBar(app: App): TemplateResult | typeof nothing {
  if (app.state.cluster?.clock !== 'manual') return nothing
  const isPlaying = timer !== null
  const nowMs = movedToMs()
  const choose = (event: Event): void => {
    speed = Number((event.target as HTMLSelectElement).value)
  }
  return html`<section class="time" aria-label="Virtual time">
    <p class="buttons">
      <button type="button" class="main" @click=${() => toggle(app)}>${isPlaying ? 'Stop the clock' : 'Play'}</button>
      <label
        >Speed
        <select name="speed" @change=${choose}>
          ${speeds.map((each) => html`<option value=${each} ?selected=${each === speed}>${each} ×</option>`)}
        </select></label
      >
      ${stepsMs.map(
        ([text, ms]) =>
          html`<button type="button" ?disabled=${isPlaying} @click=${() => void advance(ms, app)}>+ ${text}</button>`,
      )}
      <span class="soft">${nowMs === null ? 'The clock is manual.' : new Date(nowMs).toISOString()}</span>
    </p>
  </section>`
}

function toggle(app: App): void {
  if (timer !== null) stop()
  else timer = setInterval(() => void tick(app), tickMs)
  app.redraw()
}

function stop(): void {
  if (timer !== null) clearInterval(timer)
  timer = null
}

/** A move that takes longer than a tick delays the next one. */
async function tick(app: App): Promise<void> {
  if (!isMoving && !(await advance(tickMs * speed, app))) stop()
}

async function advance(durationMs: number, app: App): Promise<boolean> {
  isMoving = true
  const reply = await app.run('advance', { durationMs }, '')
  isMoving = false
  if (reply === null) return false
  noteMove((reply as { readonly nowMs: number }).nowMs)
  app.redraw()
  return true
}
