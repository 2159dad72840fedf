import type { PacketWriter } from '@shardlab/actor'
import type { MessagePort } from 'node:worker_threads'
import type { ActorHost } from '../host/actor-host.js'
import type { Peer } from '../host/peer.js'

/** Connects a host with another through one end of a channel. The peer closes when the other end's thread ends. */
export function attachLink(host: ActorHost, hostId: number, port: MessagePort): Peer {
  const post = (writer: PacketWriter): void => {
    const { buffer } = writer.take()
    port.postMessage(buffer, [buffer])
  }
  const peer = host.post.createPeer(hostId, { post })
  port.on('message', (packet: ArrayBuffer) => host.post.receive(peer, new Uint8Array(packet)))
  port.on('close', () => host.post.closePeer(peer))
  return peer
}
