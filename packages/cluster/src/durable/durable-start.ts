/** A cluster on a directory: its start, and what its start reports. */
import type { ClusterEvent } from '@shardlab/actor'
import type { InlineRuntimeOptions, MemberInfo, Runtime } from '@shardlab/runtime'
import { startMembers } from '../composition.js'
import type { Relocation } from '../copies/relocation.js'
import type { ClusterOptions } from '../options.js'
import { withOwnName } from '../own-name.js'
import { resolveOptions } from '../resolve-options.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { describeTopology } from '../topology.js'
import type { DataDirectory } from './data-directory.js'

/** Null: the data is in memory. @throws OptionError */
export async function openDirectory(options: ClusterOptions | null | undefined): Promise<DurableStart | null> {
  if (options?.dbPath === undefined) return null
  // Most clusters have their data in memory.
  const { DataDirectory: Directory } = await import('./data-directory.js')
  return new DurableStart(Directory.open(options))
}

/**
 * The options of a cluster that would start with these.
 * @throws OptionError
 */
export async function resolveStartOptions(options: ClusterOptions): Promise<ResolvedOptions> {
  if (options.dbPath === undefined) return resolveOptions(options)
  const { optionsOfStart } = await import('./data-directory.js')
  return optionsOfStart(options)
}

/** @throws OptionError */
export function optionsOf(directory: DurableStart | null, options: ClusterOptions): Promise<ResolvedOptions> {
  return withOwnName(directory?.options ?? resolveOptions(options))
}

export class DurableStart {
  readonly #directory: DataDirectory
  /** What members have reported before the cluster has listeners. */
  readonly #reports: ClusterEvent[] = []

  constructor(directory: DataDirectory) {
    this.#directory = directory
  }

  get options(): ResolvedOptions {
    return this.#directory.options
  }

  get hooks(): Required<Pick<InlineRuntimeOptions, 'disks' | 'seed'>> {
    const { disks, seed } = this.#directory
    return { disks, seed }
  }

  /** @param options with the name of this machine */
  async start(runtime: Runtime, options: ResolvedOptions, relocation: Relocation): Promise<MemberInfo[]> {
    const unlisten = runtime.onEvent((event) => {
      if (event.type === 'log' && event.level === 'warn') this.#reports.push(event)
    })
    const { members } = this.#directory
    const started =
      members.length === 0
        ? await startMembers(runtime, options, describeTopology(options), runtime.now())
        : await this.#startStored(runtime, options, relocation)
    this.#directory.started()
    unlisten()
    return started
  }

  async #startStored(runtime: Runtime, options: ResolvedOptions, relocation: Relocation): Promise<MemberInfo[]> {
    const { startStored } = await import('./start-stored.js')
    return startStored(runtime, options, this.#directory.members, relocation)
  }

  /** Calls the listener in a later turn, when the caller of the start has added its own. */
  onReport(listener: (event: ClusterEvent) => void): void {
    setImmediate(() => this.#reports.splice(0).forEach(listener))
  }

  close(): void {
    this.#directory.close()
  }
}
