/**
 * Order and duplicates are ignored. Values are equal if they compare as equal under the collation.
 */
import {
  boolValue,
  BsonType,
  CommandError,
  compareValues,
  elementsOf,
  nullValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { arrayValue } from '../../../../values/build.js'
import { valueClasses } from '../../../../values/value-classes.js'
import { operator, typeOf, unary, withStrings, type Evaluate } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

type Compare = (a: RawValue, b: RawValue) => number

/** The result is sorted. */
function distinct(values: readonly RawValue[], compare: Compare): RawValue[] {
  return values
    .toSorted(compare)
    .filter((value, index, sorted) => index === 0 || compare(sorted[index - 1]!, value) !== 0)
}

function has(sorted: readonly RawValue[], value: RawValue, compare: Compare): boolean {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    const order = compare(sorted[middle]!, value)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}

function setOperator(
  name: string,
  min: number,
  max: number,
  make: (compare: Compare, strings: StringComparator | undefined, check: () => void) => Evaluate,
): ExpressionOperator {
  return withStrings(name, (strings, check) => {
    const compare: Compare = (a, b) => {
      check()
      return compareValues(a, b, strings)
    }
    return operator(name, min, max, make(compare, strings, check))
  })
}

const ordinals = ['First', 'Second']

function bothArrays(
  name: string,
  codes: readonly [number, number],
  operands: readonly (RawValue | undefined)[],
): [RawValue[], RawValue[]] {
  const [left, right] = operands.map((operand, index) => {
    if (operand?.type !== BsonType.array)
      throw new CommandError(
        codes[index]!,
        `both operands of ${name} must be arrays. ${ordinals[index]} argument is of type: ${typeOf(operand)}`,
      )
    return elementsOf(operand)
  })
  return [left!, right!]
}

const union =
  (compare: Compare): Evaluate =>
  (operands) => {
    const all: RawValue[] = []
    for (const operand of operands) {
      if (operand === undefined || operand.isNullish()) return nullValue
      if (operand.type !== BsonType.array)
        throw new CommandError(
          17043,
          `All operands of $setUnion must be arrays. One argument is of type: ${typeOf(operand)}`,
        )
      for (const element of elementsOf(operand)) all.push(element)
    }
    return arrayValue(distinct(all, compare))
  }

const intersection =
  (compare: Compare): Evaluate =>
  (operands) => {
    let common: RawValue[] | null = null
    for (const operand of operands) {
      if (operand === undefined || operand.isNullish()) return nullValue
      if (operand.type !== BsonType.array)
        throw new CommandError(
          17047,
          `All operands of $setIntersection must be arrays. One argument is of type: ${typeOf(operand)}`,
        )
      const next = distinct(elementsOf(operand), compare)
      common = common === null ? next : common.filter((value) => has(next, value, compare))
    }
    return arrayValue(common ?? [])
  }

const difference =
  (_: Compare, strings: StringComparator | undefined, check: () => void): Evaluate =>
  (operands) => {
    if (operands.some((operand) => operand === undefined || operand.isNullish())) return nullValue
    const [left, right] = bothArrays('$setDifference', [17048, 17049], operands)
    const keyOf = valueClasses(strings)
    const seen = new Set<string>()
    /** Whether no equal value came before. */
    const isNew = (value: RawValue): boolean => {
      check()
      const key = keyOf(value)
      return !seen.has(key) && seen.add(key) !== null
    }
    for (const value of right) isNew(value)
    return arrayValue(left.filter(isNew))
  }

const equals =
  (compare: Compare): Evaluate =>
  (operands) => {
    const sets = operands.map((operand, index) => {
      if (operand?.type !== BsonType.array)
        throw new CommandError(
          17044,
          `All operands of $setEquals must be arrays. ${index + 1}-th argument is of type: ${typeOf(operand)}`,
        )
      return distinct(elementsOf(operand), compare)
    })
    const [first, ...others] = sets
    return boolValue(
      others.every(
        (set) => set.length === first!.length && set.every((value, index) => compare(value, first![index]!) === 0),
      ),
    )
  }

const isSubset =
  (compare: Compare): Evaluate =>
  (operands) => {
    const [left, right] = bothArrays('$setIsSubset', [17046, 17042], operands)
    const all = distinct(right, compare)
    return boolValue(left.every((value) => has(all, value, compare)))
  }

function truths(name: string, code: number, decide: (elements: RawValue[]) => boolean): ExpressionOperator {
  return unary(name, (value) => {
    if (value?.type !== BsonType.array)
      throw new CommandError(code, `${name}'s argument must be an array, but is ${typeOf(value)}`)
    return boolValue(decide(elementsOf(value)))
  })
}

const setEquals = setOperator('$setEquals', 0, Infinity, equals)

export const setExpressions: readonly ExpressionOperator[] = [
  setOperator('$setUnion', 0, Infinity, union),
  setOperator('$setIntersection', 0, Infinity, intersection),
  setOperator('$setDifference', 2, 2, difference),
  {
    ...setEquals,
    compile(argument, compiler) {
      const given = argument.type === BsonType.array ? elementsOf(argument).length : 1
      if (given < 2) throw new CommandError(17045, `$setEquals needs at least two arguments had: ${given}`)
      return setEquals.compile(argument, compiler)
    },
  },
  setOperator('$setIsSubset', 2, 2, isSubset),
  truths('$anyElementTrue', 17041, (elements) => elements.some((element) => element.isTruthy())),
  truths('$allElementsTrue', 17040, (elements) => elements.every((element) => element.isTruthy())),
]
