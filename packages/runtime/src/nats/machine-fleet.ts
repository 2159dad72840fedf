/** The machines of a cluster: joins them, notices when one is silent, and takes it back. */
import type { ArgsOf } from '../remote/host-calls.js'
import type { MemberLocation } from '../remote/host-commands.js'
import { BrokerError, type Broker, type BrokerSubscription } from './broker.js'
import { decodeControl } from './control-codec.js'
import type { HostedState, MachineBoot, MachineCommands, MachineNotice, StrikeCounts } from './machine-protocol.js'
import type { MachineTimings } from './nats-options.js'
import type { RemoteMachine } from './remote-machine.js'
import { noticeSubject } from './subjects.js'

export interface FleetEvents {
  bootOf(machine: RemoteMachine, hostId: number): MachineBoot
  /**
   * It is connected, for the first time or again. `states`: the members that it runs; `isNew`: in
   * another process than before.
   */
  onJoined(machine: RemoteMachine, states: readonly HostedState[], isNew: boolean): void
  /** A machine gets the number next. */
  onJoining(hostId: number): void
  /** It has joined with another number, or is lost. */
  onLeft(hostId: number): void
  /** It was silent for so long that its members count as crashed. */
  onLost(machine: RemoteMachine): void
  /** It answers, and cannot join again. Called once until the reason changes. */
  onRefused(machine: RemoteMachine, why: string): void
  onStrikes(machine: RemoteMachine, counts: StrikeCounts): void
}

export class MachineFleet {
  readonly machines: ReadonlyMap<string, RemoteMachine>
  readonly #timings: MachineTimings
  readonly #events: FleetEvents
  readonly #joining = new Set<RemoteMachine>()
  readonly #notices: BrokerSubscription
  readonly #refusals = new Map<RemoteMachine, string>()
  #isClosed = false
  #lastHostId = 0
  #timer: NodeJS.Timeout | null = null
  #opened: Promise<void> | null = null

  constructor(broker: Broker, machines: readonly RemoteMachine[], timings: MachineTimings, events: FleetEvents) {
    this.#notices = broker.subscribe(noticeSubject, ({ content }) =>
      this.#onNotice(decodeControl(content) as MachineNotice | null),
    )
    this.machines = new Map(machines.map((machine) => [machine.name, machine]))
    this.#timings = timings
    this.#events = events
  }

  /** Once. @throws BrokerError a machine does not answer, or refuses */
  open(): Promise<void> {
    this.#opened ??= this.#open()
    return this.#opened
  }

  async #open(): Promise<void> {
    this.#timer = setInterval(() => this.#check(), this.#timings.pingMs)
    const joined = await Promise.all([...this.machines.values()].map((machine) => this.#join(machine)))
    const absent = [...this.machines.keys()].filter((_, i) => !joined[i])
    if (absent.length > 0)
      throw new BrokerError(
        `no host named ${absent.join(' or ')} answers: start it with \`shardlab host --nats URL --name ${absent[0]}\`.`,
      )
  }

  connected(): RemoteMachine[] {
    return [...this.machines.values()].filter(({ isConnected }) => isConnected)
  }

  /** Ignores machines that are lost before they answer. */
  async broadcast<N extends keyof MachineCommands>(command: N, args: ArgsOf<MachineCommands, N>): Promise<void> {
    await Promise.allSettled(this.connected().map((machine) => machine.call(command, args)))
  }

  announce(locations: readonly MemberLocation[]): Promise<void> {
    return this.broadcast('setLocations', [locations])
  }

  /** Lets the machine join again after messages may have been lost. Its members keep running. */
  reconnect(machine: RemoteMachine, why: string): void {
    machine.disconnect(why)
    this.#rejoin(machine)
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#notices.close()
    for (const machine of this.connected()) machine.disconnect('is no longer part of the cluster')
  }

  #check(): void {
    const { pingMs, lostAfterMs } = this.#timings
    for (const machine of this.machines.values()) {
      if (machine.facts === null) continue
      if (!machine.isLost && ++machine.silentLooks * pingMs > lostAfterMs)
        this.#lose(machine, `was silent for ${lostAfterMs / 1000} seconds`)
      if (!machine.isConnected) this.#rejoin(machine)
      else void this.#ping(machine)
    }
  }

  async #ping(machine: RemoteMachine): Promise<void> {
    try {
      const strikes = await machine.call('ping', [])
      if (strikes.length > 0) this.#events.onStrikes(machine, strikes)
    } catch {
      // The connection is lost, which is noticed elsewhere.
    }
  }

  #lose(machine: RemoteMachine, why: string): void {
    if (machine.isLost) return
    machine.isLost = true
    machine.disconnect(why)
    this.#renumber(machine, null)
    this.#events.onLost(machine)
  }

  /** A process that the cluster knows has ended, or another one of its name has started. */
  #onNotice(notice: MachineNotice | null): void {
    const machine = this.machines.get(String(notice?.name))
    if (notice === null || machine === undefined || machine.facts === null || this.#isClosed) return
    const isKnown = machine.facts.processId === notice.processId
    if (isKnown && notice.state === 'ended') this.#lose(machine, 'has ended')
    if (!isKnown && notice.state === 'started') this.reconnect(machine, 'has restarted')
  }

  #renumber(machine: RemoteMachine, hostId: number | null): void {
    const { hostId: earlier } = machine
    machine.hostId = hostId
    if (earlier !== null) this.#events.onLeft(earlier)
  }

  #rejoin(machine: RemoteMachine): void {
    this.#join(machine).then(
      (isJoined) => isJoined && this.#refusals.delete(machine),
      ({ message }: Error) => {
        if (this.#refusals.get(machine) === message) return
        this.#refusals.set(machine, message)
        this.#events.onRefused(machine, message)
      },
    )
  }

  /** @returns false: it does not answer */
  async #join(machine: RemoteMachine): Promise<boolean> {
    if (this.#joining.has(machine)) return false
    this.#joining.add(machine)
    try {
      const hostId = ++this.#lastHostId
      const earlier = machine.facts?.processId
      const facts = await machine.ask(hostId)
      if (facts === null) return false
      if (this.#isClosed) {
        machine.disconnect('is no longer part of the cluster')
        return false
      }
      // First, so that no machine meets an unknown number.
      this.#events.onJoining(hostId)
      for (const other of this.connected()) if (other !== machine) other.call('openHost', [hostId]).catch(() => {})
      const states = await machine.call('join', [this.#events.bootOf(machine, hostId)]).catch((error: Error) => {
        const why = `cannot run members: ${error.message.replace(/\.$/, '')}`
        // Otherwise the connection is lost, and the next attempt follows.
        if (machine.isConnected) this.#lose(machine, why)
        this.#events.onLeft(hostId)
        throw new BrokerError(`the host ${machine.name} ${why}.`)
      })
      machine.isReady = true
      machine.isLost = false
      machine.silentLooks = 0
      this.#renumber(machine, hostId)
      this.#events.onJoined(machine, states, earlier !== facts.processId)
      return true
    } finally {
      this.#joining.delete(machine)
    }
  }
}
