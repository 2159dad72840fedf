/** A machine as the supervisor sees it. */
import { HostCalls, type ArgsOf, type ResultOf } from '../remote/host-calls.js'
import type { HostAnswer, HostReport } from '../remote/host-commands.js'
import type { Member } from '../supervisor/member-table.js'
import { BrokerError, type Broker } from './broker.js'
import { decodeControl, encodeControl } from './control-codec.js'
import { ControlLink } from './control-link.js'
import type { LinkSettings } from './host-links.js'
import type { MachineCommands, MachineFacts, MachineQuestion, MachineReply, StrikeCounts } from './machine-protocol.js'
import { callSubject, machineSubject, reportSubject } from './subjects.js'

export interface MachinePlace {
  readonly machine: RemoteMachine
  error: Error | null
  /** It counts as crashed because its machine is silent. It may still run there. */
  isLost: boolean
}

export interface RemoteMachineOptions {
  readonly broker: Broker
  readonly cluster: string
  readonly version: string
  readonly name: string
  readonly settings: LinkSettings
  readonly onReport: (report: HostReport) => void
  /** What the machine was told or has reported may be lost. */
  readonly onBroken: (why: string) => void
}

const askedMs = 2000

export class RemoteMachine {
  readonly name: string
  readonly members = new Set<Member<MachinePlace>>()
  facts: MachineFacts | null = null
  /** null: it has not joined yet, or is lost. */
  hostId: number | null = null
  /** It has joined, and the connection is not known to be lost. */
  isReady = false
  /** It was silent for so long that its members count as crashed. */
  isLost = false
  /** Looks at it since its last message. Time alone would count when this thread is blocked. */
  silentLooks = 0
  strikes: StrikeCounts = []
  readonly #options: RemoteMachineOptions
  #control: ControlLink | null = null
  #calls = new HostCalls<MachineCommands>()

  constructor(options: RemoteMachineOptions) {
    this.#options = options
    this.name = options.name
  }

  /** It gets calls, maybe before it is ready. */
  get isConnected(): boolean {
    return this.#control !== null
  }

  /**
   * @returns null: no answer arrived
   * @throws BrokerError the machine refuses
   */
  async ask(hostId: number): Promise<MachineFacts | null> {
    const { broker, cluster, version, name } = this.#options
    const question: MachineQuestion = { type: 'join', version, cluster, hostId }
    const answer = await broker.request(machineSubject(name), encodeControl(question), askedMs)
    if (answer === null) return null
    const reply = decodeControl(answer) as MachineReply
    if ('refused' in reply) throw new BrokerError(`the host ${name} ${reply.refused}.`)
    return reply
  }

  /** After the machine has answered {@link ask}. */
  connect(hostId: number, facts: MachineFacts): void {
    const { broker, cluster, settings, onReport, onBroken } = this.#options
    this.#control?.close()
    this.facts = facts
    this.silentLooks = 0
    this.strikes = []
    const calls = new HostCalls<MachineCommands>()
    this.#calls = calls
    this.#control = new ControlLink({
      broker,
      settings,
      from: reportSubject(cluster, hostId),
      to: callSubject(cluster, hostId),
      receive: (message) => {
        this.silentLooks = 0
        const received = message as HostAnswer | HostReport
        if (received.type === 'done' || received.type === 'failed') calls.settle(received)
        else onReport(received)
      },
      onBroken,
    })
  }

  disconnect(why: string): void {
    this.isReady = false
    this.#control?.close()
    this.#control = null
    const error = new Error(`the host ${this.name} ${why}`)
    this.#calls.end(error, error)
  }

  /** Rejects with the machine's error, or when the connection is lost before it has answered. */
  call<N extends keyof MachineCommands>(
    command: N,
    args: ArgsOf<MachineCommands, N>,
  ): Promise<ResultOf<MachineCommands, N>> {
    if (this.#control === null) return Promise.reject(new Error(`the host ${this.name} is not connected`))
    const control = this.#control
    return this.#calls.call(command, args, (call) => control.send(call))
  }
}
