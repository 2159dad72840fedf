/**
 * $project before it could exclude fields: fields are included or computed, and only `_id` may be
 * excluded. Server: `Expression::parseObject` in pipeline/expression.cpp, until 3.2.
 */
import { BsonType, CommandError, FieldIterator, firstFieldName, type RawValue } from '@shardlab/bson'
import type { Language } from '../language/language.js'
import { typeNameIn } from '../values/type-name.js'

/** @throws CommandError 15992, 16404, 16405, 16406, 16873 */
export function checkNarrowProject(argument: RawValue, language: Language): void {
  check(argument, true, language)
}

function check(fields: RawValue, isTopLevel: boolean, language: Language): void {
  for (const it = new FieldIterator(fields.bytes, fields.start); it.next();) {
    const name = it.name()
    const value = it.value()
    if (isTopLevel && name.startsWith('$'))
      throw new CommandError(16404, '$expressions are not allowed at the top-level of $project')
    if (!isTopLevel && name.includes('.'))
      throw new CommandError(16405, 'dotted field names are only allowed at the top level')
    if (value.type === BsonType.object) {
      if (firstFieldName(value.slice())?.startsWith('$') !== true) check(value, false, language)
    } else if (value.type === BsonType.string) {
      const path = value.asString()
      if (!path.startsWith('$')) throw new CommandError(16873, `FieldPath '${path}' doesn't start with $`)
    } else if (value.type === BsonType.bool || value.isNumber()) {
      if (!value.isTruthy() && !(isTopLevel && name === '_id'))
        throw new CommandError(16406, 'The top-level _id field is the only field currently supported for exclusion')
    } else {
      throw new CommandError(
        15992,
        `disallowed field type ${typeNameIn(value.type, language)} in object expression (at '${name}')`,
      )
    }
  }
}
