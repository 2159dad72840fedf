/** A replica set without sharding in virtual time. */
import { RequestFailedError, type ClusterEvent, type MutationName } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createMongod, type MongodOptions } from '@shardlab/node'
import { createSimulatedRuntime, type SimulatedRuntime } from '@shardlab/runtime'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'

export interface SetUnderTestOptions {
  readonly seed: number
  readonly members?: number
  readonly emulate?: EmulatedVersion
  /** Further fields of the members in the configuration. */
  readonly config?: readonly Document[]
  readonly settings?: Document
  readonly mutations?: readonly MutationName[]
  readonly checkpointAfterBytes?: number
  readonly diskLimitBytes?: number
}

type EventOf<T extends ClusterEvent['type']> = Extract<ClusterEvent, { type: T }>

export class SetUnderTest {
  readonly runtime: SimulatedRuntime
  readonly names: readonly string[]
  readonly events: ClusterEvent[] = []

  private constructor(runtime: SimulatedRuntime, names: readonly string[]) {
    this.runtime = runtime
    this.names = names
    runtime.onEvent((event) => this.events.push(event))
  }

  /** Resolves when the first member is primary. */
  static async start(options: SetUnderTestOptions): Promise<SetUnderTest> {
    const { seed, members = 3, emulate = '7.0', config = [], settings = {}, mutations = [] } = options
    const runtime = createSimulatedRuntime({ roles: { mongod: createMongod }, seed, mutations, logLevel: 'warn' })
    const names = Array.from({ length: members }, (_, i) => `rs-${i + 1}`)
    const set = new SetUnderTest(runtime, names)
    const mongod: MongodOptions = {
      emulate,
      maxWireVersion: behavioursOf(emulate).announcedWireVersion,
      ...(options.checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes: options.checkpointAfterBytes }),
      oplogSizeBytes: 1024 * 1024,
      set: { name: 'rs' },
    }
    const started = await runtime.start(
      names.map((address) => ({
        address,
        set: 'rs',
        role: 'mongod',
        listen: { host: '127.0.0.1', port: 0 },
        diskLimitBytes: options.diskLimitBytes ?? 2 ** 30,
        options: mongod,
      })),
    )
    const document = encode({
      _id: 'rs',
      version: 1,
      ...(behavioursOf(emulate).configTerm ? { term: 0 } : {}),
      members: started.map(({ endpoint }, i) => ({ _id: i, host: endpoint, ...config[i] })),
      settings: { heartbeatIntervalMillis: 500, electionTimeoutMillis: 2000, ...settings },
    })
    const atMs = runtime.now()
    await Promise.all(
      names.map((name, i) =>
        runtime.request(name, 'replication.initiate', { config: document, atMs, isPrimary: i === 0 }),
      ),
    )
    return set
  }

  /** Of a client of one member. */
  async command(to: string, command: Document, connectionId = 1): Promise<Document> {
    const { body } = await this.runtime.request(to, 'client.command', {
      connectionId,
      body: encode({ ...command, $db: command['$db'] ?? 'app' }),
      sequences: [],
      legacy: false,
      remote: '127.0.0.1:5000',
    })
    return decode(body, { promoteLongs: true })
  }

  /** Null: the member is down, or went down before it answered. */
  async tryCommand(to: string, command: Document, connectionId = 1): Promise<Document | null> {
    try {
      return await this.command(to, command, connectionId)
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }

  admin(to: string, command: Document): Promise<Document> {
    return this.command(to, { ...command, $db: 'admin' })
  }

  get running(): string[] {
    return this.names.filter((name) => this.runtime.member(name)?.state === 'running')
  }

  async writablePrimaries(): Promise<string[]> {
    const states = await Promise.all(
      this.running.map(async (name) => [name, await this.runtime.describe(name)] as const),
    )
    return states.filter(([, { isWritable }]) => isWritable === true).map(([name]) => name)
  }

  /** Advances until exactly one member accepts writes. @throws Error after a minute */
  async primary(): Promise<string> {
    for (let i = 0; i < 600; i++) {
      const primaries = await this.writablePrimaries()
      if (primaries.length === 1) return primaries[0]!
      await this.runtime.advance(100)
    }
    throw new Error('no member became primary within a minute')
  }

  async secondary(): Promise<string> {
    const primary = await this.primary()
    return this.running.find((name) => name !== primary)!
  }

  /** Nothing passes between the two groups. @returns heals it */
  async partition(one: readonly string[], others: readonly string[]): Promise<() => Promise<void>> {
    const id = await this.runtime.faults.apply({
      scope: 'link',
      effect: { type: 'partition', silenceMs: 10_000 },
      from: one,
      to: others,
      bothWays: true,
      kinds: null,
      times: null,
      probability: 1,
      seed: null,
    })
    return () => this.runtime.faults.heal(id)
  }

  isolate(name: string): Promise<() => Promise<void>> {
    return this.partition(
      [name],
      this.names.filter((other) => other !== name),
    )
  }

  /** Advances until all members have the same newest entry. @throws Error after two minutes */
  async settle(): Promise<void> {
    let last = ''
    for (let i = 0; i < 240; i++) {
      await this.runtime.advance(500)
      const states = await Promise.all(this.names.map((name) => this.runtime.describe(name)))
      const positions = new Set(states.map(({ lastApplied }) => JSON.stringify(lastApplied)))
      const isReadable = states.every(
        ({ state }) => state === 'PRIMARY' || state === 'SECONDARY' || state === 'ARBITER',
      )
      last = JSON.stringify(
        states.map(({ state, term, lastApplied, syncSource }) => ({ state, term, lastApplied, syncSource })),
      )
      if (positions.size === 1 && isReadable && states.filter(({ isWritable }) => isWritable === true).length === 1)
        return
    }
    throw new Error(`the members did not become equal within two minutes: ${last}`)
  }

  eventsOf<T extends ClusterEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type)
  }

  stop(): Promise<void> {
    return this.runtime.stop()
  }
}
