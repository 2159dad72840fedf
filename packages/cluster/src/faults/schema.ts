/** Faults as plain data: the one schema for the API, the command line, the wire and files. The same as text: `grammar.ts`. */
import { catalogue, repeatedKinds } from '@shardlab/actor'
import { z } from 'zod'
import { OptionError } from '../option-error.js'
import { parseDuration } from './duration.js'
import { parseRate } from './rate.js'
import { faultVerbs } from './verbs.js'

/** Milliseconds, or a text such as `500ms`, `5s`, `10m`, `2h`, `1d`. */
const duration = textOrNumber((value) => parseDuration('a time', value))
/** Bytes in a second, or a text such as `10MB/s`. */
const rate = textOrNumber(parseRate)
const lasting = duration.refine((ms) => ms >= 0, 'a time must not be negative')

const name = z.string().min(1)

function textOrNumber(parse: (value: number | string) => number) {
  return z.union([z.number(), z.string()]).transform((value, context) => {
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
  /** Kinds of messages between members (`config.commit-migration`); `client.command` for what clients send. Default: all. */
  kinds: z
    .array(z.enum(Object.keys(catalogue) as [string, ...string[]]))
    .min(1)
    .optional(),
  /** Strikes only the first so many messages. */
  first: z.int().min(1).optional(),
  /** With which probability a message is struck. Default 1. */
  probability: z.number().gt(0).lte(1).optional(),
  /** Of the draws. Default: drawn from the cluster's seed. */
  seed: z.int().min(0).optional(),
}

/** Ends of a link: a member, `clients`, `shards`, `routers`, `members` (all of them) or `everybody` (members and clients). */
const link = z.strictObject({ from: name, to: name, bothWays: z.boolean().default(true) })

/** What happens in one direction only. */
const oneWay = z.strictObject({ from: name, to: name })

const onMember = <V extends string>(verb: V) => z.strictObject({ verb: z.literal(verb), target: name, ...schedule })
const onLink = <V extends string>(verb: V) => z.strictObject({ verb: z.literal(verb), link, ...filters })
const atStep = <V extends string>(verb: V) =>
  z.strictObject({ verb: z.literal(verb), step: name, target: name.optional(), first: z.int().min(1).optional(), ...schedule })

const faultSchema = z.discriminatedUnion('verb', [
  onMember('crash'),
  onMember('destroy'),
  onMember('restart'),
  onMember('stop'),
  onMember('pause'),
  onMember('resume'),
  onMember('stepDown'),
  /** Each message that the member takes costs `factor` - 1 milliseconds more. */
  z.strictObject({ verb: z.literal('slow'), target: name, factor: z.number().gt(1), ...schedule }),
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
  z.strictObject({ verb: z.literal('delay'), link, by: lasting, upTo: lasting.optional(), ...filters }),
  /** Bytes in a second, in each direction of each link. */
  z.strictObject({ verb: z.literal('limit'), link, to: rate, ...filters }),
  onLink('drop'),
  z.strictObject({ verb: z.literal('refuse'), link: oneWay, ...filters }),
  z.strictObject({ verb: z.literal('cut'), link: oneWay, ...filters }),
  z.strictObject({ verb: z.literal('duplicate'), link, ...filters, kinds: z.array(z.enum(repeatedKinds)).min(1).optional() }),
  atStep('hold'),
  atStep('fail'),
  atStep('crashAt'),
])

/** A fault as a caller may write it. */
export type FaultInput = z.input<typeof faultSchema>
/** A fault with its times in milliseconds. */
export type FaultSpec = z.output<typeof faultSchema>
export type FaultVerb = FaultSpec['verb']

/** Checks a fault that is data, and fills in defaults. @throws OptionError one sentence */
export function parseFaultData(data: unknown): FaultSpec {
  const parsed = faultSchema.safeParse(data)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  const verb = (data as { verb?: unknown } | null)?.verb
  if (issue.path[0] === 'verb' && !faultVerbs.includes(verb as FaultVerb))
    throw new OptionError(`${JSON.stringify(verb)} is no verb of a fault; the verbs are ${faultVerbs.join(', ')}.`)
  const where = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  throw new OptionError(`the fault ${String(verb)} is wrong: ${where}${issue.message.replace(/\.$/, '')}.`)
}
