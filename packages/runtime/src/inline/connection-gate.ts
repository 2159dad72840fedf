import type { Address, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { GatewayOpener } from '../host/clients/gateway-opener.js'
import type { GatewayTarget } from '../host/clients/gateway-target.js'
import { isHello, isShardlab } from '../host/clients/command-name.js'
import { isThenable } from '../host/thenable.js'

type ClientReply = ReplyOf<'client.command'>

export type CompleteReply = (command: Uint8Array, reply: Uint8Array) => Promise<Uint8Array>

/**
 * Between one member's gateway and its actor. Commands wait while it is closed. It can be
 * redirected to another actor.
 */
class MemberGate implements GatewayTarget {
  readonly #isClosed: () => boolean
  readonly #complete: CompleteReply | undefined
  #target: GatewayTarget
  #queue: (() => void)[] = []
  /** Awaitable hellos without an answer: each function repeats its hello to the present target. */
  readonly #hellos = new Set<() => void>()
  /** Other commands without an answer. */
  running = 0

  constructor(target: GatewayTarget, isClosed: () => boolean, complete: CompleteReply | undefined) {
    this.#complete = complete
    this.#target = target
    this.#isClosed = isClosed
  }

  get waitingHellos(): number {
    return this.#hellos.size
  }

  request<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind !== 'client.command') return this.#target.request(kind, request)
    return this.#command(request as RequestOf<'client.command'>) as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  open(): void {
    for (const run of this.#queue.splice(0)) run()
  }

  /** Repeats unanswered hellos to the new target. */
  redirect(target: GatewayTarget): void {
    this.#target = target
    this.running = 0
    const hellos = [...this.#hellos]
    this.#hellos.clear()
    for (const repeat of hellos) repeat()
  }

  #command(request: RequestOf<'client.command'>): Promise<ClientReply> | ClientReply {
    if (this.#isClosed()) return this.#defer(request, (run) => this.#queue.push(run))
    const target = this.#target
    const answer = target.request('client.command', request)
    if (!isThenable(answer)) return answer
    if (isHello(request.body)) return this.#awaitHello(request, answer)
    this.running++
    const answered = () => {
      if (this.#target === target) this.running--
    }
    answer.then(answered, answered)
    const complete = this.#complete
    if (complete === undefined || !isShardlab(request.body)) return answer
    return answer.then(async (reply) => ({ ...reply, body: await complete(request.body, reply.body) }))
  }

  #awaitHello(request: RequestOf<'client.command'>, answer: Promise<ClientReply>): Promise<ClientReply> {
    return this.#defer(request, (repeat, resolve, reject) => {
      this.#hellos.add(repeat)
      const remove = () => this.#hellos.delete(repeat)
      answer.then(
        (reply) => {
          remove()
          resolve(reply)
        },
        (error: unknown) => {
          remove()
          reject(error)
        },
      )
    })
  }

  /** @param schedule gets a function to be called when the command may run */
  #defer(
    request: RequestOf<'client.command'>,
    schedule: (run: () => void, resolve: (reply: ClientReply) => void, reject: (error: unknown) => void) => void,
  ): Promise<ClientReply> {
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(this.#command(request))
        } catch (error) {
          reject(error)
        }
      }
      schedule(run, resolve, reject)
    })
  }
}

/** Blocks commands of clients while a world is copied or restored. */
export class ConnectionGate {
  readonly #gates = new Map<Address, MemberGate>()
  readonly #complete: CompleteReply | undefined
  #isClosed = false

  constructor(complete?: CompleteReply) {
    this.#complete = complete
  }

  wrap(open: GatewayOpener): GatewayOpener {
    return (request) => {
      const gate = new MemberGate(request.target, () => this.#isClosed, this.#complete)
      this.#gates.set(request.address, gate)
      return open({ ...request, target: gate })
    }
  }

  close(): void {
    this.#isClosed = true
  }

  open(): void {
    this.#isClosed = false
    for (const gate of this.#gates.values()) gate.open()
  }

  redirect(address: Address, target: GatewayTarget): void {
    this.#gates.get(address)?.redirect(target)
  }

  delete(address: Address): void {
    this.#gates.delete(address)
  }

  /** Without awaitable hellos. */
  running(address: Address): number {
    return this.#gates.get(address)?.running ?? 0
  }

  waitingHellos(address: Address): number {
    return this.#gates.get(address)?.waitingHellos ?? 0
  }
}
