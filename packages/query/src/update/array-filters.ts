/** The `arrayFilters` of an update: one filter for every `$[name]` in its paths. */
import { CommandError } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { pathNodes } from '../filter/ast.js'
import { compileFilter, type Filter } from '../filter/compile.js'
import { noFilterFeatures } from '../filter/features.js'
import { formatDocument } from '../values/format.js'
import type { UpdatePath } from './update-path.js'

/**
 * @throws CommandError FailedToParse (9) for a filter that does not have exactly one name, BadValue
 *   (2) for a name without a filter
 */
export function compileArrayFilters(
  filters: readonly Uint8Array[],
  paths: readonly UpdatePath[],
  update: Uint8Array,
  context: EvaluationContext,
): ReadonlyMap<string, Filter> {
  const compiled = new Map<string, Filter>()
  for (const document of filters) {
    const filter = parseArrayFilter(document, context)
    const names = new Set([...pathNodes(filter.root)].map((node) => node.path.split('.')[0]!))
    const [name, other] = names
    if (name === undefined)
      throw new CommandError('FailedToParse', 'Cannot use an expression without a top-level field name in arrayFilters')
    if (other !== undefined)
      throw new CommandError(
        'FailedToParse',
        `Error parsing array filter :: caused by :: Expected a single top-level field name, found '${name}' and '${other}'`,
      )
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name))
      throw new CommandError(
        'BadValue',
        `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${name}'`,
      )
    if (compiled.has(name))
      throw new CommandError('FailedToParse', `Found multiple array filters with the same top-level field name ${name}`)
    compiled.set(name, filter)
  }
  const used = new Set<string>()
  for (const { dotted, parts } of paths) {
    for (const part of parts) {
      if (part.kind !== 'elements' || part.filter === null) continue
      if (!compiled.has(part.filter))
        throw new CommandError('BadValue', `No array filter found for identifier '${part.filter}' in path '${dotted}'`)
      used.add(part.filter)
    }
  }
  for (const name of compiled.keys())
    if (!used.has(name))
      throw new CommandError(
        'FailedToParse',
        `The array filter for identifier '${name}' was not used in the update ${formatDocument(update)}`,
      )
  return compiled
}

function parseArrayFilter(document: Uint8Array, context: EvaluationContext): Filter {
  try {
    return compileFilter(document, context, noFilterFeatures)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(error.code, `Error parsing array filter :: caused by :: ${error.message}`)
  }
}
