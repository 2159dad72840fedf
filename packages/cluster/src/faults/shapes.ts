/** Schemas of faults. Their messages continue a sentence that begins with the name of the field. */
import { catalogue } from '@shardlab/actor'
import { z } from 'zod'
import { bandwidthFrom, durationFrom, sizeFrom, suggestion } from '@shardlab/quantities'
import { longestMs } from '../quantity-options.js'

const notAName = 'must be a name'
const notACount = 'must be a whole number of at least 1'
const notAProbability = 'must be more than 0% and at most 100%'
const notASeed = 'must be a whole number of at least 0'
const notAFactor = 'must be more than 1, such as 10x'

/** Numbers get past the type, so that they are refused with a hint about the unit. */
function quantity(read: (value: unknown) => number) {
  return z
    .custom<string>((value) => typeof value === 'string' || typeof value === 'number', 'must be a text')
    .transform((value, context) => {
      try {
        return read(value)
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message })
        return z.NEVER
      }
    })
}

/** A text such as `500ms` or `-2h`. */
const offset = quantity(durationFrom).refine((ms) => Math.abs(ms) <= longestMs, 'must be at most 36525d, 100 years')
const duration = offset.refine((ms) => ms >= 0, 'must not be negative')
/** A text such as `10MB/s`. */
const rate = quantity(bandwidthFrom)
/** A text such as `100KB`. */
const size = quantity(sizeFrom)
const name = z.string(notAName).min(1, notAName)
const first = z.number(notACount).refine((count) => Number.isSafeInteger(count) && count >= 1, notACount)
const probability = z.number(notAProbability).gt(0, notAProbability).lte(1, notAProbability)
const seed = z.number(notASeed).refine((value) => Number.isSafeInteger(value) && value >= 0, notASeed)
const factor = z.number(notAFactor).gt(1, notAFactor).lte(longestMs, notAFactor)

function kindsAmong(known: readonly string[]): z.ZodType<readonly string[], readonly string[]> {
  const kind = z.string('must be the kind of a message')
  return z
    .array(kind, 'must be a list of kinds of messages')
    .min(1, 'must contain at least one kind of messages')
    .superRefine((kinds, context) => {
      const unknown = kinds.find((each) => !known.includes(each))
      if (unknown === undefined) return
      const family = unknown.slice(0, unknown.indexOf('.') + 1)
      const alike = known.filter((each) => family !== '' && each.startsWith(family))
      context.addIssue({
        code: 'custom',
        message: `must not contain ${unknown}; ${suggestion(unknown, known) ?? `use ${(alike.length > 0 ? alike : known).join(', ')}`}`,
      })
    })
}

const after = duration.optional()

const schedule = {
  /** Delay before the start. Default: none. */
  after,
  /** Duration. Default: until it is healed; a step-down lasts 10 s. */
  for: duration.optional(),
}

const filters = {
  ...schedule,
  /** Messages between members; `client.command` for messages of clients. Default: all. */
  kinds: kindsAmong(Object.keys(catalogue)).optional(),
  first: first.optional(),
  /** For each message. Default 1. */
  probability: probability.optional(),
  /** For the draws of `probability`. Default: drawn from the cluster's seed. */
  seed: seed.optional(),
}

type Fields = Readonly<Record<string, z.ZodType>>

export const shapes = {
  offset,
  duration,
  rate,
  size,
  factor,
  kindsAmong,
  member: <V extends string, F extends Fields>(verb: V, fields: F) =>
    z.strictObject({ verb: z.literal(verb), target: name, ...fields, ...schedule }),
  /** Over at once. */
  instant: <V extends string>(verb: V) => z.strictObject({ verb: z.literal(verb), target: name, after }),
  link: <V extends string, F extends Fields>(verb: V, fields: F) =>
    z.strictObject({
      verb: z.literal(verb),
      link: z.strictObject(
        { from: name, to: name, bothWays: z.boolean('must be true or false').default(true) },
        'must be a document with from and to',
      ),
      ...filters,
      ...fields,
    }),
  /** For verbs that have one direction by nature. */
  oneWayLink: <V extends string>(verb: V) =>
    z.strictObject({
      verb: z.literal(verb),
      link: z.strictObject({ from: name, to: name }, 'must be a document with from and to'),
      ...filters,
    }),
  step: <V extends string>(verb: V) =>
    z.strictObject({
      verb: z.literal(verb),
      step: name,
      target: name.optional(),
      first: first.optional(),
      ...schedule,
    }),
} as const

export type Shapes = typeof shapes
export type LinkFilters = z.output<z.ZodObject<typeof filters>>
