import type { Collation, Fields } from '../port.js'

export interface UniqueSpec {
  /** The fields, joined by commas. */
  readonly name: string
  /** Paths, dotted for fields of embedded documents. */
  readonly fields: readonly string[]
  readonly missing: 'reserve' | 'skip'
  readonly normalize: ((value: unknown, field: string) => unknown) | null
  readonly collation: Collation | null
}

export interface UniqueSpecOptions {
  readonly fields: string | readonly string[]
  readonly missing?: 'reserve' | 'skip'
  /**
   * Maps a field's value to the value that has to be unique, `(email) => email.toLowerCase()`. Not
   * called for null.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- the type of the field's values
  readonly normalize?: (value: any, field: string) => unknown
  readonly collation?: Collation
}

/**
 * A string. `string` itself in a union with options would hide the type of `normalize`, because
 * strings have a method of that name.
 */
export type FieldPath = Pick<string, 'toString' | 'startsWith'>

/** Whether the paths are equal or one contains the other. */
export function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}

/** Creates the missing documents on the path. */
export function setAt(document: Fields, path: string, value: unknown): void {
  const parts = path.split('.')
  const last = parts.pop()!
  let at = document
  for (const part of parts) at = (at[part] ??= {}) as Fields
  at[last] = value
}
