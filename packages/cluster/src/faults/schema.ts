/** One schema of faults for the API, the command line, the wire and files. */
import { z } from 'zod'
import { OptionError } from '../option-error.js'
import { shapes } from './shapes.js'
import { faultVerbs, verbNamed, verbTable, type FaultSpec } from './verb-table.js'

const [first, ...others] = verbTable.map((verb) => verb.schema(shapes))
const faultSchema = z.discriminatedUnion('verb', [first!, ...others])

/** Fills in defaults. @throws OptionError */
export function parseFaultData(data: unknown): FaultSpec {
  const parsed = faultSchema.safeParse(data)
  if (parsed.success) return parsed.data
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new OptionError(
      "invalid fault: give a text such as 'crash shard02 for 5s', or data such as { verb: 'crash', target: 'shard02' }.",
    )
  const { verb } = data as { verb?: unknown }
  if (verb === undefined) throw new OptionError(`invalid fault: verb is missing; use ${faultVerbs.join(', ')}.`)
  if (typeof verb !== 'string' || verbNamed(verb) === undefined)
    throw new OptionError(`unknown fault verb: ${JSON.stringify(verb)}; use ${faultVerbs.join(', ')}.`)
  throw new OptionError(`invalid fault ${verb}: ${problemOf(parsed.error.issues[0]!)}.`)
}

function problemOf(issue: z.core.$ZodIssue): string {
  const field = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return `${field === '' ? 'it' : field} takes no ${issue.keys.join(' and no ')}`
  return `${field} ${issue.message.replace(/\.$/, '')}`.trim()
}
