/** $addFields and $unset as projections that keep all fields they do not name. */
import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import { compileExpression } from '../aggregation/expressions/compile.js'
import { checkFieldPath } from '../aggregation/expressions/field-path.js'
import type { EvaluationContext } from '../context.js'
import { formatDocument, formatValue } from '../values/format.js'
import { applyTree } from './apply.js'
import type { Projection } from './compile.js'
import { ProjectionNode } from './tree.js'

export function compileAddFields(specification: Uint8Array, context: EvaluationContext): Projection {
  const root = new ProjectionNode()
  const seen: string[] = []
  const add = (path: string, value: RawValue): void => {
    if (value.type === BsonType.object && isSubDocument(value, specification)) {
      for (const it = new FieldIterator(value.bytes, value.start); it.next();) add(`${path}.${it.name()}`, it.value())
      return
    }
    const other = seen.find(
      (earlier) => earlier === path || earlier.startsWith(`${path}.`) || path.startsWith(`${earlier}.`),
    )
    if (other !== undefined)
      throw new CommandError(
        40176,
        `specification contains two conflicting paths. Cannot specify both '${path}' and '${other}': ${formatDocument(specification)}`,
      )
    seen.push(path)
    checkFieldPath(path)
    const expression = compileExpression(value, context)
    root.add(path, { kind: 'compute', compute: (document) => expression.evaluateOn(document) })
  }
  for (const it = new FieldIterator(specification); it.next();) add(it.name(), it.value())
  return { mode: 'exclude', apply: (document) => applyTree(root, 'exclude', document) }
}

/**
 * Whether the value is a document whose fields are paths rather than an expression.
 * @throws CommandError 40181, 40183
 */
function isSubDocument(value: RawValue, specification: Uint8Array): boolean {
  const names: string[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) names.push(it.name())
  if (names.length === 0) return false
  if (names.some((name) => name.startsWith('$'))) {
    if (names.length === 1) return false
    throw new CommandError(
      40181,
      `an expression specification must contain exactly one field, the name of the expression. Found ${names.length} fields in ${formatValue(value)}, while parsing object ${formatDocument(specification)}`,
    )
  }
  const dotted = names.find((name) => name.includes('.'))
  if (dotted !== undefined)
    throw new CommandError(
      40183,
      `cannot use dotted field name '${dotted}' in a sub object: ${formatDocument(specification)}`,
    )
  return true
}

export function compileUnset(paths: readonly string[]): Projection {
  const root = new ProjectionNode()
  for (const path of paths) {
    checkFieldPath(path)
    root.add(path, { kind: 'drop' })
  }
  return { mode: 'exclude', apply: (document) => applyTree(root, 'exclude', document) }
}
