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

/** A group costs little while its values are int32. */
class Total {
  /** A safe integer, added to the large ones in time: arithmetic on a bigint allocates. */
  #small = 0
  #rest: Rest | null = null

  addNumber(value: RawValue): void {
    if (value.type === BsonType.int32) this.#addSmall(value.asNumber())
    else this.#others().add(value)
  }

  #others(): Rest {
    return (this.#rest ??= new Rest())
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
    this.#others().integers += BigInt(this.#small)
    this.#small = 0
  }

  /**
   * If the sum of int32 values overflows, it stays marked as int32: the values of other shards may
   * bring it back into range.
   */
  partialTotal(): RawValue {
    const value = this.total()
    const isInt32 = this.#rest === null || this.#rest.type === BsonType.int32
    if (!isInt32 || value.type !== BsonType.int64) return value
    return documentValue(new DocumentWriter().value('int32s', value).finish())
  }

  mergeTotal(partial: RawValue): void {
    if (partial.type === BsonType.object)
      this.#others().integers += findField(partial.bytes, 'int32s', partial.start)!.asBigInt()
    else this.addNumber(partial)
  }

  total(): RawValue {
    if (this.#rest === null && this.#small === (this.#small | 0)) return int32Value(this.#small)
    this.#carry()
    return this.#others().value()
  }
}

/** The sum of what is not a small integer. */
class Rest {
  integers = 0n
  /** Of the sum. */
  type: number = BsonType.int32
  #doubles = 0
  #compensation = 0
  #decimals: RawValue | null = null

  add(value: RawValue): void {
    switch (value.type) {
      case BsonType.int64:
        this.integers += value.asBigInt()
        if (this.type === BsonType.int32) this.type = BsonType.int64
        return
      case BsonType.double:
        this.#addDouble(value.asNumber())
        if (this.type !== BsonType.decimal128) this.type = BsonType.double
        return
      default:
        this.#decimals = this.#decimals === null ? value.detached() : addDecimals(this.#decimals, value)
        this.type = BsonType.decimal128
    }
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
    switch (this.type) {
      case BsonType.decimal128: {
        const rest = addDecimals(int64OrDouble(this.integers), this.#decimals!)
        return this.#double() === 0 ? rest : addDecimals(rest, doubleValue(this.#double()))
      }
      case BsonType.double:
        return doubleValue(this.#double() + Number(this.integers))
      case BsonType.int32:
        if (BigInt.asIntN(32, this.integers) === this.integers) return int32Value(Number(this.integers))
        return int64OrDouble(this.integers)
      default:
        return int64OrDouble(this.integers)
    }
  }
}

function int64OrDouble(value: bigint): RawValue {
  return fitsInt64(value) ? int64Value(value) : doubleValue(Number(value))
}

class Sum extends Total implements Accumulator {
  add(value: RawValue | undefined): void {
    if (value?.isNumber()) this.addNumber(value)
  }

  merge(partial: RawValue): void {
    this.mergeTotal(partial)
  }

  partial(): RawValue {
    return this.partialTotal()
  }

  result(): RawValue {
    return this.total()
  }
}

class Average extends Total implements Accumulator {
  #count = 0

  add(value: RawValue | undefined): void {
    if (!value?.isNumber()) return
    this.addNumber(value)
    this.#count++
  }

  merge(partial: RawValue): void {
    this.addNumber(findField(partial.bytes, 'subTotal', partial.start)!)
    this.#count += findField(partial.bytes, 'count', partial.start)!.asNumber()
  }

  partial(): RawValue {
    const writer = new DocumentWriter().value('subTotal', this.total()).int64('count', this.#count)
    return documentValue(writer.finish())
  }

  result(): RawValue {
    if (this.#count === 0) return nullValue
    const value = this.total()
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
