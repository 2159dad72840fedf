/** Horizontal bars with their names and values. */
import { html, svg, type TemplateResult } from 'lit-html'

export interface Bar {
  readonly name: string
  readonly value: number
  readonly shown: string
  readonly colour: string
}

/** @param most the value of a bar that is as long as there is room */
export function bars(all: readonly Bar[], most: number): TemplateResult {
  const share = (value: number): string => `${(100 * value) / Math.max(most, Number.MIN_VALUE)}%`
  return html`<ul class="bars">
    ${all.map(
      ({ name, value, shown, colour }) =>
        html`<li>
          <span class="name">${name}</span>
          <svg aria-hidden="true">${svg`<rect width=${share(value)} height="100%" fill=${colour}></rect>`}</svg>
          <span class="shown">${shown}</span>
        </li>`,
    )}
  </ul>`
}

/**
 * A cell for each bar, filled in proportion, where there is no room for bars.
 * @param all null: no such shard
 */
export function cells(all: readonly (Bar | null)[], most: number): TemplateResult {
  return html`<div class="cells">
    ${all.map((bar) => {
      const share = bar === null ? 0 : (100 * bar.value) / Math.max(most, Number.MIN_VALUE)
      const fill = svg`<rect y="${100 - share}%" width="100%" height="${share}%" fill=${bar?.colour ?? 'none'}></rect>`
      return html`<svg aria-hidden="true">
        ${fill}${bar === null ? '' : svg`<title>${bar.name}: ${bar.shown}</title>`}
      </svg>`
    })}
  </div>`
}
