/** Options that the data in a directory determines. */
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
  const resolved = resolveOptions({ ...storedOptions(stored), ...definedOf(given) })
  for (const name of determined) {
    const typed = name === 'chunkSizeBytes' ? 'chunkSize' : name
    if (given[typed] === undefined) continue
    const [own, other] = [resolved[name], stored[name]]
    if (JSON.stringify(own) !== JSON.stringify(other))
      throw new OptionError(
        `${typed} is ${textOf(own)}, but ${directory} holds a cluster with ${textOf(other)}: remove the option, or choose another directory.`,
      )
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
