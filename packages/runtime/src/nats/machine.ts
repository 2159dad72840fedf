/**
 * A machine that runs members of clusters: a process that offers itself under a name. It forgets a
 * cluster that has stopped, or was silent for too long.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { DiskFolder } from '../disks/files/disk-folder.js'
import type { HostCall } from '../remote/host-commands.js'
import type { RoleLoaders } from '../remote/host-server.js'
import { BrokerError, type Broker, type BrokerMessage, type BrokerSubscription } from './broker.js'
import { decodeControl, encodeControl } from './control-codec.js'
import { ControlLink } from './control-link.js'
import { linkSettings, machineTimings, type MachineTimings } from './nats-options.js'
import type { MachineBoot, MachineFacts, MachineQuestion, MachineReply, StartedMachine } from './machine-protocol.js'
import { MachineServer } from './machine-server.js'
import { callSubject, machineSubject, reportSubject, startedSubject } from './subjects.js'

export interface MachineOptions {
  readonly broker: Broker
  /** Without dots, spaces and wildcards. */
  readonly name: string
  readonly roles: RoleLoaders
  /** Only clusters of the same version can take the machine. */
  readonly version: string
  /** Where clients reach the members. Default 127.0.0.1. */
  readonly host?: string
  /** Disks are files in `<folder>/<cluster>`. Default: they are in memory. */
  readonly folder?: string
  readonly timings?: Partial<MachineTimings>
  /** Called with a sentence about the machine. */
  readonly onNews?: (sentence: string) => void
}

interface Membership {
  readonly cluster: string
  control: ControlLink
  server: MachineServer | null
  /** Looks at it since its last call. */
  silentLooks: number
}

export class Machine {
  readonly #options: MachineOptions
  readonly #facts: MachineFacts
  readonly #timings: MachineTimings
  readonly #subscription: BrokerSubscription
  readonly #timer: NodeJS.Timeout
  readonly #memberships = new Map<string, Membership>()

  /** @throws BrokerError another machine has the name, or it cannot be a part of a subject */
  static async open(options: MachineOptions): Promise<Machine> {
    const { broker, name } = options
    linkSettings(broker, machineTimings)
    if (!/^[\w-]+$/.test(name))
      throw new BrokerError(`the name of a machine has letters, digits, _ and - only: ${name} has others.`)
    const other = await broker.request(machineSubject(name), encodeControl({ type: 'who' }), askedMs)
    if (other !== null) throw new BrokerError(`another host is named ${name}: choose another name.`)
    return new Machine(options)
  }

  private constructor(options: MachineOptions) {
    const { broker, name, version, host = '127.0.0.1', timings } = options
    this.#options = options
    this.#timings = { ...machineTimings, ...timings }
    this.#facts = { processId: randomBytes(8).toString('hex'), version, host }
    this.#subscription = broker.subscribe(machineSubject(name), (message) => this.#answer(message))
    const started: StartedMachine = { name, processId: this.#facts.processId }
    broker.publish(startedSubject, encodeControl(started))
    this.#timer = setInterval(() => this.#leaveSilentClusters(), this.#timings.pingMs)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#subscription.close()
    for (const membership of this.#memberships.values()) this.#leave(membership, 'the host ends')
  }

  #answer({ content, respond }: BrokerMessage): void {
    const question = decodeControl(content) as MachineQuestion
    const reply: MachineReply = question.type === 'who' ? this.#facts : this.#join(question)
    respond?.(encodeControl(reply))
  }

  #join({ version, cluster, hostId }: Extract<MachineQuestion, { type: 'join' }>): MachineReply {
    if (version !== this.#facts.version)
      return { refused: `runs version ${this.#facts.version} of Shardlab and the cluster ${version}` }
    const { broker, name } = this.#options
    const control = new ControlLink({
      broker,
      settings: linkSettings(broker, this.#timings),
      from: callSubject(cluster, hostId),
      to: reportSubject(cluster, hostId),
      receive: (call) => this.#serve(cluster, call as HostCall),
      // The supervisor notices, and the machine joins again.
      onBroken: () => {},
    })
    const membership = this.#memberships.get(cluster)
    if (membership === undefined) {
      this.#memberships.set(cluster, { cluster, control, server: null, silentLooks: 0 })
      this.#tell(`${name} is part of the cluster ${cluster}`)
    } else {
      membership.control.close()
      membership.control = control
      membership.silentLooks = 0
      this.#tell(`${name} is connected with the cluster ${cluster} again`)
    }
    return this.#facts
  }

  #serve(cluster: string, call: HostCall): void {
    const membership = this.#memberships.get(cluster)
    if (membership === undefined) return
    membership.silentLooks = 0
    if (call.command === 'join') membership.server ??= this.#createServer(membership, call.args[0] as MachineBoot)
    membership.server?.serve(call)
  }

  #createServer(membership: Membership, boot: MachineBoot): MachineServer {
    const { broker, roles, folder } = this.#options
    const { cluster } = membership
    return new MachineServer(boot, {
      broker,
      cluster,
      settings: linkSettings(broker, this.#timings),
      roles,
      folder: folder === undefined ? null : diskFolder(`${folder}/${cluster}`),
      send: (message) => membership.control.send(message),
      // After its answer.
      onLeave: () => void setImmediate(() => this.#leave(membership, 'the cluster has stopped')),
    })
  }

  #leaveSilentClusters(): void {
    const { pingMs, abandonedAfterMs } = this.#timings
    for (const membership of this.#memberships.values())
      if (++membership.silentLooks * pingMs > abandonedAfterMs)
        this.#leave(membership, `the cluster was silent for ${abandonedAfterMs / 1000} seconds`)
  }

  #leave(membership: Membership, why: string): void {
    const { cluster, server, control } = membership
    if (!this.#memberships.delete(cluster)) return
    server?.end()
    control.close()
    this.#tell(`${this.#options.name} has left the cluster ${cluster}: ${why}`)
  }

  #tell(sentence: string): void {
    this.#options.onNews?.(sentence)
  }
}

const askedMs = 1000

function diskFolder(path: string): DiskFolder {
  mkdirSync(path, { recursive: true })
  return new DiskFolder(path)
}
