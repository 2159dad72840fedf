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
  /** A safe integer, added to {@link #large} in time: arithmetic on a bigint allocates. */
  #small = 0
  #large = 0n
  #doubles = 0
  #compensation = 0
  #decimals: RawValue | null = null
  #type: number = BsonType.int32

  add(value: RawValue): void {
    switch (value.type) {
      case BsonType.int32:
        this.#addSmall(value.asNumber())
        return
      case BsonType.int64:
        this.#large += value.asBigInt()
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

  #addSmall(value: number): void {
    const sum = this.#small + value
    if (Number.isSafeInteger(sum)) {
      this.#small = sum
    } else {
      this.#carry()
      this.#small = value
    }
  }

  #carry(): void {
    this.#large += BigInt(this.#small)
    this.#small = 0
  }

  get #integers(): bigint {
    if (this.#small !== 0) this.#carry()
    return this.#large
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
    if (partial.type === BsonType.object) this.#large += findField(partial.bytes, 'int32s', partial.start)!.asBigInt()
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
        if (this.#large === 0n && this.#small === (this.#small | 0)) return int32Value(this.#small)
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

class Sum implements Accumulator {
  readonly #total = new Total()

  add(value: RawValue | undefined): void {
    if (value?.isNumber()) this.#total.add(value)
  }

  merge(partial: RawValue): void {
    this.#total.merge(partial)
  }

  partial(): RawValue {
    return this.#total.partial()
  }

  result(): RawValue {
    return this.#total.value()
  }
}

class Average implements Accumulator {
  readonly #total = new Total()
  #count = 0

  add(value: RawValue | undefined): void {
    if (!value?.isNumber()) return
    this.#total.add(value)
    this.#count++
  }

  merge(partial: RawValue): void {
    this.#total.add(findField(partial.bytes, 'subTotal', partial.start)!)
    this.#count += findField(partial.bytes, 'count', partial.start)!.asNumber()
  }

  partial(): RawValue {
    const writer = new DocumentWriter().value('subTotal', this.#total.value()).int64('count', this.#count)
    return documentValue(writer.finish())
  }

  result(): RawValue {
    if (this.#count === 0) return nullValue
    const value = this.#total.value()
    return value.type === BsonType.decimal128
      ? divideDecimals(value, int64Value(BigInt(this.#count)))!
      : doubleValue(toNumber(value) / this.#count)
  }
}

const sum = (): Accumulator => new Sum()
const average = (): Accumulator => new Average()

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
