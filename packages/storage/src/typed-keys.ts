/** Keys with what their KeyStrings leave out: as which types numbers and strings are there. Server: type bits, key_string.h. */
import { BsonType, type RawValue } from '@shardlab/bson'
import { labelled } from './collation/labelled.js'
import type { StringLabels } from './collation/string-labels.js'
import type { Index } from './types.js'

/** Does a document give a key of an index of the same values as an earlier one did, types included? To be asked of keys that both have. */
export function hasSameTypes(index: Index, previous: Uint8Array, document: Uint8Array): (key: string) => boolean {
  // Not before a key is asked for: a document that a partial index leaves out may be one whose keys cannot be made.
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
  // What is missing stands in the index as null.
  if (value === undefined) return `${BsonType.null}:`
  const { type } = value
  return `${type}:${Buffer.from((labels === null ? value : labelled(value, labels)).slice()).toString('latin1')}`
}
