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
  /** @param argument as it was given; for a merging $group the place of the partial results */
  create(strings: StringComparator | undefined, argument?: RawValue): Accumulator
  /** Checks the argument and gives the expression to evaluate for each document; not called for a merging $group. */
  readonly replaceArgument?: (argument: RawValue) => RawValue
}
