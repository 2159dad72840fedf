/** What a reader has opened or chosen in a part of the page, for as long as its data exist. */
import { html, nothing, type TemplateResult } from 'lit-html'

const states = new WeakMap<object, Map<string, unknown>>()

/** @param name tells several states of the same data apart */
export function stateOf<State extends object>(data: object, name: string, initial: () => State): State {
  const own = states.get(data) ?? new Map<string, unknown>()
  states.set(data, own)
  if (!own.has(name)) own.set(name, initial())
  return own.get(name) as State
}

export interface LazyDetails {
  /** Data that stay the same object. */
  readonly of: object
  readonly name: string
  readonly summary: string
  readonly isOpen?: boolean
  readonly redraw: () => void
}

/** While they are closed, they have no content: a table may have thousands of rows. */
export function lazyDetails(
  { of, name, summary, isOpen = false, redraw }: LazyDetails,
  content: () => TemplateResult,
): TemplateResult {
  const state = stateOf(of, name, () => ({ isOpen }))
  const toggle = (event: Event): void => {
    const { open } = event.currentTarget as HTMLDetailsElement
    if (open === state.isOpen) return
    state.isOpen = open
    redraw()
  }
  return html`<details ?open=${state.isOpen} @toggle=${toggle}>
    <summary>${summary}</summary>
    ${state.isOpen ? content() : nothing}
  </details>`
}
