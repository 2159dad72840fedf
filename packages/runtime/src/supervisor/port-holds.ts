/**
 * The ports of members that are down. They refuse clients, as a host whose mongod is down does, but
 * stay bound: the system then assigns them to no program that listens on any free port or connects
 * to a server, so that the member can restart.
 *
 * The only sockets that Node binds without listening are those that connect, so each port is held
 * by a socket that is connected with itself. Holding is an attempt: where it fails, the member
 * restarts on its port if that is still free.
 */
import type { Socket } from 'node:net'
import { isUp, type Member } from './member-table.js'

type Holder = Pick<Member<unknown>, 'state' | 'listen'>

const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export class PortHolds {
  readonly #sockets = new Map<Holder, Promise<Socket | null>>()
  #open: boolean

  /** @param open false: members listen nowhere, so nothing is held */
  constructor(open: boolean) {
    this.#open = open
  }

  /** After the member's listener has closed. Without effect on a member that is up again. */
  hold(member: Holder): void {
    const { listen } = member
    if (!this.#open || listen === null || listen.port === 0 || isUp(member) || this.#sockets.has(member)) return
    this.#sockets.set(member, bound(loopback[listen.host] ?? listen.host, listen.port))
  }

  /** Resolves when the member can listen. Null: its port is not held. */
  release(member: Holder): Promise<void> | null {
    const held = this.#sockets.get(member)
    this.#sockets.delete(member)
    return held === undefined ? null : held.then(closed)
  }

  async releaseAll(): Promise<void> {
    const held = [...this.#sockets.values()]
    this.#sockets.clear()
    await Promise.all(held.map(async (socket) => closed(await socket)))
  }

  /** No port is held from now on. */
  close(): Promise<void> {
    this.#open = false
    return this.releaseAll()
  }
}

/** Null: the port is no longer free, or the system cannot connect a socket with itself. */
async function bound(host: string, port: number): Promise<Socket | null> {
  // Imported when the first member goes down.
  const { connect, isIP } = await import('node:net')
  if (isIP(host) === 0) return null
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: host, localPort: port })
    socket.once('connect', () => resolve(socket))
    // Later errors mean that the port is no longer held.
    socket.on('error', () => resolve(null))
    socket.unref()
  })
}

async function closed(socket: Socket | null): Promise<void> {
  if (socket === null || socket.closed) return
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    // An orderly end would occupy the port for a minute on some systems.
    socket.resetAndDestroy()
  })
}
