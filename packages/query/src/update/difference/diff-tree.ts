/** Server: diff_tree.h, document_diff_serialization.h. */
import { DocumentWriter, type RawValue } from '@shardlab/bson'

/** `{ d: { field: false }, u: { field: value }, i: { field: value }, s<field>: difference }`. */
export class ObjectDiff {
  readonly deleted: string[] = []
  readonly updated: (readonly [name: string, value: RawValue])[] = []
  readonly inserted: (readonly [name: string, value: RawValue])[] = []
  readonly changed: (readonly [name: string, diff: Diff])[] = []

  write(writer: DocumentWriter): void {
    if (this.deleted.length > 0) {
      writer.startDocument('d')
      for (const name of this.deleted) writer.bool(name, false)
      writer.end()
    }
    writeSection(writer, 'u', this.updated)
    writeSection(writer, 'i', this.inserted)
    for (const [name, diff] of this.changed) writeNested(writer, `s${name}`, diff)
  }
}

/** `{ a: true, l: length, u<index>: value, s<index>: difference }`. */
export class ArrayDiff {
  /** The array becomes shorter. */
  length: number | null = null
  /** In order. */
  readonly elements: (readonly [index: number, change: RawValue | Diff])[] = []

  write(writer: DocumentWriter): void {
    writer.bool('a', true)
    if (this.length !== null) writer.int32('l', this.length)
    for (const [index, change] of this.elements) {
      if (isDiff(change)) writeNested(writer, `s${index}`, change)
      else writer.value(`u${index}`, change)
    }
  }
}

export type Diff = ObjectDiff | ArrayDiff

export function encodeDiff(diff: Diff): Uint8Array {
  const writer = new DocumentWriter()
  diff.write(writer)
  return writer.finish()
}

function writeSection(
  writer: DocumentWriter,
  name: string,
  fields: readonly (readonly [name: string, value: RawValue])[],
): void {
  if (fields.length === 0) return
  writer.startDocument(name)
  for (const [field, value] of fields) writer.value(field, value)
  writer.end()
}

function writeNested(writer: DocumentWriter, name: string, diff: Diff): void {
  writer.startDocument(name)
  diff.write(writer)
  writer.end()
}

function isDiff(change: RawValue | Diff): change is Diff {
  return change instanceof ObjectDiff || change instanceof ArrayDiff
}
