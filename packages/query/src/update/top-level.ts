/**
 * Copies the unchanged bytes of the document and inserts the new values between them: no tree. Same
 * results as applyLeaf.
 */
import { asBuffer, cstringEnd, valueEnd, RawValue, writeInt32 } from '@shardlab/bson'
import type { ApplyContext } from './apply-leaf.js'
import { keepValue, removeValue, type Leaf } from './modifier.js'
import { checkStoredField } from './stored-names.js'
import type { UpdatePath } from './update-path.js'

export interface Step {
  readonly path: UpdatePath
  readonly leaf: Leaf
}

interface Edit {
  /** The field replaces the bytes from..to of the document. */
  readonly from: number
  readonly to: number
  /** Null removes the field. */
  readonly value: RawValue | null
  readonly name: Uint8Array
}

export function applyTopLevel(document: Uint8Array, steps: readonly Step[], context: ApplyContext): Uint8Array | null {
  const edits: Edit[] = []
  const end = document.length - 1
  let size = document.length
  for (const { path, leaf } of steps) {
    const name = path.nameBytes
    const at = findHeader(document, name)
    let existing: RawValue | undefined
    if (at >= 0) {
      const start = at + name.length + 2
      existing = new RawValue(document[at]!, document, start, valueEnd(document[at]!, document, start))
    }
    const result = leaf.apply(existing, leafContext(context, path.dotted))
    if (result === keepValue || (result === removeValue && existing === undefined)) continue
    const value = result === removeValue ? null : result
    if (value !== null) checkStoredField(path.names, value, context.isInsert, context.evaluation)
    const from = existing === undefined ? end : at
    const to = existing === undefined ? end : existing.end
    edits.push({ from, to, value, name })
    size += (value === null ? 0 : value.end - value.start + name.length + 2) - (to - from)
  }
  if (edits.length === 0) return null
  return splice(document, size, edits)
}

function leafContext(context: ApplyContext, path: string) {
  return {
    evaluation: context.evaluation,
    isInsert: context.isInsert,
    original: context.original,
    documentId: context.documentId,
    path,
  }
}

/** The offset of its type byte, or -1. Of repeated names the first counts. */
function findHeader(document: Uint8Array, name: Uint8Array): number {
  const length = name.length
  let at = 4
  for (;;) {
    const type = document[at]!
    if (type === 0) return -1
    let i = 0
    while (i < length && document[at + 1 + i] === name[i]) i++
    if (i === length && document[at + 1 + i] === 0) return at
    at = valueEnd(type, document, cstringEnd(document, at + 1 + i))
  }
}

function splice(document: Uint8Array, size: number, edits: readonly Edit[]): Uint8Array {
  // Steps are in the order of names. New fields keep this order at the end of the document.
  const ordered = edits.length === 1 ? edits : edits.toSorted((a, b) => a.from - b.from)
  const result = Buffer.allocUnsafe(size)
  const source = asBuffer(document)
  let read = 4
  let write = 4
  const copy = (bytes: Uint8Array, from: number, to: number): void => {
    if (to - from < 24) for (let i = from; i < to; i++) result[write++] = bytes[i]!
    else {
      ;(bytes === document ? source : asBuffer(bytes)).copy(result, write, from, to)
      write += to - from
    }
  }
  for (const { from, to, value, name } of ordered) {
    copy(document, read, from)
    read = to
    if (value === null) continue
    result[write++] = value.type
    copy(name, 0, name.length)
    result[write++] = 0
    copy(value.bytes, value.start, value.end)
  }
  copy(document, read, document.length)
  writeInt32(result, 0, size)
  return result
}
