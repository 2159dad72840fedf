import { RequestFailedError, type Address, type MessageKind, type ReplyOf, type RequestOf } from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import type { ActorHost } from './actor-host.js'
import type { GatewayCallee } from './gateway-opener.js'
import { isThenable } from './thenable.js'

/** The address that clients' requests come from. */
export const gatewayAddress: Address = 'gateway'

/**
 * Calls from a listener straight into its actor, in the same thread and without packing. They wait while the actor
 * starts and fail with `unreachable` when it is down; one that the actor is working on when it crashes never ends,
 * like everything that a crashed actor awaits.
 */
export function gatewayTarget(host: ActorHost, cell: ActorCell): GatewayCallee {
  const down = () => new RequestFailedError('unreachable', cell.address, `${cell.address} is down`, true)

  function call<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (cell.state === 'starting') {
      return new Promise<void>((resolve, reject) => cell.waiting.push({ deliver: resolve, refuse: () => reject(down()) })).then(() =>
        call(kind, request),
      )
    }
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
