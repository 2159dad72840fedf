/** Accumulators of $group, $bucket and $bucketAuto; most are window functions too. */
import { BsonType, CommandError, type RawValue, type StringComparator } from '@shardlab/bson'
import type { OperatorRow } from '../../context.js'

export interface Accumulator {
  /** One more value; undefined when the expression gave none. */
  add(value: RawValue | undefined): void
  /** One shard's {@link partial}. */
  merge(partial: RawValue): void
  /** What a shard sends to the merger. */
  partial(): RawValue
  /** May be asked for more than once, with further values between. */
  result(): RawValue
  /** Of those that keep many values: how much. */
  readonly held?: HeldBytes
}

/** What an accumulator is made with, beside the collation. */
export interface AccumulatorSetting {
  /** The argument as it was given. */
  readonly argument: RawValue
  /** The value of {@link AccumulatorOperator.countOf} for this group. */
  readonly n: RawValue | undefined
}

export interface AccumulatorOperator extends OperatorRow {
  /** @param setting absent for a merging $group: what is needed then comes with the partial results */
  create(strings: StringComparator | undefined, setting?: AccumulatorSetting): Accumulator
  /** Checks the argument and gives the expression to evaluate for each document; not called for a merging $group. */
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

/** Bytes that one accumulator may hold, as the server's parameters `internalQueryMaxPushBytes` and its like. */
const maxHeldBytes = 100 * 1024 * 1024

/** Counts what an accumulator keeps. */
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
    this.#bytes += sizeOf(value)
    if (this.#bytes > maxHeldBytes)
      throw new CommandError(
        'ExceededMemoryLimit',
        `${this.#name} used too much memory and cannot spill to disk. Used: ${this.#bytes} bytes. Memory limit: ${maxHeldBytes} bytes`,
      )
  }

  /** What was added is kept no longer. */
  remove(value: RawValue): void {
    this.#bytes -= sizeOf(value)
  }
}

const sizeOf = (value: RawValue): number => value.end - value.start + 16
