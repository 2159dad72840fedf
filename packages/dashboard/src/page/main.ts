import { html, nothing, render, type TemplateResult } from 'lit-html'
import type { App, View } from './app.js'
import type { PageLogin } from '../server/target.js'
import { Connection } from './connection.js'
import { loginForm } from './login-form.js'
import { balancerView } from './views/balancer-view.js'
import { clusterView } from './views/cluster-view.js'
import { collectionsView } from './views/collections-view.js'
import { dataView } from './views/data-view.js'
import { faultsView } from './views/faults-view.js'
import { operationsView } from './views/operations-view.js'
import { reportView } from './views/report-view.js'
import { keepFocus, pathOfFocus } from './focus.js'
import { heldAtMs, pauseAt, resume, shownMomentOf } from './pause.js'
import { problemsOf } from './problems.js'
import { timeText } from './text.js'
import { timeBar } from './time-bar.js'

const views: readonly View[] = [
  ...[clusterView, collectionsView, operationsView, balancerView, faultsView, dataView],
  reportView,
]
const root = document.querySelector<HTMLElement>('#app')!

interface Notice {
  readonly text: string
  readonly isError: boolean
}

/** A reply that takes longer is announced. */
const waitShownMs = 500

let notice: Notice | null = null
let isScheduled = false

/** What was done may be undone soon, by others too. */
const successShownMs = 10_000
let fading: ReturnType<typeof setTimeout> | undefined

function tell(told: Notice | null): void {
  notice = told
  clearTimeout(fading)
  if (told?.isError === false) fading = setTimeout(() => forget(told), successShownMs)
}

function forget(told: Notice): void {
  if (notice === told) notice = null
  redraw()
}

const connection = new Connection({
  changed: redraw,
  refused: (why) => app.fail(why),
})

const app: App = {
  get state() {
    return shownMomentOf(connection).state
  },
  get history() {
    return shownMomentOf(connection).history
  },
  get isPaused() {
    return heldAtMs() !== null
  },
  get faultForms() {
    return connection.faultForms
  },
  redraw,
  fail(text) {
    tell({ text, isError: true })
    redraw()
  },
  succeed(text) {
    tell({ text, isError: false })
    redraw()
  },
  ask: (verb, fields) => connection.control(verb, fields),
  async run(verb, fields, done) {
    const waiting = setTimeout(() => app.succeed('Waiting for the reply…'), waitShownMs)
    try {
      const reply = await connection.control(verb, fields)
      tell({ text: done, isError: false })
      return reply
    } catch (error) {
      tell({ text: (error as Error).message, isError: true })
      return null
    } finally {
      clearTimeout(waiting)
      redraw()
    }
  },
}

/** At most once in a frame, however many deltas arrive. */
function redraw(): void {
  if (isScheduled) return
  isScheduled = true
  requestAnimationFrame(() => {
    isScheduled = false
    draw()
  })
}

const present = (): View => views.find(({ name }) => `#${name}` === location.hash) ?? views[0]!

function draw(): void {
  const view = present()
  const focused = pathOfFocus(root)
  document.title = `${view.title} – Shardlab`
  render(
    html`${header(view)} ${timeBar(app)} ${messages()}
      <main>${needsLogin(view) ? loginForm(logIn) : isDrawn(view) ? view.draw(app) : waiting()}</main>`,
    root,
  )
  if (isDrawn(view)) view.drawn?.(app)
  keepFocus(focused)
}

/** A report is a file of the reader, and needs no cluster. */
const needsLogin = (view: View): boolean => connection.needsLogin && view !== reportView
const isDrawn = (view: View): boolean => view === reportView || (app.state.isReady && !connection.needsLogin)

function header(view: View): TemplateResult {
  const { cluster, isReady } = app.state
  return html`<header>
    <p class="cluster">
      <strong>Shardlab</strong> ${cluster === null ? '' : html`MongoDB ${cluster.emulate} <code>${cluster.uri}</code>`}
    </p>
    <nav aria-label="Views">
      ${views.map(
        ({ name, title }) =>
          html`<a href="#${name}" aria-current=${name === view.name ? 'page' : nothing}>${title}</a>`,
      )}
    </nav>
    <p class="health">
      ${health()}
      <button type="button" ?disabled=${!isReady} @click=${togglePause}>
        ${app.isPaused ? 'Resume the page' : 'Pause the page'}
      </button>
    </p>
  </header>`
}

function health(): TemplateResult {
  const status = (tone: 'soft' | 'fine' | 'warn' | 'bad', text: string): TemplateResult =>
    html`<span class=${tone} role="status">${text}</span>`
  const { isOpen, needsLogin, state } = connection
  const atMs = heldAtMs()
  if (atMs !== null) return status('warn', `▲ paused at ${timeText(atMs).slice(0, 8)} (UTC)`)
  if (!isOpen || needsLogin || !state.isReady) return status('soft', 'state unknown')
  const count = problemsOf(state).length
  return count === 0 ? status('fine', '✓ nothing is broken') : status('bad', `✕ ${count} broken`)
}

async function logIn(login: PageLogin): Promise<void> {
  try {
    await connection.logIn(login)
    tell(null)
  } catch (error) {
    tell({ text: (error as Error).message, isError: true })
  }
  redraw()
}

function togglePause(): void {
  if (app.isPaused) resume()
  else pauseAt(connection)
  redraw()
}

function messages(): TemplateResult {
  const { isOpen, lost } = connection
  const failure = notice?.isError === true ? ` ${notice.text}` : ''
  const shown = isOpen || !connection.state.isReady ? notice : { text: `${lostText(lost)}${failure}`, isError: true }
  return html`<div class="notice ${shown?.isError === true ? 'bad' : 'fine'}" role="alert">
    ${shown === null ? '' : html`<span>${shown.text}</span>`}
  </div>`
}

const lostText = (why: string | null): string =>
  `The connection is lost. The page shows the last state and connects again.${why === null ? '' : ` The reason: ${why}`}`

const waiting = (): TemplateResult =>
  html`<p class="loading">${connection.isOpen ? 'Reading the cluster…' : 'Connecting…'}</p>`

addEventListener('hashchange', () => {
  tell(null)
  redraw()
})
addEventListener('resize', redraw)
// Bars of the timeline that have not ended grow with time.
setInterval(() => void (app.isPaused || redraw()), 1000)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
root.textContent = ''
redraw()
connection.open()
