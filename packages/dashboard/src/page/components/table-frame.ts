import { html, type TemplateResult } from 'lit-html'

/**
 * A table that scrolls by itself.
 * @param label for screen readers
 * @param kind class of the table
 */
export function tableFrame(
  label: string,
  columns: readonly string[],
  rows: readonly TemplateResult[],
  kind = '',
): TemplateResult {
  const head = html`<tr>
    ${columns.map((column) => html`<th scope="col">${column}</th>`)}
  </tr>`
  return tableWithHead(label, head, rows, kind)
}

/** @param head rows of titles */
export function tableWithHead(
  label: string,
  head: TemplateResult,
  rows: readonly TemplateResult[],
  kind: string,
): TemplateResult {
  return html`<div class="wide" tabindex="0" role="region" aria-label=${label}>
    <table class=${kind}>
      <thead>
        ${head}
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}

/** For tables of what happens while the page is open. */
export const noneSinceOpened = 'None since the page was opened.'

/**
 * A {@link tableFrame}, or a text when it has no rows.
 * @param emptyText a sentence
 */
export function tableOrText(emptyText: string, ...frame: Parameters<typeof tableFrame>): TemplateResult {
  const [, , rows] = frame
  return rows.length === 0 ? html`<p>${emptyText}</p>` : tableFrame(...frame)
}
