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
import { problemsOf } from './problems.js'
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

let notice: Notice | null = null
let isPaused = false
let isScheduled = false

const connection = new Connection({
  changed: () => void (isPaused || redraw()),
  refused: (why) => app.fail(why),
})

const app: App = {
  get state() {
    return connection.state
  },
  history: connection.history,
  get faultForms() {
    return connection.faultForms
  },
  redraw,
  fail(text) {
    notice = { text, isError: true }
    redraw()
  },
  succeed(text) {
    notice = { text, isError: false }
    redraw()
  },
  ask: (verb, fields) => connection.control(verb, fields),
  async run(verb, fields, done) {
    try {
      const reply = await connection.control(verb, fields)
      notice = { text: done, isError: false }
      return reply
    } catch (error) {
      notice = { text: (error as Error).message, isError: true }
      return null
    } finally {
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
  const { state } = connection
  document.title = `${view.title} – Shardlab`
  render(
    html`${header(view)} ${timeBar(app)} ${messages()}
      <main>${connection.needsLogin ? loginForm(logIn) : state.isReady ? view.draw(app) : waiting()}</main>`,
    root,
  )
  if (state.isReady && !connection.needsLogin) view.drawn?.(app)
}

function header(view: View): TemplateResult {
  const { cluster } = connection.state
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
      <button type="button" @click=${togglePause}>${isPaused ? 'Resume' : 'Pause'}</button>
    </p>
  </header>`
}

function health(): TemplateResult {
  const status = (tone: 'soft' | 'fine' | 'bad', text: string): TemplateResult =>
    html`<span class=${tone} role="status">${text}</span>`
  const { isOpen, needsLogin, state } = connection
  if (!isOpen || needsLogin || !state.isReady) return status('soft', 'state unknown')
  const count = problemsOf(state).length
  return count === 0 ? status('fine', '✓ nothing is broken') : status('bad', `✕ ${count} broken`)
}

async function logIn(login: PageLogin): Promise<void> {
  try {
    await connection.logIn(login)
    notice = null
  } catch (error) {
    notice = { text: (error as Error).message, isError: true }
  }
  redraw()
}

function togglePause(): void {
  isPaused = !isPaused
  redraw()
}

function messages(): TemplateResult {
  const { isOpen, lost } = connection
  const shown = isOpen || !connection.state.isReady ? notice : { text: lostText(lost), isError: true }
  return html`<div class="notice ${shown?.isError === true ? 'bad' : 'fine'}" role="alert">
    ${shown === null ? '' : html`<span>${shown.text}</span>`}
  </div>`
}

const lostText = (why: string | null): string =>
  `The connection is lost${why === null ? '' : ` (${why})`}: the page shows the last state and connects again.`

const waiting = (): TemplateResult =>
  html`<p class="loading">${connection.isOpen ? 'Reading the cluster…' : 'Connecting…'}</p>`

addEventListener('hashchange', () => {
  notice = null
  redraw()
})
addEventListener('resize', redraw)
// Bars of the timeline that have not ended grow with time.
setInterval(() => void (isPaused || redraw()), 1000)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
root.textContent = ''
redraw()
connection.open()
