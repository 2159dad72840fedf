/** What a file in modifiers/ gives to the table. */
import { findField, type RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../context.js'
import { formatValue } from '../values/format.js'

/** Take the value away. */
export const removeValue = Symbol('remove')
/** Nothing changes. */
export const keepValue = Symbol('keep')

export type LeafResult = RawValue | typeof removeValue | typeof keepValue

export interface LeafContext {
  readonly evaluation: EvaluationContext
  readonly isInsert: boolean
  /** The path with places filled in, for messages. */
  readonly path: string
  /** `_id: …` of the document as messages print it. */
  documentId(): string
  /** A value elsewhere in the original document ($rename). */
  readonly original: Uint8Array
}

/** How messages name a document. */
export function documentIdText(document: Uint8Array): string {
  const id = findField(document, '_id')
  return id === undefined ? 'no id' : `_id: ${formatValue(id)}`
}

/** A modifier on one path, arguments checked. */
export interface Leaf {
  /** Missing parts of the path are made. */
  readonly createsPath: boolean
  /** Where paths are not made: a value in the way, which has no fields, is no error. Default false. */
  readonly toleratesBlocked?: boolean
  /** Asked before anybody goes down the path: false = it is left alone. Absent = always needed. */
  isNeeded?(original: Uint8Array): boolean
  apply(existing: RawValue | undefined, context: LeafContext): LeafResult
}

export interface LeafAt {
  readonly path: string
  readonly leaf: Leaf
}

export interface Modifier extends OperatorRow {
  /** One field of the modifier's document; most give one leaf at the path. */
  compile(path: string, argument: RawValue, context: EvaluationContext): LeafAt[]
}

export function modifier(
  name: string,
  createsPath: boolean,
  compile: (path: string, argument: RawValue, context: EvaluationContext) => Leaf['apply'],
): Modifier {
  return {
    name,
    manualPage: `update/${name.slice(1)}`,
    status: 'complete',
    compile: (path, argument, context) => [{ path, leaf: { createsPath, apply: compile(path, argument, context) } }],
  }
}
