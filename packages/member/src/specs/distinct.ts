/** Server: distinct.cpp, canonical_distinct.cpp. */
import { type EvaluationContext, type Filter, compileFilter } from '@shardlab/query'
import type { CommandArguments } from '@shardlab/actor'
import { CommandError, emptyDocument } from '@shardlab/bson'
import { hintOf } from '../arguments/hint.js'
import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const distinctSpec = {
  name: 'distinct',
  access: 'read',
  privileges: onNamespace('find'),
  endsWithClient: true,
  manual: 'reference/command/distinct',
  fields: { key: 'string!', query: 'object', collation: 'object', hint: 'any' },
  memberFields: { querySettings: 'object' },
} as const satisfies CommandSpec

export interface DistinctQuery {
  readonly key: string
  readonly filter: Filter
  readonly hint: { readonly hint?: string | Uint8Array }
  readonly context: EvaluationContext
}

/** @throws CommandError 31032; errors of the filter and the hint */
export function compileDistinct(args: CommandArguments, context: EvaluationContext): DistinctQuery {
  const key = args.string('key')!
  if (key.includes('\0')) throw new CommandError(31032, 'Key field cannot contain an embedded null byte')
  return { key, filter: compileFilter(args.document('query') ?? emptyDocument, context), hint: hintOf(args), context }
}
