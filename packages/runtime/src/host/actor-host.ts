import {
  clusterAddress,
  createDeferred,
  kindShapeAt,
  NotPrimaryError,
  packetTypes,
  type Actor,
  type ActorContext,
  type ActorFactory,
  type Address,
  type AddressDirectory,
  type Disk,
  type LogLevel,
  type MessageKind,
  type MessageTuple,
  type MutationName,
  type RequestOf,
  type StepDetail,
} from '@shardlab/actor'
import { FileDisk } from '../disks/files/file-disk.js'
import { MemoryDisk } from '../disks/memory-disk.js'
import { ActorCell, Job, type MemberBoot } from './actor-cell.js'
import type { ActorHostOptions } from './actor-host-options.js'
import { CellContext, type ContextHost } from './cell-context.js'
import { cellTarget, type GatewayHost } from './clients/cell-target.js'
import { endpointOf } from './clients/endpoint.js'
import type { GatewayOpener } from './clients/gateway-opener.js'
import { isHello } from './clients/command-name.js'
import type { EventSink } from './event-sink.js'
import { clientsAddress } from './faults/host-fault.js'
import { HostFaults } from './faults/host-faults.js'
import { StepFaults } from './faults/step-faults.js'
import { Mailbox, type Receiver } from './mailbox/mailbox.js'
import type { Peer } from './mailbox/peer.js'
import { isThenable } from './thenable.js'
import { ActorTimer } from './time/actor-timer.js'
import type { HostClock } from './time/clock.js'
import { preparePasswordsByLibrary } from './prepare-passwords.js'

type RoleFinder = () => ActorFactory<never> | Promise<ActorFactory<never>>

/**
 * Delivers messages to actors, wakes their timers and ends their incarnations, in every world
 * alike.
 */
export class ActorHost implements Receiver, ContextHost, GatewayHost {
  readonly hostId: number
  readonly directory: AddressDirectory
  readonly clock: HostClock
  readonly events: EventSink
  readonly mutations: ReadonlySet<MutationName>
  readonly attaches: boolean
  readonly nextTurn: ActorHostOptions['nextTurn']
  readonly pageFaults: () => number
  readonly secretBytes: ((length: number) => Uint8Array) | null
  readonly steps: StepFaults
  readonly faults: HostFaults
  readonly mailbox: Mailbox
  readonly #options: ActorHostOptions
  readonly #cells: (ActorCell | undefined)[] = []
  /**
   * The receiver of the last message. Most hosts of a large cluster have one member, so this saves
   * a cache miss in the table.
   */
  #latest: ActorCell | undefined
  /**
   * Ports that are being opened, by the member's number. Resolve when opening has succeeded or
   * failed.
   */
  readonly #opening = new Map<number, Promise<void>>()
  #timersArmed = 0

  constructor(options: ActorHostOptions) {
    this.#options = options
    this.directory = options.directory
    this.hostId = options.hostId
    this.clock = options.clock
    this.events = options.events
    this.mutations = new Set(options.mutations)
    this.attaches = options.attaches ?? false
    this.nextTurn = options.nextTurn
    this.pageFaults = options.pageFaults ?? (() => 0)
    this.secretBytes = options.secretBytes ?? null
    preparePasswordsByLibrary()
    this.steps = new StepFaults(options.onStepStruck)
    this.faults = new HostFaults(
      {
        clock: options.clock,
        random: options.random.fork('link faults').fork(String(options.hostId)),
        onSilent: (connects, why) => this.mailbox.failLinks(connects, why),
      },
      () => this.cells(),
    )
    this.mailbox = new Mailbox({
      ...options,
      linkFaults: this.faults.links,
      onLimit: (member, limit, value) => this.#reportLimit(member ?? `host ${this.hostId}`, limit, value),
      receiver: this,
    })
  }

  noteClientCommand(cell: ActorCell, command: RequestOf<'client.command'>): void {
    this.#options.onClientCommand?.(cell.boot.index, command.connectionId)
  }

  /** An awaitable hello is left out: it waits for a topology change by design. */
  noteClientWaiting(cell: ActorCell, command: RequestOf<'client.command'>, answer: Promise<unknown>): void {
    const { onClientWaiting } = this.#options
    if (onClientWaiting !== undefined && !isHello(command.body)) onClientWaiting(answer, () => cell.gone)
  }

  /** The latest incarnation, even if it is gone. */
  cell(index: number): ActorCell | undefined {
    return this.#cells[index]
  }

  /** Excludes incarnations that are gone. */
  cells(): ActorCell[] {
    return this.#cells.filter((cell) => cell !== undefined && !cell.gone) as ActorCell[]
  }

  /** Messages are held until the new incarnation has started. */
  addCell(boot: MemberBoot, disk: Disk): ActorCell {
    const cell = new ActorCell(boot, disk, this.clock, this.#onFailure)
    this.faults.adopt(cell)
    this.#cells[boot.index] = cell
    this.#latest = cell
    return cell
  }

  /**
   * Adds a party outside of the cluster, such as the API. `actor` serves requests to it; null: they
   * fail.
   */
  addSender(index: number, address: Address, actor: Actor | null): ActorCell {
    const cell = this.addCell(
      { index, address, role: 'sender', options: null, listen: null, incarnation: 0 },
      new MemoryDisk(0),
    )
    cell.state = 'running'
    cell.actor = actor
    return cell
  }

  /** Adds an actor with a context outside of the cluster, such as a simulated client. */
  addOutsider<A extends Actor>(index: number, address: Address, make: (context: ActorContext) => A): A {
    const cell = this.addSender(index, address, null)
    const actor = make(new CellContext(this, cell, this.#options.random.fork('outsider').fork(address)))
    cell.actor = actor
    return actor
  }

  /**
   * Opens the port, makes the actor and starts it. Rejects when the actor crashes before it has
   * started, after {@link ActorHostOptions.onCrash} has been called.
   */
  start(
    cell: ActorCell,
    findRole: RoleFinder,
    start: (actor: Actor) => Promise<void> | void = (actor) => actor.start?.(),
  ): Promise<void> {
    const started = createDeferred<void>()
    cell.failStart = started.reject
    this.#start(cell, findRole, start).then(() => started.resolve(), cell.crash)
    return started.promise
  }

  async #start(cell: ActorCell, findRole: RoleFinder, start: (actor: Actor) => Promise<void> | void): Promise<void> {
    await this.#open(cell)
    const make = await findRole()
    if (cell.gone) return
    const { address, incarnation, options } = cell.boot
    const random = this.#options.random.fork('member').fork(address).fork(String(incarnation))
    cell.actor = make(new CellContext(this, cell, random), options as never)
    await start(cell.actor)
    if (cell.gone) return
    cell.state = 'running'
    cell.failStart = null
    const { waiting } = cell
    cell.waiting = []
    for (const item of waiting) item.deliver()
  }

  async #open(cell: ActorCell): Promise<void> {
    const { openGateway } = this.#options
    const { listen } = cell.boot
    if (openGateway === null || listen === null || cell.gateway !== null) return
    // An earlier incarnation may have ended while its port was being opened; it releases the port
    // only when opening has finished.
    await this.#opening.get(cell.index)
    if (cell.gone) return
    const opening = this.#listen(cell, openGateway, listen)
    this.#opening.set(
      cell.index,
      opening.catch(() => {}),
    )
    await opening
  }

  async #listen(cell: ActorCell, openGateway: GatewayOpener, listen: NonNullable<MemberBoot['listen']>): Promise<void> {
    const gateway = await openGateway({
      ...listen,
      address: cell.address,
      atEndOfTurn: this.#options.atEndOfTurn,
      target: cellTarget(this, cell),
      accepts: () =>
        !this.faults.links.active || !this.faults.links.refuses(clientsAddress, cell.address, 'client.command'),
      log: (level, message, fields) => this.log(cell, level, message, fields),
      onLimit: (limit, value) => this.#reportLimit(cell.address, limit, value),
    })
    if (cell.gone) {
      gateway.destroy()
      return
    }
    cell.gateway = gateway
    cell.endpoint = endpointOf(listen.announcedHost ?? gateway.host, gateway.port)
    this.directory.name(cell.address, cell.endpoint)
  }

  /** `error` null: a fault or the actor itself ends the incarnation. */
  crash(cell: ActorCell, error: unknown): void {
    if (cell.gone) return
    const { jobs, waiting } = cell
    const reported = error === null || error instanceof Error ? error : new Error(String(error))
    this.remove(cell, reported ?? new Error(`${cell.address} crashed while it was starting`))
    for (const job of jobs.takeAll()) this.mailbox.fail(job, cell.index, false, 'crashed before it answered')
    for (const item of waiting) item.refuse()
    this.#options.onCrash(cell, reported)
  }

  readonly #onFailure = (cell: ActorCell, error: unknown): void => this.crash(cell, error)

  /** Reports no crash. `why` rejects a start under way. */
  remove(cell: ActorCell, why: Error): void {
    this.mailbox.dropRequestsOf(cell)
    this.faults.dropMessagesTo(cell.address)
    cell.destroy(why)
    // Its writes that are under way would resume the actor.
    if (cell.disk instanceof FileDisk) cell.disk.abandon()
    this.mailbox.unroute(cell.index)
    cell.gateway?.destroy()
    cell.gateway = null
  }

  /** Releases what is left of a member that is gone: its disk, above all. */
  forget(index: number): void {
    if (this.#latest?.index === index) this.#latest = undefined
    this.#cells[index] = undefined
  }

  /** Accepts nothing new from clients, and serves its peers until it is removed. */
  async stop(cell: ActorCell): Promise<void> {
    if (cell.state !== 'running') return
    cell.state = 'stopping'
    const closed = cell.gateway?.close()
    try {
      // Before `closed` is awaited: the actor's shutdown answers clients whose commands wait for a
      // change.
      await cell.actor?.stop?.()
    } catch (error) {
      this.crash(cell, error)
    }
    await closed
  }

  /** @throws Error when the member is not running here. */
  describe(index: number): Record<string, unknown> {
    const actor = this.#cells[index]?.gone === false ? this.#cells[index].actor : null
    if (actor === null || actor === undefined) throw new Error(`member number ${index} is not running`)
    return actor.describe?.() ?? {}
  }

  /** Asks the member without the network. @throws Error when the member is not running here */
  peek(index: number, kind: MessageKind, request: unknown): unknown {
    const cell = this.#cells[index]
    const actor = cell?.gone === false && cell.state === 'running' ? cell.actor : null
    if (actor === null || actor === undefined) throw new Error(`member number ${index} is not running`)
    return actor.receive(kind, request as RequestOf<MessageKind>, clusterAddress)
  }

  setTimer(cell: ActorCell, name: string, delayMs: number): void {
    cell.timers.get(name)?.cancel()
    cell.timers.set(name, new ActorTimer(cell, name, delayMs, ++this.#timersArmed, this.#onDue))
  }

  readonly #onDue = (cell: ActorCell, { name }: ActorTimer): void => {
    cell.timers.delete(name)
    if (cell.state === 'starting') cell.waiting.push({ deliver: () => this.#wake(cell, name), refuse: () => {} })
    else this.#wake(cell, name)
  }

  reach(cell: ActorCell, step: string, detail: StepDetail): Promise<void> {
    const crash = () => this.crash(cell, null)
    return this.steps.reach({ address: cell.address, step, detail }, crash, () => !cell.gone)
  }

  log(cell: ActorCell, level: LogLevel, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (!this.events.logs(level)) return
    this.events.emit({ type: 'log', atMs: this.clock.now(), member: cell.address, level, message, fields })
  }

  accept(peer: Peer, message: MessageTuple): void {
    const index = message[2]
    const cell = this.#latest?.index === index ? this.#latest : (this.#latest = this.#cells[index])
    if (cell?.state === 'starting') this.#hold(cell, peer, message)
    else if (cell === undefined || cell.gone || cell.actor === null) this.#refuse(peer, message, 'is down')
    else this.#deliver(cell, peer, message)
  }

  // Separate, like #answerLater: a function that may make a closure allocates a context for its
  // variables on each call, even when it makes none.
  #hold(cell: ActorCell, peer: Peer, message: MessageTuple): void {
    if (cell.waiting.length < this.#options.limits.waitingMessages) {
      const refuse = () => this.#refuse(peer, message, 'crashed while it was starting')
      cell.waiting.push({ deliver: () => this.accept(peer, message), refuse })
      return
    }
    this.#reportLimit(cell.address, 'waitingMessages', cell.waiting.length)
    this.#refuse(peer, message, 'is starting and too many messages wait for it')
  }

  #refuse(peer: Peer, [type, id, to, from, kindIndex]: MessageTuple, why: string): void {
    if (type === packetTypes.request)
      this.mailbox.fail({ peer, id, from, kind: kindShapeAt(kindIndex).kind }, to, true, why)
  }

  #deliver(cell: ActorCell, peer: Peer, message: MessageTuple): void {
    const from = message[3]
    const shape = kindShapeAt(message[4])
    const job = message[0] === packetTypes.request ? new Job(peer, message[1], from, shape.kind) : null
    try {
      const request = shape.toRequest(message[5]) as RequestOf<MessageKind>
      const result: unknown = cell.actor!.receive(shape.kind, request, this.directory.addressOf(from) ?? `#${from}`)
      if (isThenable(result)) this.#answerLater(cell, job, result)
      else if (job !== null && !cell.gone) this.mailbox.reply(cell, job, result)
    } catch (error) {
      if (error instanceof NotPrimaryError) return this.#refuseJob(cell, job, error)
      if (job !== null) cell.jobs.add(job)
      this.crash(cell, error)
    }
  }

  #refuseJob(cell: ActorCell, job: Job | null, error: NotPrimaryError): void {
    if (job === null || cell.gone) return
    this.mailbox.refuse(job, cell.index, error)
    cell.jobs.delete(job)
  }

  #answerLater(cell: ActorCell, job: Job | null, result: Promise<unknown>): void {
    if (job === null) return this.#trackBackgroundWork(cell, result, cell.endNotice)
    result.then(
      (reply) => this.#answer(cell, job, reply),
      (error: unknown) => {
        if (error instanceof NotPrimaryError) this.#refuseJob(cell, job, error)
        else cell.crash(error)
      },
    )
    cell.jobs.add(job)
  }

  #answer(cell: ActorCell, job: Job, reply: unknown): void {
    if (cell.gone) return
    try {
      this.mailbox.reply(cell, job, reply)
      cell.jobs.delete(job)
    } catch (error) {
      this.crash(cell, error)
    }
  }

  #trackBackgroundWork(cell: ActorCell, result: Promise<unknown>, onError = cell.crash): void {
    cell.backgroundWork++
    result.then(() => cell.backgroundWork--, onError)
  }

  #wake(cell: ActorCell, timer: string): void {
    if (cell.gone || cell.actor === null) return
    this.#options.onWake?.(cell.address, timer)
    try {
      const result: unknown = cell.actor.wake?.(timer)
      if (isThenable(result)) this.#trackBackgroundWork(cell, result)
    } catch (error) {
      this.crash(cell, error)
    }
  }

  #reportLimit(member: Address, limit: string, value: number): void {
    this.events.emit({ type: 'limit', atMs: this.clock.now(), member, limit, value })
  }
}
