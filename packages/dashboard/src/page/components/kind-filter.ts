/** Boxes that hide kinds of events. */
import { html, type TemplateResult } from 'lit-html'

export interface KindFilter {
  readonly kinds: readonly { readonly name: string; readonly title: string }[]
  readonly hidden: Set<string>
  readonly redraw: () => void
}

/** Toggles names in `hidden`. */
export function kindFilter({ kinds, hidden, redraw }: KindFilter): TemplateResult {
  const toggle = (name: string): void => {
    if (!hidden.delete(name)) hidden.add(name)
    redraw()
  }
  return html`<p class="buttons" role="group" aria-label="Kinds of events">
    ${kinds.map(
      ({ name, title }) =>
        html`<label class="kind"
          ><input type="checkbox" name=${name} .checked=${!hidden.has(name)} @change=${() => toggle(name)} />
          ${title}</label
        >`,
    )}
  </p>`
}
