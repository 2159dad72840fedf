/** The clusters of one `up` process: the one it has started, and its forks. */
import { OptionError, type ClusterSnapshot, type RoutedEvent, type ShardedCluster } from '@shardlab/cluster'

const mainId = 'main'
/** Older events are dropped: a client that asks too late gets an error. */
const routedMax = 100_000

export class ControlledCluster {
  readonly cluster: ShardedCluster
  /** By their ids. */
  readonly snapshots = new Map<string, ClusterSnapshot>()
  /** The state to which `reset` returns; null: the cluster cannot be copied. */
  #initial: ClusterSnapshot | null = null
  readonly #routed: RoutedEvent[] = []
  /** Events before the first of {@link #routed}. */
  #dropped = 0
  #isRecording = false

  constructor(cluster: ShardedCluster) {
    this.cluster = cluster
  }

  /** Takes the snapshot for `reset`. @throws OptionError the cluster cannot be copied */
  async keepState(): Promise<void> {
    this.#initial = await this.cluster.snapshot()
  }

  async reset(): Promise<void> {
    if (this.#initial === null) throw new OptionError('there is no state to reset to: keep one first.')
    await this.cluster.restore(this.#initial)
  }

  /** A position in the list of routed operations. The first call begins the list. */
  async mark(): Promise<number> {
    if (!this.#isRecording) {
      this.#isRecording = true
      this.cluster.on('routed', (event) => this.#add(event))
    }
    await this.#deliverEvents()
    return this.#dropped + this.#routed.length
  }

  /** @throws OptionError there is no such mark, or its events have been dropped */
  async routedSince(mark: number): Promise<readonly RoutedEvent[]> {
    await this.#deliverEvents()
    const end = this.#dropped + this.#routed.length
    if (!this.#isRecording || mark > end) throw new OptionError(`there is no mark ${mark}: set one first.`)
    if (mark < this.#dropped)
      throw new OptionError(`the operations since the mark ${mark} have been dropped: set marks more often.`)
    return this.#routed.slice(mark - this.#dropped)
  }

  #add(event: RoutedEvent): void {
    this.#routed.push(event)
    if (this.#routed.length <= routedMax) return
    this.#routed.shift()
    this.#dropped++
  }

  /** Once a router has answered, its earlier events have arrived. */
  async #deliverEvents(): Promise<void> {
    const routers = this.cluster.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
    await Promise.all(routers.map(({ address }) => this.cluster.describe(address)))
  }
}

export class ControlledClusters {
  readonly #clusters = new Map<string, ControlledCluster>()

  constructor(main: ShardedCluster) {
    this.#clusters.set(mainId, new ControlledCluster(main))
  }

  get ids(): readonly string[] {
    return [...this.#clusters.keys()]
  }

  find(id: string): ControlledCluster | undefined {
    return this.#clusters.get(id)
  }

  async fork(id: string): Promise<string> {
    const fork = await this.#clusters.get(id)!.cluster.fork()
    this.#clusters.set(fork.id, new ControlledCluster(fork))
    return fork.id
  }

  /** @throws OptionError the main cluster ends with the process */
  async stop(id: string): Promise<void> {
    if (id === mainId) throw new OptionError('the cluster main ends with its process: send SIGTERM.')
    const { cluster } = this.#clusters.get(id)!
    this.#clusters.delete(id)
    await cluster.stop()
  }

  async stopForks(): Promise<void> {
    await Promise.all(this.ids.filter((id) => id !== mainId).map((id) => this.stop(id)))
  }
}
