import { RequestFailedError, type Address, type MessageKind, type ReplyOf, type RequestOf } from '@shardlab/actor'
import type { ActorCell } from '../actor-cell.js'
import { clientsAddress } from '../faults/host-fault.js'
import type { HostFaults } from '../faults/host-faults.js'
import { ReplyCutError } from '../faults/reply-cut-error.js'
import { sizeOfMessage } from '../faults/size-of-message.js'
import { isThenable } from '../thenable.js'
import type { GatewayTarget } from './gateway-target.js'

export const gatewayAddress: Address = 'gateway'

export interface GatewayHost {
  readonly faults: HostFaults
  crash(cell: ActorCell, error: unknown): void
  noteClientCommand(cell: ActorCell, command: RequestOf<'client.command'>): void
  noteClientWaiting(cell: ActorCell, command: RequestOf<'client.command'>, answer: Promise<unknown>): void
}

/**
 * Calls the actor in the same thread, without packing. Calls wait while the actor starts, and fail
 * with `unreachable` when it is down. A call that the actor is working on when it crashes never
 * settles, like everything that a crashed actor awaits.
 */
export function cellTarget(host: GatewayHost, cell: ActorCell): GatewayTarget {
  const down = () => new RequestFailedError('unreachable', cell.address, `${cell.address} is down`, true)

  function call<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (kind === 'client.command') host.noteClientCommand(cell, request as RequestOf<'client.command'>)
    const answer = take(kind, request)
    if (kind === 'client.command' && isThenable(answer))
      host.noteClientWaiting(cell, request as RequestOf<'client.command'>, answer)
    return answer
  }

  function take<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (cell.state === 'starting') {
      return new Promise<void>((resolve, reject) =>
        cell.waiting.push({ deliver: resolve, refuse: () => reject(down()) }),
      ).then(() => take(kind, request))
    }
    return host.faults.links.active && kind === 'client.command' ? overFaultyLink(kind, request) : serve(kind, request)
  }

  async function overFaultyLink<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    if (host.faults.links.refuses(clientsAddress, cell.address, kind)) throw down()
    await travel(clientsAddress, cell.address, kind, request, null)
    const reply = await serve(kind, request)
    await travel(cell.address, clientsAddress, kind, reply, (reply as ReplyOf<'client.command'>).body)
    return reply
  }

  /** @param body the document of an answer; null: the message is a command */
  function travel(
    from: Address,
    to: Address,
    kind: MessageKind,
    message: unknown,
    body: Uint8Array | null,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const lose = (why: string) => reject(new RequestFailedError('unreachable', to, `${from} ${why}`))
      const cut = () => reject(new ReplyCutError(body ?? new Uint8Array(0)))
      host.faults.links.pass(from, to, kind, body !== null, {
        get sizeBytes() {
          return sizeOfMessage(message)
        },
        deliver: resolve,
        deliverTwice: resolve,
        lose,
        break: lose,
        cut,
      })
    })
  }

  function serve<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (cell.gone || cell.actor === null) throw down()
    let result: Promise<ReplyOf<K>> | ReplyOf<K>
    try {
      result = cell.actor.receive(kind, request, gatewayAddress)
    } catch (error) {
      host.crash(cell, error)
      throw down()
    }
    if (!isThenable(result)) return result
    return result.then(undefined, (error: unknown) => {
      host.crash(cell, error)
      throw down()
    })
  }

  return { request: call }
}
