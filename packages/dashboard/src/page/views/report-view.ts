/** Opens the file of a report: of simulate, load or swarm. */
import type { ReportPage } from '@shardlab/report'
import { html, nothing } from 'lit-html'
import { guard } from 'lit-html/directives/guard.js'
import type { App, View } from '../app.js'
import { isDark } from '../components/palette.js'
import { dataElement, parseReport } from '../report/parse-report.js'
import { partOf } from '../report/parts.js'

let page: ReportPage | null = null
/** Of what the reader has chosen in the report. */
let version = 0

export const reportView: View = {
  name: 'report',
  title: 'Report',
  draw: (app) => {
    const redraw = (): void => {
      version++
      app.redraw()
    }
    const open = (event: Event): void => {
      const [file] = (event.target as HTMLInputElement).files ?? []
      if (file !== undefined) void openFile(file, app)
    }
    return html`<h1>Report</h1>
      <p>
        <label
          >File that <code>shardlab simulate --report</code>, <code>load --html</code> or
          <code>swarm --report</code> wrote <input type="file" name="report" accept=".html" @change=${open}
        /></label>
      </p>
      ${guard([page, version, isDark()], () => (page === null ? nothing : page.parts.map((part) => partOf(part, redraw))))}`
  },
}

async function openFile(file: File, app: App): Promise<void> {
  try {
    const text = await file.text()
    if (text.trimStart().startsWith('{')) throw new Error('It is JSON: choose the HTML file of the report.')
    // Such a document runs no scripts.
    const data = new DOMParser().parseFromString(text, 'text/html').getElementById(dataElement)
    if (data === null) throw new Error('It is not the HTML file of a report.')
    page = parseReport(data.textContent)
    app.succeed(`${file.name} is shown.`)
  } catch (error) {
    app.fail(`${file.name} cannot be shown. ${(error as Error).message}`)
  }
}
