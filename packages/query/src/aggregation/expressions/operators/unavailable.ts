/**
 * These operators always fail: no metadata for $meta exists here, and $function needs a JavaScript
 * engine.
 */
import { BsonType, CommandError, findField, type RawValue } from '@shardlab/bson'
import { typeOf } from '../arguments.js'
import type { Expression, ExpressionCompiler, ExpressionOperator } from '../expression.js'

const metadata: Readonly<Record<string, string>> = {
  textScore: 'text score',
  geoNearDistance: '$geoNear distance',
  geoNearPoint: '$geoNear point',
  searchScore: '$search score',
  searchHighlights: '$search highlights',
  sortKey: 'sort key',
  recordId: 'record ID',
  indexKey: 'index key',
  randVal: 'rand val',
}

/**
 * @returns the error for `{$meta: argument}`: 40218 because no such data exists, 17308 for an
 *   unknown kind, 17307 for an argument that is not a string
 */
export function metadataError(argument: RawValue): CommandError {
  if (argument.type !== BsonType.string) return new CommandError(17307, '$meta only supports string arguments')
  const kind = argument.asString()
  if (!Object.hasOwn(metadata, kind)) return new CommandError(17308, `Unsupported argument to $meta: ${kind}`)
  return new CommandError(40218, `query requires ${metadata[kind]} metadata, but it is not available`)
}

export function javaScriptError(): CommandError {
  return new CommandError(31264, 'Cannot run server-side javascript without the javascript engine enabled')
}

/** As on the server, evaluation fails on the first document. */
function compileFunction(argument: RawValue, compiler: ExpressionCompiler): Expression {
  if (argument.type !== BsonType.object)
    throw new CommandError(31260, `$function requires an object as an argument, found: ${typeOf(argument)}`)
  const field = (name: string) => findField(argument.bytes, name, argument.start)
  if (field('body') === undefined) throw new CommandError(31261, 'The body function must be specified.')
  const operands = field('args')
  if (operands === undefined) throw new CommandError(31263, 'The args field must be specified.')
  compiler.compile(operands)
  const language = field('lang')
  if (language === undefined) throw new CommandError(31418, 'The lang field must be specified.')
  if (language.type !== BsonType.string || language.asString() !== 'js')
    throw new CommandError(31419, "Currently the only supported language specifier is 'js'.")
  return {
    constant: null,
    evaluate() {
      throw javaScriptError()
    },
  }
}

export const unavailableExpressions: readonly ExpressionOperator[] = [
  {
    name: '$meta',
    manualPage: 'aggregation/meta',
    status: 'partial',
    deviations: ['D107'],
    missing: 'all but sortKey in the projection of a find; other metadata is not available',
    compile(argument) {
      throw metadataError(argument)
    },
  },
  {
    name: '$function',
    manualPage: 'aggregation/function',
    status: 'partial',
    deviations: ['D704'],
    missing: 'everything, like a server without JavaScript',
    compile: compileFunction,
  },
]
