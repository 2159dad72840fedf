/** The machines of a cluster: joins them, notices when one is silent, and takes it back. */
import type { ArgsOf } from '../remote/host-calls.js'
import type { MemberLocation } from '../remote/host-commands.js'
import { BrokerError } from './broker.js'
import type { HostedState, MachineBoot, MachineCommands, MachineFacts } from './machine-protocol.js'
import type { MachineTimings } from './nats-options.js'
import type { RemoteMachine } from './remote-machine.js'

export interface FleetEvents {
  bootOf(hostId: number): MachineBoot
  /** It is connected, for the first time or again. `states`: the members that it runs. */
  onJoined(machine: RemoteMachine, states: readonly HostedState[]): void
  /** The machine is no longer `hostId`. */
  onDisconnected(machine: RemoteMachine, hostId: number): void
  /** It was silent for so long that its members are given up. */
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
  #lastHostId = 0
  #timer: NodeJS.Timeout | null = null

  constructor(machines: readonly RemoteMachine[], timings: MachineTimings, events: FleetEvents) {
    this.machines = new Map(machines.map((machine) => [machine.name, machine]))
    this.#timings = timings
    this.#events = events
  }

  /** @throws BrokerError a machine does not answer, or refuses */
  async open(): Promise<void> {
    if (this.#timer !== null) return
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

  /** The connection is not reliable any more. The machine joins again. */
  reconnect(machine: RemoteMachine, why: string): void {
    this.#disconnect(machine, why)
    this.#rejoin(machine)
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    for (const machine of this.connected()) machine.disconnect('is no longer part of the cluster')
  }

  #check(): void {
    const { lostAfterMs } = this.#timings
    for (const machine of this.machines.values()) {
      if (machine.facts === null) continue
      if (!machine.isLost && performance.now() - machine.heardAtMs > lostAfterMs) {
        machine.isLost = true
        this.#disconnect(machine, `was silent for ${lostAfterMs / 1000} seconds`)
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

  #disconnect(machine: RemoteMachine, why: string): void {
    const { hostId } = machine
    if (hostId === null) return
    machine.disconnect(why)
    this.#events.onDisconnected(machine, hostId)
  }

  #rejoin(machine: RemoteMachine): void {
    this.#join(machine).catch((error: unknown) => {
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
      const states = await machine.call('join', [this.#events.bootOf(hostId)])
      if (machine.hostId !== hostId) return false
      machine.isLost = false
      this.#events.onJoined(machine, states)
      return true
    } finally {
      this.#joining.delete(machine)
    }
  }
}
