/** The page of a report, which has its data in an element. */
import { html, render } from 'lit-html'
import { dataElement, parseReport } from './parse-report.js'
import { partOf } from './parts.js'

const page = parseReport(document.getElementById(dataElement)!.textContent)
const root = document.querySelector<HTMLElement>('#app')!
let isScheduled = false

/** At most once in a frame. */
function redraw(): void {
  if (isScheduled) return
  isScheduled = true
  requestAnimationFrame(() => {
    isScheduled = false
    draw()
  })
}

function draw(): void {
  render(html`<main>${page.parts.map((part) => partOf(part, redraw))}</main>`, root)
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
draw()
