/**
 * In `$expr`, a comparison of one field with a constant gives intervals, whatever the types:
 * expressions compare all values in canonical order. Server: rewrite_expr.cpp, and INTERNAL_EXPR_*
 * in index_bounds_builder.cpp.
 */
import { BsonType, elementsOf, FieldIterator, maxKeyValue, minKeyValue, type RawValue } from '@shardlab/bson'
import { compileExpression } from '../aggregation/expressions/compile.js'
import type { EvaluationContext } from '../context.js'
import { everything, intersection, union, type Interval } from './interval.js'
import { comparisonBounds, type BoundsRules } from './predicate-bounds.js'

type Comparison = '$eq' | '$lt' | '$lte' | '$gt' | '$gte'

const mirrored: Readonly<Record<Comparison, Comparison>> = {
  $eq: '$eq',
  $lt: '$gt',
  $lte: '$gte',
  $gt: '$lt',
  $gte: '$lte',
}

/**
 * The intervals that contain the key of every document for which the expression is true. Not valid
 * for a multikey field, because a path in an expression means the whole array.
 * @param key the field's dotted path
 * @param context has the values of the variables that the expression may use
 */
export function expressionBounds(
  expression: RawValue,
  key: string,
  rules: BoundsRules,
  context: EvaluationContext,
): readonly Interval[] {
  const comparisons = context.exprComparisonsGiveBounds ?? 'all'
  const found = operatorOf(expression)
  if (comparisons === 'none' || found === null) return everything
  const [name, argument] = found
  const operands = argument.type === BsonType.array ? elementsOf(argument) : [argument]
  const each = () => operands.map((operand) => expressionBounds(operand, key, rules, context))
  switch (name) {
    case '$and':
      return each().reduce((left, right) => intersection(left, right), everything)
    case '$or':
      return union(each().flat())
    case '$eq':
      return comparedWith(name, operands, key, rules, context)
    case '$lt':
    case '$lte':
    case '$gt':
    case '$gte':
      return comparisons === 'all' && !rules.hashed ? comparedWith(name, operands, key, rules, context) : everything
    default:
      return everything
  }
}

function operatorOf(expression: RawValue): readonly [name: string, argument: RawValue] | null {
  if (expression.type !== BsonType.object) return null
  const it = new FieldIterator(expression.bytes, expression.start)
  return it.next() ? [it.name(), it.value()] : null
}

function comparedWith(
  name: Comparison,
  [left, right]: readonly RawValue[],
  key: string,
  rules: BoundsRules,
  context: EvaluationContext,
): readonly Interval[] {
  if (left === undefined || right === undefined) return everything
  const turned = pathOf(left) === null
  const path = turned ? pathOf(right) : pathOf(left)
  if (path !== key) return everything
  const constant = compileExpression(turned ? left : right, context).constant?.value
  if (constant === undefined || constant.type === BsonType.array || constant.type === BsonType.undefined)
    return everything
  const comparison = turned ? mirrored[name] : name
  if (comparison === '$eq')
    return comparisonBounds({ kind: 'comparison', path: key, operator: 'eq', value: constant }, rules).intervals
  if (
    rules.strings !== undefined &&
    (constant.type === BsonType.string || constant.type === BsonType.symbol || constant.type === BsonType.object)
  )
    return everything
  const inclusive = comparison === '$lte' || comparison === '$gte'
  // A missing value is below null in expressions; its key is null.
  const interval: Interval =
    comparison === '$gt' || comparison === '$gte'
      ? { low: constant, lowInclusive: inclusive, high: maxKeyValue, highInclusive: true }
      : {
          low: minKeyValue,
          lowInclusive: true,
          high: constant,
          highInclusive: inclusive || constant.type === BsonType.null,
        }
  return union([interval])
}

/** The dotted path of a field; null for everything else. */
function pathOf(operand: RawValue): string | null {
  if (operand.type !== BsonType.string) return null
  const text = operand.asString()
  for (const start of ['$$ROOT.', '$$CURRENT.']) if (text.startsWith(start)) return text.slice(start.length)
  return text.startsWith('$') && !text.startsWith('$$') ? text.slice(1) : null
}
