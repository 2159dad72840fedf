import { findField, type RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../context.js'
import { formatValue } from '../values/format.js'

export const removeValue = Symbol('remove')
export const keepValue = Symbol('keep')

export type LeafResult = RawValue | typeof removeValue | typeof keepValue

export interface LeafContext {
  readonly evaluation: EvaluationContext
  readonly isInsert: boolean
  /** For messages, with positional parts replaced by indexes. */
  readonly path: string
  /** `_id: …` as messages print it. */
  documentId(): string
  /** The document before the update, for values elsewhere in it ($rename). */
  readonly original: Uint8Array
}

export function documentIdText(document: Uint8Array): string {
  const id = findField(document, '_id')
  return id === undefined ? 'no id' : `_id: ${formatValue(id)}`
}

export interface Leaf {
  /** Missing parts of the path are created. */
  readonly createsPath: boolean
  /** A value that cannot contain the next part of the path is not an error. Default false. */
  readonly toleratesBlocked?: boolean
  /** Called before the path is walked; false: the leaf changes nothing. */
  isNeeded?(original: Uint8Array): boolean
  apply(existing: RawValue | undefined, context: LeafContext): LeafResult
  /** It removes the field, if there is one. Default false. */
  readonly removes?: boolean
  /** Whether it only appends elements to an array of this length. Default: no. */
  appendsTo?(length: number): boolean
}

export interface LeafAt {
  readonly path: string
  readonly leaf: Leaf
}

export interface Modifier extends OperatorRow {
  /** For one field of the modifier's document; most give one leaf at the path. */
  compile(path: string, argument: RawValue, context: EvaluationContext): LeafAt[]
}

export function modifier(
  name: string,
  createsPath: boolean,
  compile: (
    path: string,
    argument: RawValue,
    context: EvaluationContext,
  ) => Leaf['apply'] | Pick<Leaf, 'apply' | 'appendsTo'>,
): Modifier {
  return {
    name,
    manualPage: `update/${name.slice(1)}`,
    status: 'complete',
    compile(path, argument, context) {
      const made = compile(path, argument, context)
      return [{ path, leaf: typeof made === 'function' ? { createsPath, apply: made } : { createsPath, ...made } }]
    },
  }
}
