/**
 * Series of preferred numbers, to which $bucketAuto rounds its boundaries. Server:
 * `granularity_rounder*.cpp`.
 */
import {
  BsonType,
  CommandError,
  compareValues,
  decimalValue,
  doubleValue,
  int32Value,
  type RawValue,
} from '@shardlab/bson'
import { multiplyNumbers, toNumber } from '../../../values/arithmetic.js'
import { divideDecimals, toDecimal } from '../../../values/decimals/decimal.js'
import { pow } from '../../expressions/operators/numbers/functions.js'

/**
 * For numbers that are neither negative nor NaN. 0 stays 0; other results are strictly above or
 * below.
 */
export interface GranularityRounder {
  up(value: RawValue): RawValue
  down(value: RawValue): RawValue
}

const list = (numbers: string) => numbers.split(' ').map(Number)

const e24 = list('10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91')

const e192 = list(
  '100 101 102 104 105 106 107 109 110 111 113 114 115 117 118 120 121 123 124 126 127 129 130 132 133 135 137 138 140 142 143 145 147 149 ' +
    '150 152 154 156 158 160 162 164 165 167 169 172 174 176 178 180 182 184 187 189 191 193 196 198 200 203 205 208 210 213 215 218 221 ' +
    '223 226 229 232 234 237 240 243 246 249 252 255 258 261 264 267 271 274 277 280 284 287 291 294 298 301 305 309 312 316 320 324 328 ' +
    '332 336 340 344 348 352 357 361 365 370 374 379 383 388 392 397 402 407 412 417 422 427 432 437 442 448 453 459 464 470 475 481 487 ' +
    '493 499 505 511 517 523 530 536 542 549 556 562 569 576 583 590 597 604 612 619 626 634 642 649 657 665 673 681 690 698 706 715 723 ' +
    '732 741 750 759 768 777 787 796 806 816 825 835 845 856 866 876 887 898 909 920 931 942 953 965 976 988',
)

const every = (numbers: readonly number[], step: number) => numbers.filter((_, index) => index % step === 0)

const series: Readonly<Record<string, readonly number[]>> = {
  R5: list('10 16 25 40 63'),
  R10: list('100 125 160 200 250 315 400 500 630 800'),
  R20: list('100 112 125 140 160 180 200 224 250 280 315 355 400 450 500 560 630 710 800 900'),
  // Without 335, as on the server.
  R40: list(
    '100 106 112 118 125 132 140 150 160 170 180 190 200 212 224 236 250 265 280 300 315 355 375 400 425 450 475 500 530 560 600 630 670 710 ' +
      '750 800 850 900 950',
  ),
  // Without the numbers of R40, as on the server.
  R80: list(
    '103 109 115 122 128 136 145 155 165 175 185 195 206 218 230 243 258 272 290 307 325 345 365 387 412 437 462 487 515 545 575 615 650 690 ' +
      '730 775 825 875 925 975',
  ),
  '1-2-5': [10, 20, 50],
  E6: every(e24, 4),
  E12: every(e24, 2),
  E24: e24,
  E48: every(e192, 4),
  E96: every(e192, 2),
  E192: e192,
}

const isBelow = (a: RawValue, b: RawValue) => compareValues(a, b) < 0

function tenth(value: RawValue): RawValue {
  return value.type === BsonType.decimal128
    ? divideDecimals(value, int32Value(10))!
    : doubleValue(value.asNumber() / 10)
}

function tenfold(value: RawValue): RawValue {
  return times(value, doubleValue(10))
}

function times(a: RawValue, b: RawValue): RawValue {
  return multiplyNumbers(a, b, 'double')!
}

/** All of one type. `factor` is 1. */
function prepared(
  numbers: readonly number[],
  value: RawValue,
): [number: RawValue, series: RawValue[], factor: RawValue] {
  if (value.type !== BsonType.decimal128)
    return [doubleValue(toNumber(value)), numbers.map(doubleValue), doubleValue(1)]
  return [value, numbers.map((one) => toDecimal(int32Value(one))), decimalValue('1')]
}

/** 0, and infinity, which no factor reaches. */
function isFixed(value: RawValue): boolean {
  const number = toNumber(value)
  return number === 0 || number === Infinity
}

function preferredNumbers(numbers: readonly number[]): GranularityRounder {
  return {
    up(value) {
      if (isFixed(value)) return value
      const [number, scaled, one] = prepared(numbers, value)
      const [first, last] = [scaled[0]!, scaled.at(-1)!]
      let factor = one
      while (!isBelow(number, times(last, factor))) factor = tenfold(factor)
      while (isBelow(number, times(first, factor))) {
        const previous = times(first, factor)
        factor = tenth(factor)
        // Between the end of one decade and the start of the next.
        if (!isBelow(number, times(last, factor))) return previous
      }
      return times(
        scaled.find((one) => isBelow(number, times(one, factor)))!,
        factor,
      )
    },
    down(value) {
      if (isFixed(value)) return value
      const [number, scaled, one] = prepared(numbers, value)
      const [first, last] = [scaled[0]!, scaled.at(-1)!]
      let factor = one
      while (!isBelow(times(first, factor), number)) factor = tenth(factor)
      while (isBelow(times(last, factor), number)) {
        const previous = times(last, factor)
        factor = tenfold(factor)
        if (!isBelow(times(first, factor), number)) return previous
      }
      return times(
        scaled.findLast((one) => isBelow(times(one, factor), number))!,
        factor,
      )
    },
  }
}

/** The power has the type of `like`: double or decimal. */
function powerOfTwo(exponent: number, like: RawValue): RawValue {
  const whole = int32Value(exponent)
  return pow([int32Value(2), like.type === BsonType.decimal128 ? toDecimal(whole) : whole])
}

/** log2 rounded down; exact for integers. */
function exponentBelow(value: RawValue): number {
  if (value.type === BsonType.int32 || value.type === BsonType.int64) return value.asBigInt().toString(2).length - 1
  return Math.floor(Math.log2(toNumber(value)))
}

function isPowerOfTwo(value: RawValue): boolean {
  if (value.type === BsonType.int32 || value.type === BsonType.int64) return /^10*$/.test(value.asBigInt().toString(2))
  return Number.isInteger(Math.log2(toNumber(value)))
}

const powersOfTwo: GranularityRounder = {
  up: (value) => (isFixed(value) ? value : powerOfTwo(exponentBelow(value) + 1, value)),
  down: (value) => (isFixed(value) ? value : powerOfTwo(exponentBelow(value) - (isPowerOfTwo(value) ? 1 : 0), value)),
}

/** @throws CommandError 40257 for an unknown series */
export function granularityRounder(name: string): GranularityRounder {
  if (name === 'POWERSOF2') return powersOfTwo
  if (!Object.hasOwn(series, name)) throw new CommandError(40257, `Unknown rounding granularity '${name}'`)
  return preferredNumbers(series[name]!)
}
