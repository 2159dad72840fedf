/** The types of update operators. */
import { findField, type RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../context.js'
import { formatValue } from '../values/format.js'

/** Removes the value. */
export const removeValue = Symbol('remove')
/** Nothing changes. */
export const keepValue = Symbol('keep')

export type LeafResult = RawValue | typeof removeValue | typeof keepValue

export interface LeafContext {
  readonly evaluation: EvaluationContext
  readonly isInsert: boolean
  /** The path with positional parts replaced by indexes, for messages. */
  readonly path: string
  /** `_id: …` of the document as messages print it. */
  documentId(): string
  /** The document before the update, for values elsewhere in it ($rename). */
  readonly original: Uint8Array
}

/** The document's name in messages. */
export function documentIdText(document: Uint8Array): string {
  const id = findField(document, '_id')
  return id === undefined ? 'no id' : `_id: ${formatValue(id)}`
}

/** A modifier on one path, with checked arguments. */
export interface Leaf {
  /** Missing parts of the path are created. */
  readonly createsPath: boolean
  /**
   * Where paths are not created: a value that cannot contain the next part is not an error. Default
   * false.
   */
  readonly toleratesBlocked?: boolean
  /**
   * Called before the path is walked; false: the leaf changes nothing. Absent: the path is always
   * walked.
   */
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
