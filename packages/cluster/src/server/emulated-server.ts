/**
 * One mongod or mongos as a process has it: with a port, the name of its set, and without the rest
 * of its cluster, which it finds by the ports of the other processes.
 */
import {
  balancerAddress,
  createObjectIdFactory,
  createRandom,
  noAnswer,
  ownRemote,
  RequestFailedError,
  type Address,
  type ClusterEvent,
} from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import {
  createInlineRuntime,
  ProcessLinks,
  Rendezvous,
  type DirectoryStore,
  type InlineRuntime,
} from '@shardlab/runtime'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Faults } from '../faults/faults.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { lazyRoles } from '../roles.js'
import { checkTls } from '../tls-options.js'
import { LocalDatabase } from './local-database.js'
import { outsideServer } from './outside-server.js'
import { directoryError } from './server-directory-error.js'
import { ServerDirectory } from './server-directory.js'
import { balancerSpec, localAddress, localSpec, resolvedOf, setOfServer, specOfServer } from './server-member.js'
import type { EmulatedServerOptions } from './server-options.js'

/** Of the commands of {@link EmulatedServer.command}: clients have lower numbers. */
const ownConnectionId = 2 ** 31 - 1
const writableAskMs = 5
const configSearchMs = 50

interface ServerParts {
  readonly runtime: InlineRuntime
  /** Null: the server is part of no cluster. */
  readonly links: ProcessLinks | null
  /** Null: data is in memory. */
  readonly directory: ServerDirectory | null
}

export class EmulatedServer {
  readonly #runtime: InlineRuntime
  readonly #address: Address
  readonly #links: ProcessLinks | null
  readonly #directory: ServerDirectory | null
  readonly #resolved: ResolvedOptions
  readonly #options: EmulatedServerOptions
  #isPrimary = false

  private constructor(
    { runtime, links, directory }: ServerParts,
    address: Address,
    options: EmulatedServerOptions,
    resolved: ResolvedOptions,
  ) {
    this.#runtime = runtime
    this.#links = links
    this.#directory = directory
    this.#address = address
    this.#options = options
    this.#resolved = resolved
  }

  /**
   * Resolves when the server listens; a router waits for a config server before it does.
   * @throws OptionError an option is wrong
   * @throws ServerDirectoryError it cannot use its directory
   * @throws Error of Node.js, such as EADDRINUSE, when it cannot listen
   */
  static async start(options: EmulatedServerOptions): Promise<EmulatedServer> {
    const resolved = resolvedOf(options)
    if (resolved.tls !== null) await checkTls(resolved.tls)
    const port = options.port === 0 ? await freePort(options.host) : options.port
    const directory = directoryOf(options, resolved, port)
    try {
      return await EmulatedServer.#startIn(directory, port, options, resolved)
    } catch (error) {
      directory?.close()
      throw directory === null ? error : directoryError(options.dbPath!, error)
    }
  }

  static async #startIn(
    directory: ServerDirectory | null,
    port: number,
    options: EmulatedServerOptions,
    resolved: ResolvedOptions,
  ): Promise<EmulatedServer> {
    const spec = specOfServer(options, resolved, port)
    const links =
      options.role === 'mongod' && options.setName === null ? null : linksOf(options, spec.address, port, directory)
    // Logins at the member are unknown to the standalone mongod with that database.
    const local = links === null || resolved.auth ? null : new LocalDatabase(localSpec(resolved, port), () => runtime)
    const runtime: InlineRuntime = createInlineRuntime({
      ...(local === null || options.role === 'mongos' ? {} : { openGateway: local.openGateway }),
      ...(directory?.disks == null ? {} : { disks: directory.disks }),
      roles: await rolesOf(options),
      seed: resolved.seed,
      outside: outsideServer(() => ({ runtime, faults, copies: null, options: null, live: null }), links),
      ...(links === null ? {} : { links }),
    })
    const faults = new Faults(runtime, { ...resolved, restart: async (member) => void (await runtime.restart(member)) })
    if (options.onEvent !== undefined) runtime.onEvent(options.onEvent)
    const server = new EmulatedServer({ runtime, links, directory }, spec.address, options, resolved)
    // The only member of a set is primary before its start resolves.
    runtime.onEvent((event) => server.#noteState(event))
    try {
      if (options.role === 'mongos') await configServerOf(options, links!)
      await runtime.start([spec])
      if (directory?.hasLocal === true) await local?.start()
      await links?.open()
      return server
    } catch (error) {
      links?.close()
      await runtime.stop()
      throw error
    }
  }

  /** `host:port`. */
  get endpoint(): string {
    return this.#runtime.member(this.#address)!.endpoint
  }

  /**
   * Runs a command as a client does, without a login.
   * @returns the reply, also when it is an error
   * @throws RequestFailedError the server is down
   */
  async command(command: Document): Promise<Document> {
    const { body } = await this.#runtime.request(this.#address, 'client.command', {
      ...{ connectionId: ownConnectionId, body: encode(command), sequences: [], legacy: false, remote: ownRemote },
    })
    if (body.length === noAnswer.length)
      throw new RequestFailedError('unreachable', this.#address, 'the connection was closed')
    return decode(body)
  }

  /** Ends connections in order. */
  async stop(): Promise<void> {
    await this.#runtime.stop()
    this.#links?.close()
    this.#directory?.close()
  }

  #noteState(event: ClusterEvent): void {
    if (event.type !== 'member-state') return
    this.#isPrimary = event.to === 'PRIMARY'
    const work = this.#isPrimary ? this.#becomePrimary() : this.#leaveToOthers()
    work.catch((error: unknown) => {
      // The server was stopped, or lost its set.
      if (!(error instanceof RequestFailedError)) throw error
    })
  }

  /** A primary accepts writes only after it has caught up, and no event reports that. */
  async #becomePrimary(): Promise<void> {
    for (;;) {
      const { isWritable } = await this.#runtime.request(this.#address, 'replication.find-primary', {})
      if (isWritable) break
      await sleep(writableAskMs)
      if (!this.#isPrimary) return
    }
    this.#options.onWritable?.()
    if (this.#options.role === 'config-server') await this.#serveCatalog()
  }

  /** The primary of the config server makes the catalog of a new cluster, and has the balancer. */
  async #serveCatalog(): Promise<void> {
    const clusterId = createObjectIdFactory(createRandom(this.#resolved.seed).fork('cluster-id'))(this.#runtime.now())
    const { chunkSizeBytes } = this.#resolved
    await this.#runtime.request(this.#address, 'config.initialise', { clusterId, shards: [], chunkSizeBytes })
    const balancer = this.#runtime.member(balancerAddress)
    if (balancer === undefined) await this.#runtime.start([balancerSpec(this.#resolved)])
    else if (balancer.state !== 'running') await this.#runtime.restart(balancerAddress)
    this.#links!.announce()
  }

  async #leaveToOthers(): Promise<void> {
    if (this.#runtime.member(balancerAddress) !== undefined) await this.#runtime.halt(balancerAddress)
  }
}

async function rolesOf({ role }: EmulatedServerOptions) {
  const names = {
    mongod: [role],
    shard: [role, 'mongod'],
    'config-server': [role, 'balancer-of-sets', 'mongod'],
    mongos: [role],
  }[role]
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await lazyRoles[name]!()] as const)))
}

/** Null: the server has none. */
function directoryOf(
  { role, setName, dbPath, storesData = true }: EmulatedServerOptions,
  { emulate }: ResolvedOptions,
  port: number,
): ServerDirectory | null {
  if (dbPath === undefined || role === 'mongos') return null
  return ServerDirectory.open({ path: dbPath, storesData, emulate, role, setName }, localAddress(port))
}

function linksOf(
  options: EmulatedServerOptions,
  address: Address,
  port: number,
  store: DirectoryStore | null,
): ProcessLinks {
  const rendezvous = new Rendezvous(options.meetIn)
  const self = {
    ...{ pid: process.pid, port, address, set: setOfServer(options), endpoint: `${options.host}:${port}` },
    socket: rendezvous.socketOf(port),
  }
  return new ProcessLinks(rendezvous, self, store)
}

/** Resolves when a member of the config server runs, as a mongos waits for it. */
async function configServerOf({ configDb }: EmulatedServerOptions, { directory }: ProcessLinks): Promise<void> {
  while (configDb!.hosts.flatMap((host) => directory.resolve(host)).length === 0) await sleep(configSearchMs)
}

async function freePort(host: string): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port: 0 }, resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
