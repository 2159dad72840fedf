/**
 * $project before it could exclude fields: fields are included or computed, and only `_id` may be
 * excluded. Server: `Expression::parseObject` in pipeline/expression.cpp, until 3.2.
 */
import { BsonType, CommandError, FieldIterator, firstFieldName, type RawValue } from '@shardlab/bson'
import type { Language } from '../language/language.js'
import { typeNameIn } from '../values/type-name.js'

/** @throws CommandError 15992, 16400, 16401, 16404, 16405, 16406, 16873 */
export function checkNarrowProject(argument: RawValue, language: Language): void {
  check(argument, true, language)
}

/** The parts of each field; null: an expression, or an inclusion. */
type FieldTree = Map<string, FieldTree | null>

function check(fields: RawValue, isTopLevel: boolean, language: Language): FieldTree {
  const tree: FieldTree = new Map()
  for (const it = new FieldIterator(fields.bytes, fields.start); it.next();) {
    const name = it.name()
    const value = it.value()
    let parts: FieldTree | null = null
    if (isTopLevel && name.startsWith('$'))
      throw new CommandError(16404, '$expressions are not allowed at the top-level of $project')
    if (!isTopLevel && name.includes('.'))
      throw new CommandError(16405, 'dotted field names are only allowed at the top level')
    if (value.type === BsonType.object) {
      if (firstFieldName(value.slice())?.startsWith('$') !== true) parts = check(value, false, language)
    } else if (value.type === BsonType.string) {
      const path = value.asString()
      if (!path.startsWith('$')) throw new CommandError(16873, `FieldPath '${path}' doesn't start with $`)
    } else if (value.type === BsonType.bool || value.isNumber()) {
      if (!value.isTruthy()) {
        if (isTopLevel && name === '_id') continue
        throw new CommandError(16406, 'The top-level _id field is the only field currently supported for exclusion')
      }
    } else {
      throw new CommandError(
        15992,
        `disallowed field type ${typeNameIn(value.type, language)} in object expression (at '${name}')`,
      )
    }
    addField(tree, name.split('.'), parts)
  }
  return tree
}

/** Server: ExpressionObject::addField. */
function addField(tree: FieldTree, [name, ...rest]: readonly string[], parts: FieldTree | null): void {
  const known = tree.get(name!)
  if (rest.length > 0) {
    if (known === null)
      throw new CommandError(
        16401,
        `can't add an expression for a subfield of ${name} because there is already an expression that applies to the whole field`,
      )
    const child: FieldTree = known ?? new Map()
    tree.set(name!, child)
    addField(child, rest, parts)
  } else if (known === undefined) tree.set(name!, parts)
  else if (known === null || parts === null)
    throw new CommandError(
      16400,
      `can't add an expression for field ${name} because there is already an expression for that field or one of its sub-fields.`,
    )
  else for (const [part, below] of parts) addField(known, [part], below)
}
