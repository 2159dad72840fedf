/**
 * KeyStrings leave out the types of numbers and strings; these functions compare them. Server: type
 * bits, key_string.h.
 */
import { BsonType, type RawValue } from '@shardlab/bson'
import { labelled } from '../collation/labelled.js'
import type { StringLabels } from '../collation/string-labels.js'
import type { Index } from '../engine/types.js'

/**
 * Whether two documents give the same key from values of the same types. Call the result with keys
 * that both have.
 */
export function compareKeyTypes(index: Index, previous: Uint8Array, document: Uint8Array): (key: string) => boolean {
  // Lazily: keys of a document that a partial index excludes may be invalid.
  let typed: readonly [before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>] | null = null
  return (key) => {
    typed ??= [typedKeys(index, previous), typedKeys(index, document)]
    return typed[0].get(key) === typed[1].get(key)
  }
}

function typedKeys(index: Index, document: Uint8Array): ReadonlyMap<string, string> {
  const typed = new Map<string, string>()
  for (const tuple of index.tuplesOf(document)) {
    const key = index.encode(tuple)
    if (!typed.has(key)) typed.set(key, tuple.map((value) => textOf(value, index.labels)).join())
  }
  return typed
}

function textOf(value: RawValue | undefined, labels: StringLabels | null): string {
  if (value === undefined) return `${BsonType.null}:`
  const { type } = value
  return `${type}:${Buffer.from((labels === null ? value : labelled(value, labels)).slice()).toString('latin1')}`
}
