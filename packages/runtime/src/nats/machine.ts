/**
 * A machine that runs members of clusters: a process that offers itself under a name. It leaves a
 * cluster that has stopped, or was silent for too long.
 */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { DiskFolder } from '../disks/files/disk-folder.js'
import { makeFolder } from '../disks/files/make-folder.js'
import type { HostCall } from '../remote/host-commands.js'
import type { RoleLoaders } from '../remote/host-server.js'
import { toPortable } from '../remote/portable-error.js'
import { BrokerError, type Broker, type BrokerMessage, type BrokerSubscription } from './broker.js'
import { decodeControl, encodeControl } from './control-codec.js'
import { ControlLink } from './control-link.js'
import { isMachineCommand, isQuestion } from './machine-input.js'
import { linkSettings, machineTimings, type MachineTimings } from './nats-options.js'
import type { JoinQuestion, MachineBoot, MachineFacts, MachineNotice, MachineReply } from './machine-protocol.js'
import { MachineServer } from './machine-server.js'
import { callSubject, machineSubject, noticeSubject, reportSubject } from './subjects.js'

export interface MachineOptions {
  readonly broker: Broker
  /** Without dots, spaces and wildcards. */
  readonly name: string
  readonly roles: RoleLoaders
  /** Only clusters of the same version can take the machine. */
  readonly version: string
  /** Where clients reach the members. Default 127.0.0.1. */
  readonly host?: string
  /**
   * Disks are files in `<folder>/<cluster>`, until the cluster stops in order. Default: they are in
   * memory.
   */
  readonly folder?: string
  readonly timings?: Partial<MachineTimings>
  /** Called with a sentence about the machine. */
  readonly onNews?: (sentence: string) => void
  /** Called when another machine has taken the name. The machine is closed then. */
  readonly onReplaced?: () => void
}

interface Membership {
  readonly cluster: string
  control: ControlLink
  server: MachineServer | null
  /** Looks at it since its last call, while the broker was connected. */
  silentLooks: number
}

export class Machine {
  readonly #options: MachineOptions
  readonly #facts: MachineFacts
  readonly #timings: MachineTimings
  readonly #subscriptions: readonly BrokerSubscription[]
  readonly #timer: NodeJS.Timeout
  readonly #memberships = new Map<string, Membership>()

  /** @throws BrokerError another machine has the name, or it cannot be a part of a subject */
  static async open(options: MachineOptions): Promise<Machine> {
    const { broker, name } = options
    linkSettings(broker, machineTimings)
    if (!/^[\w-]+$/.test(name))
      throw new BrokerError(`the name of a host has letters, digits, _ and - only: choose another one than ${name}.`)
    const other = await broker.request(machineSubject(name), encodeControl({ type: 'facts' }), askedMs)
    if (other !== null) throw new BrokerError(`another host is named ${name}: choose another name.`)
    return new Machine(options)
  }

  private constructor(options: MachineOptions) {
    const { broker, name, version, host = '127.0.0.1', timings } = options
    this.#options = options
    this.#timings = { ...machineTimings, ...timings }
    this.#facts = { processId: randomBytes(8).toString('hex'), version, host }
    this.#subscriptions = [
      broker.subscribe(machineSubject(name), (message) => this.#answer(message)),
      broker.subscribe(noticeSubject, ({ content }) => this.#onNotice(decodeControl(content) as MachineNotice)),
    ]
    this.#notify('started')
    this.#timer = setInterval(() => this.#leaveSilentClusters(), this.#timings.pingMs)
  }

  /** Ends the members. Clusters learn it at once. */
  close(): void {
    clearInterval(this.#timer)
    for (const subscription of this.#subscriptions) subscription.close()
    for (const membership of this.#memberships.values()) this.#leave(membership, 'the host ends')
    this.#notify('ended')
  }

  #notify(state: MachineNotice['state']): void {
    const notice: MachineNotice = { name: this.#options.name, processId: this.#facts.processId, state }
    this.#options.broker.publish(noticeSubject, encodeControl(notice))
  }

  /** Two hosts that start at the same moment find no other one. */
  #onNotice(notice: MachineNotice | null): void {
    const { name, onReplaced } = this.#options
    if (notice?.name !== name || notice.state !== 'started' || notice.processId === this.#facts.processId) return
    this.close()
    onReplaced?.()
  }

  #answer({ content, respond }: BrokerMessage): void {
    const question: unknown = decodeControl(content)
    if (respond === null || !isQuestion(question)) return
    if (question.type === 'facts') respond(encodeControl(this.#facts))
    else if (question.processId === this.#facts.processId) respond(encodeControl(this.#join(question)))
  }

  #join({ version, cluster, hostId }: JoinQuestion): MachineReply {
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
    const { callId, command } = call
    try {
      if (!isMachineCommand(command)) throw new Error(`a host has no command ${command}`)
      if (command === 'join') membership.server ??= this.#createServer(membership, call.args[0] as MachineBoot)
    } catch (error) {
      membership.control.send({ type: 'failed', callId, error: toPortable(error) })
      return
    }
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
      onLeave: () =>
        void setImmediate(() => {
          this.#leave(membership, 'the cluster has stopped')
          // No other cluster can read it.
          if (folder !== undefined) rmSync(`${folder}/${cluster}`, { recursive: true, force: true })
        }),
    })
  }

  /** A machine without a connection waits: its cluster may be as well. */
  #leaveSilentClusters(): void {
    const { pingMs, abandonedAfterMs } = this.#timings
    for (const membership of this.#memberships.values()) {
      membership.silentLooks = this.#options.broker.isConnected ? membership.silentLooks + 1 : 0
      if (membership.silentLooks * pingMs > abandonedAfterMs)
        this.#leave(membership, `the cluster was silent for ${abandonedAfterMs / 1000} seconds`)
    }
  }

  #leave(membership: Membership, why: string): void {
    const { cluster, server, control } = membership
    if (!this.#memberships.delete(cluster)) return
    // First, so that the end of each member is not reported as a crash.
    control.close()
    server?.end()
    this.#tell(`${this.#options.name} has left the cluster ${cluster}: ${why}`)
  }

  #tell(sentence: string): void {
    this.#options.onNews?.(sentence)
  }
}

const askedMs = 1000

function diskFolder(path: string): DiskFolder {
  makeFolder(path)
  return new DiskFolder(path)
}
