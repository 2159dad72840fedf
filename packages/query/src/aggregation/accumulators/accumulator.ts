/** Accumulators of $group, $bucket and $bucketAuto; most are also window functions. */
import { BsonType, CommandError, type RawValue, type StringComparator } from '@shardlab/bson'
import type { OperatorRow } from '../../context.js'
import type { ValueStore } from '../../values/value-store.js'

export interface Accumulator {
  add(value: RawValue | undefined): void
  merge(partial: RawValue): void
  /** What a shard sends to the merger. */
  partial(): RawValue
  /** Callers may call it again after adding more values. */
  result(): RawValue
  /** Of those that keep many values. */
  readonly heldBytes?: number
}

export interface AccumulatorSetting {
  /** As the user wrote it. */
  readonly argument: RawValue
  /** The value of {@link AccumulatorOperator.countOf} for this group. */
  readonly n: RawValue | undefined
}

export interface AccumulatorOperator extends OperatorRow {
  /**
   * @param values for what the accumulator keeps; the accumulators of all groups share one
   * @param setting absent in a merging $group: the partial results contain the settings
   */
  create(values: ValueStore, strings: StringComparator | undefined, setting?: AccumulatorSetting): Accumulator
  /**
   * Checks the argument and returns the expression to evaluate for each document. Not called by a
   * merging $group.
   */
  evaluatedOf(argument: RawValue): RawValue
  /** The expression for `n`, which is evaluated on the group's `_id`. */
  countOf?(argument: RawValue): RawValue | undefined
}

/** @throws CommandError 40237 for an array: the argument is one expression */
export function oneExpression(name: string): (argument: RawValue) => RawValue {
  return (argument) => {
    if (argument.type === BsonType.array) throw new CommandError(40237, `The ${name} accumulator is a unary operator`)
    return argument
  }
}

/** The default of `internalQueryMaxPushBytes` and similar parameters. */
const maxHeldBytes = 100 * 1024 * 1024

/** Counts what an accumulator with closures holds. */
export class HeldBytes {
  readonly #name: string
  #bytes = 0

  constructor(name: string) {
    this.#name = name
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws CommandError 146 ExceededMemoryLimit */
  add(value: RawValue): void {
    this.#bytes = heldWith(this.#name, this.#bytes, value)
  }

  remove(value: RawValue): void {
    this.#bytes -= sizeOf(value)
  }
}

/**
 * What an accumulator holds with one more value.
 * @throws CommandError 146 ExceededMemoryLimit
 */
export function heldWith(name: string, heldBytes: number, value: RawValue): number {
  const bytes = heldBytes + sizeOf(value)
  if (bytes > maxHeldBytes)
    throw new CommandError(
      'ExceededMemoryLimit',
      `${name} used too much memory and cannot spill to disk. Used: ${bytes} bytes. Memory limit: ${maxHeldBytes} bytes`,
    )
  return bytes
}

const sizeOf = (value: RawValue): number => value.end - value.start + 16
