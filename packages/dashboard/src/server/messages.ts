/** What page and server send each other over the WebSocket, as JSON. */
import type { NumberedDelta } from '../stream/deltas.js'
import type { PageVerb } from './target.js'

export type ToPage =
  | { readonly faultForms: readonly string[] }
  | { readonly deltas: readonly NumberedDelta[] }
  /** The reader is gone: the server closes the connection. */
  | { readonly lost: string }
  | { readonly id: number; readonly reply: object }
  | { readonly id: number; readonly error: string }

export interface FromPage {
  /** Of the reply. */
  readonly id: number
  readonly verb: PageVerb
  readonly fields: Readonly<Record<string, unknown>>
}
