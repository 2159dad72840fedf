import type { InlineRuntime, Runtime } from '@shardlab/runtime'
import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import type { ResolvedOptions } from '../resolved-options.js'
import type { SnapshotContent } from './snapshot-content.js'
import { contentOf } from './snapshot.js'

/** Options in which a copy can differ from its original. */
const ownOptions: ReadonlySet<string> = new Set(['port', 'host', 'insecure', 'tls', 'autoAdvance'])
/**
 * Options in which a cluster can differ from a snapshot that it is restored from. The members
 * determine the shards.
 */
const notCompared: ReadonlySet<string> = new Set([...ownOptions, 'hosts', 'seed', 'shards', 'standby'])

/**
 * The snapshot's options, with any free ports by default.
 * @param check checks options without `from`
 * @throws OptionError for an option that contradicts the snapshot
 */
export function optionsOfCopy(
  { from, ...given }: ClusterOptions & Required<Pick<ClusterOptions, 'from'>>,
  check: (options: ClusterOptions) => ResolvedOptions,
): ResolvedOptions {
  const { options } = contentOf(from)
  const { runtime, clock, topology, mongos, members, auth } = options
  // The listeners take consecutive ports.
  const listeners = {
    ...(topology === 'sharded' && { mongos }),
    ...(topology === 'replica-set' && { members: members! }),
  }
  const changed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (ownOptions.has(name)) changed[name] = value
    else if (!(name in options)) throw new OptionError(`${name} comes from the snapshot: remove it.`)
    else checkEqual(name, value, options[name as keyof ResolvedOptions])
  }
  const checked = check({
    host: options.host,
    runtime,
    clock,
    topology,
    auth,
    ...listeners,
    ...changed,
  })
  const { host, port, insecure, tls, autoAdvance } = checked
  // A file of an earlier release lacks newer options.
  return { ...checked, ...options, host, port, insecure, tls, autoAdvance }
}

function checkEqual(name: string, value: unknown, ofSnapshot: unknown): void {
  if (JSON.stringify(value) !== JSON.stringify(ofSnapshot))
    throw new OptionError(
      `${name} is ${JSON.stringify(value)}, but the snapshot is of a cluster with ${JSON.stringify(ofSnapshot)}: remove it.`,
    )
}

/** @throws OptionError if clusters like this cannot be copied */
export function copyableRuntime(runtime: Runtime, { dbPath }: ResolvedOptions): InlineRuntime {
  if (runtime.kind !== 'inline')
    throw new OptionError(
      "only a cluster in the caller's thread can be copied and restored: start it with runtime: 'inline', or with up --runtime inline.",
    )
  if (dbPath !== null)
    throw new OptionError(
      'a cluster with dbPath cannot be copied or restored: copy its directory while db.fsyncLock() holds.',
    )
  return runtime as InlineRuntime
}

/** @throws OptionError if a cluster with these options cannot be restored from the snapshot */
export function checkCompatible(
  ofCluster: ResolvedOptions,
  { isFromFile, options: ofSnapshot }: SnapshotContent,
): void {
  if (isFromFile)
    throw new OptionError(
      'a running cluster cannot be restored from a file: start another with ShardedCluster.start({ from: snapshot }).',
    )
  for (const [name, value] of Object.entries(ofCluster)) {
    const other = ofSnapshot[name as keyof ResolvedOptions]
    if (notCompared.has(name) || JSON.stringify(value) === JSON.stringify(other)) continue
    throw new OptionError(
      `this cluster has ${name} ${JSON.stringify(value)}, the snapshot ${JSON.stringify(other)}: start another cluster with ShardedCluster.start({ from: snapshot }).`,
    )
  }
}
