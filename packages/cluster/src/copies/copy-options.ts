/** What may be said about a cluster that begins with a snapshot, and which clusters can go on from one. */
import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { contentOf } from './snapshot.js'

/** What a copy may have of its own. */
const own: ReadonlySet<string> = new Set(['port', 'host', 'autoAdvance'])
/** What does not make another cluster. Shards are counted by the members. */
const notCompared: ReadonlySet<string> = new Set([...own, 'hosts', 'seed', 'shards'])

/**
 * Options of a cluster that begins with `from`: those of the snapshot, on any free ports.
 * @param check reads options that stand by themselves
 * @throws OptionError for an option that says something else than the snapshot
 */
export function optionsOfCopy(
  { from, ...given }: ClusterOptions & Required<Pick<ClusterOptions, 'from'>>,
  check: (options: ClusterOptions) => ResolvedOptions,
): ResolvedOptions {
  const { options } = contentOf(from)
  const { runtime, clock, mongos } = options
  const ofItsOwn: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (own.has(name)) ofItsOwn[name] = value
    else if (!(name in options)) throw new OptionError(`${name} comes with the snapshot: leave it out.`)
    else refuseOther(name, value, options[name as keyof ResolvedOptions])
  }
  const { host, port, autoAdvance } = check({ host: options.host, runtime, clock, mongos, ...ofItsOwn })
  return { ...options, host, port, autoAdvance }
}

function refuseOther(name: string, value: unknown, theirs: unknown): void {
  if (value !== theirs)
    throw new OptionError(
      `${name} is ${JSON.stringify(value)}, but the snapshot is of a cluster with ${JSON.stringify(theirs)}: leave it out.`,
    )
}

/** @throws OptionError when a cluster with these options cannot become what another one was */
export function checkFits(mine: ResolvedOptions, theirs: ResolvedOptions): void {
  for (const [name, value] of Object.entries(mine)) {
    const other = theirs[name as keyof ResolvedOptions]
    if (notCompared.has(name) || value === other) continue
    throw new OptionError(
      `this cluster was started with ${name} ${JSON.stringify(value)}, the snapshot is of one with ${JSON.stringify(other)}: start a cluster from it, ShardedCluster.start({ from: snapshot }).`,
    )
  }
}
