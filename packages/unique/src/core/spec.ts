/** Which fields are unique, and what their values are. */
import type { Collation, Fields } from './port.js'

/** One field or combination of fields whose values have to be unique. */
export interface UniqueSpec {
  /** The fields, joined by commas. */
  readonly name: string
  /** Paths, dotted for fields of embedded documents. */
  readonly fields: readonly string[]
  readonly missing: 'reserve' | 'skip'
  readonly normalize: ((value: unknown, field: string) => unknown) | null
  readonly collation: Collation | null
}

/** What a spec may be given as. */
export interface UniqueSpecOptions {
  readonly fields: string | readonly string[]
  readonly missing?: 'reserve' | 'skip'
  /** From a field's value to the value that has to be unique, `(email) => email.toLowerCase()`. Never called for null. */
  normalize?(value: unknown, field: string): unknown
  readonly collation?: Collation
}

/** Is one path the other one, or inside of it? */
export function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

/** Sets the value at a dotted path, making the documents on the way. */
export function setAt(document: Fields, path: string, value: unknown): void {
  const parts = path.split('.')
  const last = parts.pop()!
  let at = document
  for (const part of parts) at = (at[part] ??= {}) as Fields
  at[last] = value
}
