import type { MessagePort } from 'node:worker_threads'
import type { ActorHost } from '../host/actor-host.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'

/** The peer is closed when the thread at the other end ends. */
export function attachPort(host: ActorHost, port: MessagePort): Peer {
  const peer = new CallbackPeer(host.mailbox.packing, (written) => {
    const packet = written.take()
    const { buffer } = packet
    port.postMessage(packet.length === buffer.byteLength ? buffer : packet, [buffer])
  })
  port.on('message', (packet: ArrayBuffer | Uint8Array) =>
    host.mailbox.receive(peer, packet instanceof Uint8Array ? packet : new Uint8Array(packet)),
  )
  port.on('close', () => host.mailbox.closePeer(peer))
  return peer
}
