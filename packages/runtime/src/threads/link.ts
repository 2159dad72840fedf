import type { MessagePort } from 'node:worker_threads'
import type { ActorHost } from '../host/actor-host.js'
import { CarriedPeer, type Peer } from '../host/peer.js'

/** Connects a host with another through one end of a channel. The peer closes when the other end's thread ends. */
export function attachLink(host: ActorHost, port: MessagePort): Peer {
  const peer = new CarriedPeer(host.post.packing, (written) => {
    const { buffer } = written.take()
    port.postMessage(buffer, [buffer])
  })
  port.on('message', (packet: ArrayBuffer) => host.post.receive(peer, new Uint8Array(packet)))
  port.on('close', () => host.post.closePeer(peer))
  return peer
}
