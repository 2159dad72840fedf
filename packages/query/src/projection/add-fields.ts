/** $addFields and $unset as projections: everything stays but what they name. */
import { BsonType, FieldIterator, firstFieldName, type RawValue } from '@shardlab/bson'
import { compileExpression } from '../aggregation/expressions/compile.js'
import { checkFieldPath } from '../aggregation/expressions/field-path.js'
import type { EvaluationContext } from '../context.js'
import { applyTree } from './apply.js'
import type { Projection } from './compile.js'
import { ProjectionNode } from './tree.js'

export function compileAddFields(specification: Uint8Array, context: EvaluationContext): Projection {
  const root = new ProjectionNode()
  const add = (path: string, value: RawValue): void => {
    const isSubDocument =
      value.type === BsonType.object && firstFieldName(value.slice()) !== undefined && !firstFieldName(value.slice())!.startsWith('$')
    if (isSubDocument) {
      for (const it = new FieldIterator(value.bytes, value.start); it.next();) add(`${path}.${it.name()}`, it.value())
      return
    }
    checkFieldPath(path)
    const expression = compileExpression(value, context)
    root.add(path, { kind: 'compute', compute: (document) => expression.evaluateOn(document) })
  }
  for (const it = new FieldIterator(specification); it.next();) add(it.name(), it.value())
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
