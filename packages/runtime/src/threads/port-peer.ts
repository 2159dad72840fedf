import type { MessagePort } from 'node:worker_threads'
import type { ActorHost } from '../host/actor-host.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'

/** The peer is closed when the thread at the other end ends. */
export function attachPort(host: ActorHost, port: MessagePort): Peer {
  const peer = new CallbackPeer(host.mailbox.packing, (written) => {
    const { buffer } = written.take()
    port.postMessage(buffer, [buffer])
  })
  port.on('message', (packet: ArrayBuffer) => host.mailbox.receive(peer, new Uint8Array(packet)))
  port.on('close', () => host.mailbox.closePeer(peer))
  return peer
}
