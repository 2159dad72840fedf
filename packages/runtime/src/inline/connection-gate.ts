import type { Address, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import type { GatewayOpener } from '../host/clients/gateway-opener.js'
import type { GatewayTarget } from '../host/clients/gateway-target.js'
import { isHello } from '../host/clients/is-hello.js'
import { isThenable } from '../host/thenable.js'

type ClientReply = ReplyOf<'client.command'>

/** Between one member's gateway and its actor: it can be kept shut for a while, and lead to another actor afterwards. */
class MemberGate implements GatewayTarget {
  readonly #isShut: () => boolean
  #target: GatewayTarget
  /** Commands that wait for the gate to open. */
  #queue: (() => void)[] = []
  /** What clients wait for on purpose, changes of the topology: asks the target of now instead of the one that was asked. */
  readonly #hellos = new Set<() => void>()
  /** Other commands without an answer. */
  running = 0

  constructor(target: GatewayTarget, isShut: () => boolean) {
    this.#target = target
    this.#isShut = isShut
  }

  get waitingHellos(): number {
    return this.#hellos.size
  }

  request<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind !== 'client.command') return this.#target.request(kind, request)
    return this.#command(request as RequestOf<'client.command'>) as Promise<ReplyOf<K>> | ReplyOf<K>
  }

  open(): void {
    for (const go of this.#queue.splice(0)) go()
  }

  /** From now on clients reach another actor. */
  lead(target: GatewayTarget): void {
    this.#target = target
    this.running = 0
    const hellos = [...this.#hellos]
    this.#hellos.clear()
    for (const askAgain of hellos) askAgain()
  }

  #command(request: RequestOf<'client.command'>): Promise<ClientReply> | ClientReply {
    if (this.#isShut()) return this.#later(request, (go) => this.#queue.push(go))
    const target = this.#target
    const answer = target.request('client.command', request)
    if (!isThenable(answer)) return answer
    if (isHello(request.body)) return this.#awaitHello(request, answer)
    this.running++
    const answered = () => {
      if (this.#target === target) this.running--
    }
    answer.then(answered, answered)
    return answer
  }

  #awaitHello(request: RequestOf<'client.command'>, answer: Promise<ClientReply>): Promise<ClientReply> {
    return this.#later(request, (askAgain, resolve, reject) => {
      this.#hellos.add(askAgain)
      const forget = () => this.#hellos.delete(askAgain)
      answer.then(
        (reply) => {
          forget()
          resolve(reply)
        },
        (error: unknown) => {
          forget()
          reject(error)
        },
      )
    })
  }

  /** `wait` gets what serves the request when its time has come. */
  #later(
    request: RequestOf<'client.command'>,
    wait: (go: () => void, resolve: (reply: ClientReply) => void, reject: (error: unknown) => void) => void,
  ): Promise<ClientReply> {
    return new Promise((resolve, reject) => {
      const go = () => {
        try {
          resolve(this.#command(request))
        } catch (error) {
          reject(error)
        }
      }
      wait(go, resolve, reject)
    })
  }
}

/** The doors of all members of a world. */
export class ConnectionGate {
  readonly #gate = new Map<Address, MemberGate>()
  #shut = false

  /** Opens gateways whose requests come through a gate. */
  through(open: GatewayOpener): GatewayOpener {
    return (request) => {
      const gate = new MemberGate(request.target, () => this.#shut)
      this.#gate.set(request.address, gate)
      return open({ ...request, target: gate })
    }
  }

  /** Commands of clients wait from now on. */
  shut(): void {
    this.#shut = true
  }

  open(): void {
    this.#shut = false
    for (const gate of this.#gate.values()) gate.open()
  }

  lead(address: Address, target: GatewayTarget): void {
    this.#gate.get(address)?.lead(target)
  }

  forget(address: Address): void {
    this.#gate.delete(address)
  }

  /** Commands of clients that a member works on, but for those that ask for changes of the topology. */
  running(address: Address): number {
    return this.#gate.get(address)?.running ?? 0
  }

  /** Commands that ask a member for changes of the topology, and wait for one. */
  waitingHellos(address: Address): number {
    return this.#gate.get(address)?.waitingHellos ?? 0
  }
}
