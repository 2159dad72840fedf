/** Documents below each other: long ones are shortened, and can be opened. */
import { html, type TemplateResult } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import { readable, shortened, withoutBidi } from '../json-texts.js'

export interface ListedDocument {
  /** Extended JSON. */
  readonly document: string
  /** Before the document, for one that needs attention. */
  readonly mark?: string
}

export const documentList = (documents: readonly ListedDocument[]): TemplateResult =>
  html`<ul class="documents">
    ${documents.map(
      ({ document, mark }) =>
        html`<li class=${mark === undefined ? '' : 'warn'}>
          ${keyed(document, textOf(document, mark === undefined ? '' : `${mark} `))}
        </li>`,
    )}
  </ul>`

/** A new document is closed, also in the place of one that was open. */
function textOf(text: string, mark: string): TemplateResult {
  const document = withoutBidi(text)
  const short = shortened(document)
  if (short === document) return html`${mark}<code>${document}</code>`
  return html`<details>
    <summary>${mark}<code>${short}</code></summary>
    <pre class="reply" tabindex="0" aria-label="Document">${readable(document)}</pre>
  </details>`
}
