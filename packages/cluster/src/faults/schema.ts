/** One schema of faults for the API, the command line, the wire and files. */
import { suggestion } from '@shardlab/quantities'
import { z } from 'zod'
import { OptionError } from '../option-error.js'
import type { FaultInput, FaultSpec } from './fault-data.js'
import { shapes } from './shapes.js'
import { faultVerbs } from './verb-names.js'
import { verbTable } from './verb-table.js'

const schemas = new Map<string, ReturnType<(typeof verbTable)[number]['schema']>>(
  verbTable.map((verb) => [verb.verb, verb.schema(shapes)]),
)
const [first, ...others] = schemas.values()
const faultSchema: z.ZodType<FaultSpec, FaultInput> = z.discriminatedUnion('verb', [first!, ...others])

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
  const schema = schemas.get(verb as string)
  if (schema === undefined)
    throw new OptionError(
      `unknown fault verb: ${JSON.stringify(verb)}; ${suggestion(String(verb), faultVerbs) ?? `use ${faultVerbs.join(', ')}.`}`,
    )
  const { issues } = parsed.error
  // A missing field may be present under a misspelt name.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!
  throw new OptionError(`invalid fault ${verb as string}: ${problemOf(issue, schema)}`)
}

function problemOf(issue: z.core.$ZodIssue, schema: unknown): string {
  const field = issue.path.join('.')
  // A suggestion ends with a question mark.
  if (issue.code !== 'unrecognized_keys') return `${field} ${issue.message}`.trim().replace(/[^.?]$/, '$&.')
  const known = issue.path.reduce((at, key) => shapeOf(at)[key as string], schema)
  const meant = issue.keys.length === 1 ? suggestion(issue.keys[0]!, Object.keys(shapeOf(known))) : null
  return `${field === '' ? 'it' : field} takes no ${issue.keys.join(' and no ')}${meant === null ? '.' : `; ${meant}`}`
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (schema as z.ZodObject).shape
}
