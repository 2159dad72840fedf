/** A filled cluster, made once in a run of tests, of which every test gets a copy. */
import { ClusterSnapshot, OptionError, ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { createHash } from 'node:crypto'
import { loadDump } from './load-dump.js'
import { SharedFile } from './shared-file.js'
import { currentRun } from './test-run.js'

export interface FillContext {
  readonly uri: string
  readonly cluster: ShardedCluster
}

export interface TemplateOptions extends Omit<ClusterOptions, 'runtime' | 'port' | 'from'> {
  /**
   * Fills the cluster. It runs once in a run of tests, in one of the processes, before the first
   * test. Default: the cluster is empty, or has the content of `dump` or `from`.
   */
  readonly fill?: (context: FillContext) => Promise<void> | void
  /** A folder that mongodump has written, loaded before `fill`. */
  readonly dump?: string
  /** A file that `snapshot.save` has written. It determines the options of the cluster. */
  readonly from?: string
  /**
   * Two templates of a run with equal options, equal source text of `fill` and equal keys are one.
   * Needed when two functions have the same text and read different variables.
   */
  readonly key?: string
}

const templates = new Map<string, Promise<Template>>()

/**
 * The template with these options, which is filled once in a run of tests: processes of the same
 * run share its snapshot by a file.
 * @throws OptionError an option is wrong
 */
export function template(options: TemplateOptions = {}): Promise<Template> {
  const name = nameOf(options)
  const known = templates.get(name) ?? make(options, name)
  templates.set(name, known)
  // A failed one is not remembered: the next test reports the error too.
  known.catch(() => templates.delete(name))
  return known
}

export class Template {
  readonly #snapshot: ClusterSnapshot

  constructor(snapshot: ClusterSnapshot) {
    this.#snapshot = snapshot
  }

  /** A cluster of its own with the content of the template, on free ports. Takes milliseconds. */
  fork(options: Pick<ClusterOptions, 'port' | 'host' | 'autoAdvance'> = {}): Promise<ShardedCluster> {
    return ShardedCluster.start({ ...options, from: this.#snapshot })
  }

  /** Writes a file for `from`. */
  save(path: string): Promise<void> {
    return this.#snapshot.save(path)
  }
}

async function make(options: TemplateOptions, name: string): Promise<Template> {
  const run = currentRun()
  if (options.from !== undefined && options.fill === undefined && options.dump === undefined)
    return new Template(await loaded(options.from))
  if (!run.hasSeveralProcesses) return new Template(await filled(options))
  let own: ClusterSnapshot | null = null
  const file = new SharedFile(run.folder, name)
  const path = await file.get(async (temporary) => {
    own = await filled(options)
    await own.save(temporary)
  })
  return new Template(own ?? (await loaded(path)))
}

async function filled(given: TemplateOptions): Promise<ClusterSnapshot> {
  const { fill, dump, from, key, ...options } = given
  if (key !== undefined && key === '') throw new OptionError('key is empty: leave it out.')
  const cluster = await ShardedCluster.start(
    from === undefined ? { ...options, runtime: 'inline' } : { ...options, from },
  )
  try {
    if (dump !== undefined) await loadDump(cluster.uri, dump)
    await fill?.({ uri: cluster.uri, cluster })
    return await cluster.snapshot()
  } finally {
    await cluster.stop()
  }
}

/** Started once, because copies of a cluster that runs start faster than from a file. */
async function loaded(path: string): Promise<ClusterSnapshot> {
  const cluster = await ShardedCluster.start({ from: path })
  try {
    return await cluster.snapshot()
  } finally {
    await cluster.stop()
  }
}

function nameOf({ fill, ...options }: TemplateOptions): string {
  const text = JSON.stringify([options, fill === undefined ? null : String(fill)])
  return createHash('sha256').update(text).digest('hex').slice(0, 24)
}
