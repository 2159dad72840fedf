/** Names of shards with their colours. A click on one, or the pointer over it, stresses it. */
import { html, svg, type TemplateResult } from 'lit-html'
import { manyColours } from './palette.js'

export interface ShardNames {
  readonly shards: readonly string[]
  /** Places of those that are listed. */
  readonly present: readonly number[]
  readonly stressed: number | null
  readonly stress: (shard: number | null) => void
}

export function shardNames({ shards, present, stressed, stress }: ShardNames): TemplateResult {
  const colours = manyColours(shards.length)
  return html`<p class="shards" role="group" aria-label="Stress a shard">
    ${present.map((shard) => {
      const square = svg`<rect width="12" height="12" rx="2" fill=${colours[shard]!}></rect>`
      return html`<button
        type="button"
        aria-pressed=${shard === stressed}
        @click=${() => stress(shard === stressed ? null : shard)}
      >
        <svg class="key" viewBox="0 0 12 12" aria-hidden="true">${square}</svg>${shards[shard]}
      </button>`
    })}
  </p>`
}
