import { compileExpression } from '../aggregation/expressions/compile.js'
import type { EvaluationContext } from '../context.js'
import type { FilterNode } from './ast.js'

/**
 * Whether the form of the predicate alone shows that it matches nothing: `$alwaysFalse`, a false
 * constant in `$expr`, and since 8.0 an `$in` without values. Contradictions between predicates are
 * not detected. Server: MatchExpression::isTriviallyFalse, and the optimizer of InMatchExpression
 * in expression_leaf.cpp.
 */
export function isTriviallyFalse(node: FilterNode, context: EvaluationContext): boolean {
  switch (node.kind) {
    case 'and':
      return node.children.some((child) => isTriviallyFalse(child, context))
    case 'or':
      return node.children.length > 0 && node.children.every((child) => isTriviallyFalse(child, context))
    case 'always':
      return !node.value
    case 'in':
      return node.values.length === 0 && node.regexes.length === 0 && context.emptyInIsFalse !== false
    case 'expr': {
      const { constant } = compileExpression(node.expression, context)
      return constant !== null && constant.value?.isTruthy() !== true
    }
    default:
      return false
  }
}
