/** Options that the data in a directory determines. */
import { readableSize } from '@shardlab/quantities'
import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import { resolveOptions } from '../resolve-options.js'
import type { ResolvedOptions } from '../resolved-options.js'

const determined = [
  'topology',
  'emulate',
  'shards',
  'standby',
  'members',
  'sets',
  'setName',
  'initiate',
  'chunkSizeBytes',
] as const satisfies readonly (keyof ResolvedOptions)[]

export type DeterminedOptions = Pick<ResolvedOptions, (typeof determined)[number]>

export function determinedBy(options: ResolvedOptions): DeterminedOptions {
  return Object.fromEntries(determined.map((name) => [name, options[name]])) as unknown as DeterminedOptions
}

/**
 * The given options, with those of the directory where they are absent.
 * @throws OptionError for an option that contradicts the directory
 */
export function optionsOfDirectory(
  given: ClusterOptions,
  stored: DeterminedOptions,
  directory: string,
): ResolvedOptions {
  const contradiction = (option: string, own: string, other: string): OptionError =>
    new OptionError(
      `${option} is ${own}, but ${directory} holds a cluster with ${other}: remove the option, or choose another directory.`,
    )
  // First: the other options of the directory do not suit another topology.
  if (given.topology !== undefined && given.topology !== stored.topology)
    throw contradiction('topology', String(given.topology), stored.topology)
  const resolved = resolveOptions({ ...storedOptions(stored), ...definedOf(given) })
  for (const name of determined) {
    const typed = name === 'chunkSizeBytes' ? 'chunkSize' : name
    if (given[typed] === undefined) continue
    const [own, other] = [resolved[name], stored[name]]
    if (JSON.stringify(own) !== JSON.stringify(other))
      throw contradiction(typed, textOf(name, own), textOf(name, other))
  }
  return { ...resolved, ...stored }
}

function definedOf(options: ClusterOptions): ClusterOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** Without the chunk size, which the catalog has. */
function storedOptions({
  topology,
  emulate,
  shards,
  standby,
  members,
  sets,
  setName,
  initiate,
}: DeterminedOptions): ClusterOptions {
  if (topology === 'standalone') return { topology, emulate }
  if (topology === 'replica-set') return { topology, emulate, members: members!, setName, initiate }
  const ofSets = Object.fromEntries(Object.entries(sets).map(([name, own]) => [name, own ?? 1]))
  return { topology, emulate, shards, standby, members: members ?? 1, sets: ofSets, initiate }
}

/** As a user would write it. */
function textOf(name: (typeof determined)[number], value: unknown): string {
  if (name === 'chunkSizeBytes') return value === 0 ? "the version's" : readableSize(value as number)
  if (name === 'members') return membersText(value as ResolvedOptions['members'])
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Only their number, if they have no options of their own. */
function membersText(members: ResolvedOptions['members']): string {
  const arePlain = (members ?? []).every((member) => Object.keys(member).length === 0)
  return arePlain ? String(members?.length ?? 1) : JSON.stringify(members)
}
