/** A file that describes the sets of a cluster, for `shardlab up --topology-file`. */
import { readFile } from 'node:fs/promises'
import {
  brokenMemberRule,
  OptionError,
  type ClusterOptions,
  type MemberOptions,
  type SetMembers,
} from '@shardlab/cluster'
import { YamlFile, type SettingPath } from '@shardlab/load/basics'
import { durationFrom, QuantityError } from '@shardlab/quantities'
import { z } from 'zod'

const whole = (from: number, to: number) => {
  const message = `must be a whole number from ${from} to ${to}`
  return z.number(message).int(message).min(from, message).max(to, message)
}

const delay = z.union([z.string(), z.number()], 'must be a time such as 30s').transform((value, context): number => {
  try {
    const ms = durationFrom(value)
    if (ms >= 0 && ms % 1000 === 0) return ms / 1000
    context.addIssue({ code: 'custom', message: 'must be a whole number of seconds, such as 30s' })
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
  return z.NEVER
})

const priorityRange = 'must be a number from 0 to 1000'

/** `null`: an empty entry of the list, a member with all defaults. */
const memberSchema = z
  .strictObject({
    priority: z.number(priorityRange).min(0, priorityRange).max(1000, priorityRange).optional(),
    votes: z.union([z.literal(0), z.literal(1)], 'must be 0 or 1').optional(),
    hidden: z.boolean().optional(),
    /** A time; the option of the API is in seconds. */
    secondaryDelay: delay.optional(),
    tags: z.record(z.string(), z.string('must be a text, in quotes if it is a number')).optional(),
    arbiterOnly: z.boolean().optional(),
    buildIndexes: z.boolean().optional(),
  })
  .nullable()

const count = 'must be a whole number from 1 to 7, or a list of members such as [{ priority: 2 }, {}, {}]'
const number = z.number(count).int(count).min(1, count).max(7, count)

const file = z.strictObject({
  topology: z
    .enum(['sharded', 'replica-set', 'standalone'], 'must be one of sharded, replica-set, standalone')
    .optional(),
  shards: whole(0, 1000).optional(),
  mongos: whole(1, 100).optional(),
  /** These two are checked on their own, so that errors name the member. */
  members: z.unknown().optional(),
  sets: z.record(z.string(), z.unknown()).optional(),
  standby: z.array(z.string()).optional(),
  setName: z.string().optional(),
  initiate: z.boolean().optional(),
})

/** Options of the API that a topology file sets. */
export type TopologyOptions = Pick<ClusterOptions, keyof typeof file.shape>

/** @throws OptionError with file, line and rule */
export async function readTopologyFile(path: string): Promise<TopologyOptions> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new OptionError(
      code === 'ENOENT'
        ? `topology file ${path} does not exist: name a file with members or sets.`
        : `topology file ${path} cannot be read (${message}): name a file that this user may read.`,
    )
  }
  return parseTopologyFile(text, path)
}

/** @throws OptionError with file, line and rule */
export function parseTopologyFile(text: string, path: string): TopologyOptions {
  const yaml = new YamlFile(text, { path, whole: 'the topology', Problem: OptionError })
  const { members, sets, ...others } = yaml.checked(file)
  return {
    ...present(others),
    ...(members === undefined ? {} : { members: membersAt(yaml, ['members'], members) }),
    ...(sets === undefined
      ? {}
      : {
          sets: Object.fromEntries(
            Object.entries(sets).map(([name, own]) => [name, membersAt(yaml, ['sets', name], own)]),
          ),
        }),
  }
}

function membersAt(yaml: YamlFile, at: SettingPath, value: unknown): SetMembers {
  const originOf = (setting: SettingPath): SettingPath => [...at, ...setting]
  if (!Array.isArray(value)) return yaml.checked(number, value, originOf)
  const given = yaml.checked(z.array(memberSchema), value, originOf).map((each) => memberOptions(each))
  const broken = brokenMemberRule(given, at.at(-1) === 'config')
  if (broken === null) return given
  const { index, option, message } = broken
  const setting = option === 'secondaryDelaySecs' ? 'secondaryDelay' : option
  return yaml.fail([...at, ...(index === null ? [] : [index]), ...(setting === null ? [] : [setting])], message)
}

function memberOptions(member: z.infer<typeof memberSchema>): MemberOptions {
  const { secondaryDelay, ...others } = member ?? {}
  return present({ ...others, secondaryDelaySecs: secondaryDelay })
}

function present<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
