/** Accumulators of $group. */
import type { RawValue, StringComparator } from '@shardlab/bson'
import type { OperatorRow } from '../../context.js'

export interface Accumulator {
  /** One more value; undefined when the expression gave none. */
  add(value: RawValue | undefined): void
  /** One shard's {@link partial}. */
  merge(partial: RawValue): void
  /** What a shard sends to the merger. */
  partial(): RawValue
  result(): RawValue
}

export interface AccumulatorOperator extends OperatorRow {
  create(strings: StringComparator | undefined): Accumulator
  /** Refuses arguments before they are compiled ($count takes none). */
  readonly replaceArgument?: (argument: RawValue) => RawValue
}
