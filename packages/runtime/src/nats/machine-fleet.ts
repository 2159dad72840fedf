/** The machines of a cluster: joins them, notices when one is silent, and takes it back. */
import type { ArgsOf } from '../remote/host-calls.js'
import type { MemberLocation } from '../remote/host-commands.js'
import { BrokerError, type Broker, type BrokerSubscription } from './broker.js'
import { decodeControl } from './control-codec.js'
import type { HostedState, MachineBoot, MachineCommands, MachineFacts, StartedMachine } from './machine-protocol.js'
import type { MachineTimings } from './nats-options.js'
import type { RemoteMachine } from './remote-machine.js'
import { startedSubject } from './subjects.js'

export interface FleetEvents {
  bootOf(machine: RemoteMachine, hostId: number): MachineBoot
  /** It is connected, for the first time or again. `states`: the members that it runs. */
  onJoined(machine: RemoteMachine, states: readonly HostedState[]): void
  /** It has joined with another number, or is lost. */
  onLeft(hostId: number): void
  /** It was silent for so long that its members count as crashed. */
  onLost(machine: RemoteMachine): void
  /** It answers, and refuses to join again. */
  onRefused(machine: RemoteMachine, why: string): void
  onStrikes(): void
}

export class MachineFleet {
  readonly machines: ReadonlyMap<string, RemoteMachine>
  readonly #timings: MachineTimings
  readonly #events: FleetEvents
  readonly #joining = new Set<RemoteMachine>()
  readonly #started: BrokerSubscription
  #lastHostId = 0
  #timer: NodeJS.Timeout | null = null
  #opened: Promise<void> | null = null

  constructor(broker: Broker, machines: readonly RemoteMachine[], timings: MachineTimings, events: FleetEvents) {
    this.#started = broker.subscribe(startedSubject, ({ content }) =>
      this.#onStarted(decodeControl(content) as StartedMachine),
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

  /** Messages may have been lost: the machine joins again. Its members continue meanwhile. */
  reconnect(machine: RemoteMachine, why: string): void {
    machine.disconnect(why)
    this.#rejoin(machine)
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#started.close()
    for (const machine of this.connected()) machine.disconnect('is no longer part of the cluster')
  }

  #check(): void {
    const { pingMs, lostAfterMs } = this.#timings
    for (const machine of this.machines.values()) {
      if (machine.facts === null) continue
      if (!machine.isLost && ++machine.silentLooks * pingMs > lostAfterMs) {
        machine.isLost = true
        machine.disconnect(`was silent for ${lostAfterMs / 1000} seconds`)
        this.#renumber(machine, null)
        this.#events.onLost(machine)
      }
      if (!machine.isConnected) this.#rejoin(machine)
      else void this.#ping(machine)
    }
  }

  async #ping(machine: RemoteMachine): Promise<void> {
    try {
      machine.strikes = await machine.call('ping', [])
      if (machine.strikes.length > 0) this.#events.onStrikes()
    } catch {
      // The connection is lost, which is noticed elsewhere.
    }
  }

  /** Its earlier process, which the cluster knows, has ended. */
  #onStarted({ name, processId }: StartedMachine): void {
    const machine = this.machines.get(name)
    if (machine === undefined || machine.facts === null || machine.facts.processId === processId) return
    this.reconnect(machine, 'has restarted')
  }

  #renumber(machine: RemoteMachine, hostId: number | null): void {
    const { hostId: earlier } = machine
    machine.hostId = hostId
    if (earlier !== null) this.#events.onLeft(earlier)
  }

  #rejoin(machine: RemoteMachine): void {
    this.#join(machine).catch((error: unknown) => {
      // Otherwise the connection is lost, and the next attempt follows.
      if (error instanceof BrokerError) this.#events.onRefused(machine, error.message)
    })
  }

  /** @returns false: it does not answer */
  async #join(machine: RemoteMachine): Promise<boolean> {
    if (this.#joining.has(machine)) return false
    this.#joining.add(machine)
    try {
      const hostId = ++this.#lastHostId
      const facts: MachineFacts | null = await machine.ask(hostId)
      if (facts === null || this.#timer === null) return false
      machine.connect(hostId, facts)
      const states = await machine.call('join', [this.#events.bootOf(machine, hostId)])
      machine.isReady = true
      machine.isLost = false
      this.#renumber(machine, hostId)
      this.#events.onJoined(machine, states)
      return true
    } finally {
      this.#joining.delete(machine)
    }
  }
}
