/** Integers are added exactly, doubles with compensation; one decimal makes the sum a decimal. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  doubleValue,
  findField,
  int32Value,
  int64Value,
  isEmptyDocument,
  nullValue,
  RawValue,
} from '@shardlab/bson'
import { fitsInt64, toNumber } from '../../values/arithmetic.js'
import { addDecimals, divideDecimals } from '../../values/decimals/decimal.js'
import { oneExpression, type Accumulator, type AccumulatorOperator } from './accumulator.js'

class Total {
  #integers = 0n
  #doubles = 0
  #compensation = 0
  #decimals: RawValue | null = null
  #type: number = BsonType.int32

  add(value: RawValue): void {
    switch (value.type) {
      case BsonType.int32:
        this.#integers += value.asBigInt()
        return
      case BsonType.int64:
        this.#integers += value.asBigInt()
        if (this.#type === BsonType.int32) this.#type = BsonType.int64
        return
      case BsonType.double:
        this.#addDouble(value.asNumber())
        if (this.#type !== BsonType.decimal128) this.#type = BsonType.double
        return
      default:
        this.#decimals = this.#decimals === null ? value : addDecimals(this.#decimals, value)
        this.#type = BsonType.decimal128
    }
  }

  /**
   * If the sum of int32 values overflows, it stays marked as int32: the values of other shards may
   * bring it back into range.
   */
  partial(): RawValue {
    const value = this.value()
    if (this.#type !== BsonType.int32 || value.type !== BsonType.int64) return value
    return documentValue(new DocumentWriter().value('int32s', value).finish())
  }

  merge(partial: RawValue): void {
    if (partial.type === BsonType.object)
      this.#integers += findField(partial.bytes, 'int32s', partial.start)!.asBigInt()
    else this.add(partial)
  }

  #addDouble(value: number): void {
    const sum = this.#doubles + value
    if (Number.isFinite(sum))
      this.#compensation +=
        Math.abs(this.#doubles) >= Math.abs(value) ? this.#doubles - sum + value : value - sum + this.#doubles
    this.#doubles = sum
  }

  #double(): number {
    return this.#doubles + this.#compensation
  }

  value(): RawValue {
    switch (this.#type) {
      case BsonType.decimal128: {
        const rest = addDecimals(int64OrDouble(this.#integers), this.#decimals!)
        return this.#double() === 0 ? rest : addDecimals(rest, doubleValue(this.#double()))
      }
      case BsonType.double:
        return doubleValue(this.#double() + Number(this.#integers))
      case BsonType.int32:
        if (BigInt.asIntN(32, this.#integers) === this.#integers) return int32Value(Number(this.#integers))
        return int64OrDouble(this.#integers)
      default:
        return int64OrDouble(this.#integers)
    }
  }
}

function int64OrDouble(value: bigint): RawValue {
  return fitsInt64(value) ? int64Value(value) : doubleValue(Number(value))
}

function sum(): Accumulator {
  const total = new Total()
  return {
    add(value) {
      if (value?.isNumber()) total.add(value)
    },
    merge: (partial) => total.merge(partial),
    partial: () => total.partial(),
    result: () => total.value(),
  }
}

function average(): Accumulator {
  const total = new Total()
  let count = 0n
  return {
    add(value) {
      if (!value?.isNumber()) return
      total.add(value)
      count++
    },
    merge(partial) {
      total.add(findField(partial.bytes, 'subTotal', partial.start)!)
      count += findField(partial.bytes, 'count', partial.start)!.asBigInt()
    },
    partial: () => documentValue(new DocumentWriter().value('subTotal', total.value()).int64('count', count).finish()),
    result() {
      if (count === 0n) return nullValue
      const value = total.value()
      return value.type === BsonType.decimal128
        ? divideDecimals(value, int64Value(count))!
        : doubleValue(toNumber(value) / Number(count))
    },
  }
}

export const sumAccumulators: readonly AccumulatorOperator[] = [
  { name: '$sum', manualPage: 'aggregation/sum', status: 'complete', create: sum, evaluatedOf: oneExpression('$sum') },
  {
    name: '$avg',
    manualPage: 'aggregation/avg',
    status: 'complete',
    create: average,
    evaluatedOf: oneExpression('$avg'),
  },
  {
    name: '$count',
    manualPage: 'aggregation/count-accumulator',
    status: 'complete',
    create: sum,
    evaluatedOf(argument) {
      if (argument.type !== BsonType.object || !isEmptyDocument(argument.bytes, argument.start))
        throw new CommandError('TypeMismatch', '$count takes no arguments, i.e. $count:{}')
      return int32Value(1)
    },
  },
]
