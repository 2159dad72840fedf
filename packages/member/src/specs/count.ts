/** Server: count_cmd.cpp, count_request.cpp. */
import {
  type EvaluationContext,
  type Filter,
  compileFilter,
  integerArgument,
  nonNegativeArgument,
} from '@shardlab/query'
import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, emptyDocument, noCode, type RawValue } from '@shardlab/bson'
import { hintOf } from '../arguments/hint.js'
import type { MemberHost } from '../member-host.js'
import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const countSpec = {
  name: 'count',
  access: 'read',
  privileges: onNamespace('find'),
  endsWithClient: true,
  apiVersion1: true,
  manual: 'reference/command/count',
  fields: {
    query: 'object',
    limit: 'any',
    skip: 'any',
    hint: 'any',
    collation: 'object',
    fields: 'object',
  },
} as const satisfies CommandSpec

export interface CountQuery {
  readonly filter: Filter
  readonly hint: { readonly hint?: string | Uint8Array }
  readonly skip: number
  /** 0: no limit. */
  readonly limit: number
  readonly context: EvaluationContext
}

/** @throws CommandError errors of the filter and the hint, and those of {@link countBounds} */
export function compileCount(args: CommandArguments, context: EvaluationContext, host: CountingHost): CountQuery {
  return {
    filter: compileFilter(args.document('query') ?? emptyDocument, context),
    hint: hintOf(args),
    ...countBounds(args, host),
    context,
  }
}

export function writeCount(n: number, writer = new DocumentWriter(128)): DocumentWriter {
  return writer.integer('n', n)
}

const countMin = -(2n ** 63n)

type CountingHost = Pick<MemberHost, 'behaviours' | 'process'>

/**
 * A negative limit counts as a positive one; 0: no limit.
 * @throws CommandError 2 BadValue, 9 FailedToParse
 */
export function countBounds(
  args: CommandArguments,
  host: CountingHost,
): { readonly skip: number; readonly limit: number } {
  const { negativeCountSkip } = host.behaviours
  const given = args.value('limit')
  const limit = given?.isNumber() === false && ignoresTextLimit(host) ? undefined : given
  if (limit !== undefined && !limit.isNumber()) throw new CommandError('BadValue', 'limit value is not a valid number')
  if (limit?.type === BsonType.int64 && limit.asBigInt() === countMin)
    throw new CommandError('BadValue', 'limit value for count cannot be min long')
  const skip = args.value('skip')
  if (negativeCountSkip === null) {
    if (skip !== undefined && !skip.isNumber()) throw new CommandError('BadValue', 'skip value is not a valid number')
    return {
      skip: skip === undefined ? 0 : Number(nonNegativeArgument('skip', skip)),
      limit: limit === undefined ? 0 : Math.abs(Number(integerArgument('limit', limit))),
    }
  }
  const fail = (problem: string): never => {
    throw new CommandError(negativeCountSkip[host.process] ?? noCode, `skip value is ${problem}`)
  }
  if (skip !== undefined && !skip.isNumber()) return fail('not a valid number')
  const wholeSkip = truncated(skip)
  return wholeSkip < 0 ? fail('negative in count query') : { skip: wholeSkip, limit: Math.abs(truncated(limit)) }
}

/** Whether count of this process ignores a limit of another type than a number. */
function ignoresTextLimit(host: CountingHost): boolean {
  const { negativeCountSkip } = host.behaviours
  return negativeCountSkip !== null && negativeCountSkip[host.process] === null
}

const truncated = (value: RawValue | undefined): number => Math.trunc(value?.asNumber() ?? 0) || 0
