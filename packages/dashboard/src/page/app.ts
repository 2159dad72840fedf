/** What views get from the page. */
import type { TemplateResult } from 'lit-html'
import type { PageVerb } from '../server/target.js'
import type { LiveState } from '../stream/live-state.js'
import type { ChunkHistory } from './chunk-history.js'

export interface App {
  /** What the page shows: while it is paused, the state of that moment. */
  readonly state: LiveState
  readonly history: ChunkHistory
  readonly isPaused: boolean
  readonly faultForms: readonly string[]
  /** Draws the page again, soon. */
  redraw(): void
  /**
   * Runs a command and shows its outcome at the top of the page.
   * @param done a sentence for its success
   * @returns null: it failed
   */
  run(verb: PageVerb, fields: Readonly<Record<string, unknown>>, done: string): Promise<object | null>
  /** Runs a command and shows nothing. @throws Error with a sentence */
  ask(verb: PageVerb, fields: Readonly<Record<string, unknown>>): Promise<object>
  /** Shows why something was not done, at the top of the page. */
  fail(text: string): void
  /** Shows what was done, there. */
  succeed(text: string): void
}

export interface View {
  readonly name: string
  readonly title: string
  draw(app: App): TemplateResult
  /** After the page has been drawn: canvases. */
  drawn?(app: App): void
}
