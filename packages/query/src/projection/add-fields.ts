/** $addFields and $unset as projections that keep all fields they do not name. */
import { compileExpression } from '../aggregation/expressions/compile.js'
import { checkFieldPath } from '../aggregation/expressions/field-path.js'
import type { EvaluationContext } from '../context.js'
import { applyTree } from './apply.js'
import type { Projection } from './compile.js'
import { specifiedPaths } from './specification.js'
import { ProjectionNode } from './tree.js'

/** @throws CommandError the errors of {@link specifiedPaths}, and of paths and expressions */
export function compileAddFields(specification: Uint8Array, context: EvaluationContext): Projection {
  const root = new ProjectionNode()
  for (const { path, value } of specifiedPaths(specification)) {
    checkFieldPath(path)
    const expression = compileExpression(value, context)
    root.add(path, { kind: 'compute', compute: (document) => expression.evaluateOn(document) })
  }
  return { mode: 'exclude', apply: (document) => applyTree(root, 'exclude', document) }
}

export function compileUnset(paths: readonly string[]): Projection {
  const root = new ProjectionNode()
  for (const path of paths) {
    checkFieldPath(path)
    root.add(path, { kind: 'drop' })
  }
  return { mode: 'exclude', apply: (document) => applyTree(root, 'exclude', document) }
}
