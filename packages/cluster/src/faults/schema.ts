/** Faults as plain data: the one schema for the API, the command line, the wire and files. The same as text: `grammar.ts`. */
import { catalogue, repeatedKinds } from '@shardlab/actor'
import { z } from 'zod'
import { OptionError } from '../option-error.js'
import { longestMs, parseDuration, parseRate } from '../quantity-options.js'
import { faultVerbs } from './verbs.js'

const notACount = 'a count is a whole number from 1 on'
const notAProbability = 'a probability is more than 0% and at most 100%'
const notASeed = 'a seed is a whole number from 0 on'
const notAFactor = 'a factor is more than 1, such as 10x'

/** Milliseconds, or a text such as `500ms`, `5s`, `10m`, `2h`, `1d`. */
const duration = textOrNumber((value) => parseDuration('a time', value)).refine(
  (ms) => Math.abs(ms) <= longestMs,
  'a time is at most 36525d, 100 years',
)
/** Bytes in a second, or a text such as `10MB/s`. */
const rate = textOrNumber((value) => parseRate('a rate', value))
const lasting = duration.refine((ms) => ms >= 0, 'a time must not be negative')

const name = z.string('give a name').min(1, 'give a name')
const first = z.number(notACount).refine((count) => Number.isSafeInteger(count) && count >= 1, notACount)
const probability = z.number(notAProbability).gt(0, notAProbability).lte(1, notAProbability)
const factor = z.number(notAFactor).gt(1, notAFactor).lte(longestMs, notAFactor)

function textOrNumber(parse: (value: number | string) => number) {
  return z.union([z.number(), z.string()], 'give a number or a text').transform((value, context) => {
    try {
      return parse(value)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
      return z.NEVER
    }
  })
}

/** When a fault begins and ends. */
const schedule = {
  /** Begins that much later. Default: now. */
  after: lasting.optional(),
  /** Heals itself after that long. Default: when it is healed; a step-down takes 10 s. */
  for: lasting.optional(),
}

/** Which messages a fault of links strikes. */
const filters = {
  ...schedule,
  /** Kinds of messages between members (`config.commit-chunk-migration`); `client.command` for what clients send. Default: all. */
  kinds: kindsAmong(Object.keys(catalogue)).optional(),
  /** Strikes only the first so many messages. */
  first: first.optional(),
  /** With which probability a message is struck. Default 1. */
  probability: probability.optional(),
  /** Of the draws. Default: drawn from the cluster's seed. */
  seed: z
    .number(notASeed)
    .refine((seed) => Number.isSafeInteger(seed) && seed >= 0, notASeed)
    .optional(),
}

/** Ends of a link: a member, `clients`, `shards`, `routers`, `members` (all of them) or `everybody` (members and clients). */
const link = z.strictObject({ from: name, to: name, bothWays: z.boolean().default(true) })

/** What happens in one direction only. */
const oneWay = z.strictObject({ from: name, to: name })

const onMember = <V extends string>(verb: V) => z.strictObject({ verb: z.literal(verb), target: name, ...schedule })
/** What is over at once. */
const atOnce = <V extends string>(verb: V) =>
  z.strictObject({ verb: z.literal(verb), target: name, after: schedule.after })
const onLink = <V extends string>(verb: V) => z.strictObject({ verb: z.literal(verb), link, ...filters })
const atStep = <V extends string>(verb: V) =>
  z.strictObject({ verb: z.literal(verb), step: name, target: name.optional(), first: first.optional(), ...schedule })

const faultSchema = z.discriminatedUnion('verb', [
  onMember('crash'),
  onMember('destroy'),
  atOnce('restart'),
  onMember('stop'),
  onMember('pause'),
  atOnce('resume'),
  onMember('stepDown'),
  /** Each message that the member takes costs `factor` - 1 milliseconds more. */
  z.strictObject({ verb: z.literal('slow'), target: name, factor, ...schedule }),
  /** Each write to the disk takes that much. */
  z.strictObject({ verb: z.literal('slowDisk'), target: name, by: lasting, ...schedule }),
  onMember('fullDisk'),
  z.strictObject({ verb: z.literal('skewClock'), target: name, by: duration, ...schedule }),
  /** The same, but set back it goes back. */
  z.strictObject({ verb: z.literal('jumpClock'), target: name, by: duration, ...schedule }),
  onMember('freezeRoutes'),
  onMember('stallRangeDeleter'),
  onLink('partition'),
  /** Between `by` and `upTo`, drawn evenly. */
  z
    .strictObject({ verb: z.literal('delay'), link, by: lasting, upTo: lasting.optional(), ...filters })
    .refine(({ by, upTo }) => upTo === undefined || upTo >= by, 'the shorter time comes first, as in 20ms..40ms'),
  /** Bytes in a second, in each direction of each link. */
  z.strictObject({ verb: z.literal('limit'), link, to: rate, ...filters }),
  onLink('drop'),
  z.strictObject({ verb: z.literal('refuse'), link: oneWay, ...filters }),
  z.strictObject({ verb: z.literal('cut'), link: oneWay, ...filters }),
  z.strictObject({ verb: z.literal('duplicate'), link, ...filters, kinds: kindsAmong(repeatedKinds).optional() }),
  atStep('hold'),
  atStep('fail'),
  atStep('crashAt'),
])

/** A fault as a caller may write it. */
export type FaultInput = z.input<typeof faultSchema>
/** A fault with its times in milliseconds. */
export type FaultSpec = z.output<typeof faultSchema>
export type FaultVerb = FaultSpec['verb']

function kindsAmong<K extends string>(known: readonly K[]) {
  return z
    .array(z.string())
    .min(1, 'give one or several kinds of messages')
    .superRefine((kinds, context) => {
      const unknown = kinds.find((kind) => !known.includes(kind as K))
      if (unknown === undefined) return
      const family = unknown.slice(0, unknown.indexOf('.') + 1)
      const alike = known.filter((kind) => family !== '' && kind.startsWith(family))
      context.addIssue({
        code: 'custom',
        message: `${unknown} is no kind of message that this strikes; there are ${(alike.length > 0 ? alike : known).join(', ')}`,
      })
    })
}

/** Checks a fault that is data, and fills in defaults. @throws OptionError one sentence */
export function parseFaultData(data: unknown): FaultSpec {
  const parsed = faultSchema.safeParse(data)
  if (parsed.success) return parsed.data
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new OptionError(
      "a fault is a text such as 'crash shard02 for 5s', or data such as { verb: 'crash', target: 'shard02' }.",
    )
  const issue = parsed.error.issues[0]!
  const { verb } = data as { verb?: unknown }
  if (verb === undefined) throw new OptionError(`the fault has no verb; the verbs are ${faultVerbs.join(', ')}.`)
  if (issue.path[0] === 'verb' && !faultVerbs.includes(verb as FaultVerb))
    throw new OptionError(`${JSON.stringify(verb)} is no verb of a fault; the verbs are ${faultVerbs.join(', ')}.`)
  const where = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  const what =
    issue.code === 'unrecognized_keys' ? `it takes no ${issue.keys.join(' and no ')}` : issue.message.replace(/\.$/, '')
  throw new OptionError(`the fault ${String(verb)} is wrong: ${where}${what}.`)
}
