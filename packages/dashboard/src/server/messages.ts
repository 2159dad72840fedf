/** What page and server send each other over the WebSocket, as JSON. */
import type { NumberedDelta } from '../stream/deltas.js'
import type { PageFields, PageLogin, PageVerb } from './target.js'

export type ToPage =
  /** The first message. */
  | { readonly faultForms: readonly string[]; readonly needsLogin: boolean }
  | { readonly deltas: readonly NumberedDelta[] }
  /** The reader is gone: the server closes the connection. */
  | { readonly lost: string }
  | { readonly id: number; readonly reply: object }
  | { readonly id: number; readonly error: string }

/** With the id of its reply. */
export type FromPage = { readonly id: number } & (
  | { readonly login: PageLogin }
  | { readonly verb: PageVerb; readonly fields: PageFields }
)
