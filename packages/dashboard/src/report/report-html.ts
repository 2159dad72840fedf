/** Puts a report into the page that draws it. */
import { readFileSync } from 'node:fs'
import type { ReportPage } from '@shardlab/report'

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** One HTML file that needs no network. Without scripts, it shows the text of the report. */
export function reportHtml(page: ReportPage): string {
  const empty = readFileSync(new URL('../../page/report.html', import.meta.url), 'utf8')
  // Data must not contain the end tag of the script element.
  const data = JSON.stringify({ ...page, text: '' }).replaceAll('<', String.raw`\u003c`)
  return empty
    .replace('<title></title>', () => `<title>${escaped(page.title)}</title>`)
    .replace('<pre></pre>', () => `<pre>${escaped(page.text)}</pre>`)
    .replace(/(<script type="application\/json"[^>]*>)/, (element) => `${element}${data}`)
}
