/**
 * Links between processes of one machine that are one emulated cluster. Each process runs its own
 * members, and sends packets to the others over sockets, as threads do over ports. A process knows
 * another when a member looks up its `host:port`, or when that one connects; then both tell each
 * other every member they know, so that a cluster has one directory.
 */
import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { clusterAddress, type Address } from '@shardlab/actor'
import type { Link } from '../host/mailbox/link-table.js'
import type { Mailbox } from '../host/mailbox/mailbox.js'
import { CallbackPeer, type Peer } from '../host/mailbox/peer.js'
import type { ForeignLinks } from './foreign-links.js'
import { DirectoryKeeper, type DirectoryStore } from './directory-store.js'
import { FramedSocket, frameTypes } from './framed-socket.js'
import { ProcessDirectory, type DirectoryContent } from './process-directory.js'
import type { RegisteredServer, Rendezvous } from './rendezvous.js'

interface Neighbour {
  readonly framed: FramedSocket
  readonly peer: Peer
  /** The port of its server; null: it has not told yet. */
  owner: number | null
  /** Our numbers by its. */
  readonly indexes: number[]
  /** Version of our directory that it has received. */
  sentVersion: number
}

export class ProcessLinks implements ForeignLinks {
  readonly directory: ProcessDirectory
  readonly #rendezvous: Rendezvous
  readonly #self: RegisteredServer
  readonly #neighbours = new Map<number, Neighbour>()
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  readonly #keeper: DirectoryKeeper | null
  #mailbox: Mailbox | null = null
  #announcing = false
  #isClosed = false

  /**
   * @param self its `port` must not be 0: the others find this process by it
   * @param store null: the next start of this process knows no other one
   */
  constructor(rendezvous: Rendezvous, self: RegisteredServer, store: DirectoryStore | null = null) {
    this.#rendezvous = rendezvous
    this.#self = self
    this.directory = new ProcessDirectory((name) => this.#lookUp(name))
    const stored = store?.load()
    for (const { address, set, owner } of stored?.entries ?? [])
      if (owner !== null && owner !== self.port) this.#learn(address, set, owner)
    this.#learnNames(stored?.names ?? [])
    this.#keeper = store === null ? null : new DirectoryKeeper(store, this.directory, self.port)
    this.#server = createServer((socket) => this.#link(socket, null))
  }

  /** From now on other processes reach this one. */
  async open(): Promise<void> {
    rmSync(this.#self.socket, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#self.socket, resolve)
    })
    this.#rendezvous.register(this.#self)
  }

  close(): void {
    this.#isClosed = true
    this.#rendezvous.leave()
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  serve(mailbox: Mailbox): void {
    this.#mailbox = mailbox
  }

  find(index: number): Link | undefined {
    const address = this.directory.addressOf(index)
    const owner = address === undefined ? undefined : this.directory.ownerOf(address)
    if (owner === undefined || owner === this.#self.port || this.#isClosed) return undefined
    const neighbour = this.#neighbours.get(owner) ?? this.#connect(owner)
    if (neighbour === undefined) return undefined
    const link = { index, peer: neighbour.peer }
    this.#mailbox!.route(link)
    return link
  }

  /** Tells the others what has changed. Packets do as well, in time for their messages. */
  announce(): void {
    if (this.#announcing) return
    this.#announcing = true
    setImmediate(() => {
      this.#announcing = false
      if (!this.#isClosed) this.#keeper?.save()
      for (const neighbour of this.#neighbours.values()) this.#sendDirectory(neighbour)
    })
  }

  /** @returns whether a server of this machine listens there */
  #lookUp(name: Address): boolean {
    if (this.#isClosed) return false
    // A member looks up its own name before others may find it.
    const server = this.#rendezvous.at(name, this.#self)
    if (server === undefined) return false
    this.#learn(server.address, server.set, server.port)
    this.directory.name(server.address, name)
    this.announce()
    return true
  }

  #learn(address: Address, set: string | null, owner: number): number {
    const index = this.directory.add(address)
    if (set !== null && set !== address) this.directory.join(set, address)
    if (owner !== this.#self.port) this.directory.own(address, owner)
    return index
  }

  #learnNames(names: DirectoryContent['names']): void {
    for (const [name, address] of names)
      if (!this.directory.isProper(name) && this.directory.isProper(address)) this.directory.name(address, name)
  }

  #connect(owner: number): Neighbour | undefined {
    const server = this.#rendezvous.onPort(owner)
    // Another server may have the port now.
    if (server === undefined || this.directory.ownerOf(server.address) !== owner) return undefined
    return this.#link(connect(server.socket), owner)
  }

  /** @param owner null: it is not known which process connects */
  #link(socket: Socket, owner: number | null): Neighbour {
    this.#sockets.add(socket)
    const mailbox = this.#mailbox!
    const framed = new FramedSocket(socket, (type, content) => {
      if (type === frameTypes.directory) this.#receiveDirectory(neighbour, content)
      else mailbox.receiveForeign(neighbour.peer, content, (index) => neighbour.indexes[index]!)
    })
    const peer = new CallbackPeer(mailbox.packing, (written) => {
      this.#sendDirectory(neighbour)
      framed.send(frameTypes.packet, written.take())
    })
    const neighbour: Neighbour = { framed, peer, owner, indexes: [], sentVersion: -1 }
    if (owner !== null) this.#neighbours.set(owner, neighbour)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      this.#sockets.delete(socket)
      if (neighbour.owner !== null && this.#neighbours.get(neighbour.owner) === neighbour)
        this.#neighbours.delete(neighbour.owner)
      mailbox.closePeer(peer)
    })
    this.#sendDirectory(neighbour)
    return neighbour
  }

  #sendDirectory(neighbour: Neighbour): void {
    const { version } = this.directory
    if (neighbour.sentVersion === version || neighbour.peer.closed) return
    neighbour.sentVersion = version
    const content = { self: this.#self.port, ...this.directory.content(this.#self.port) }
    neighbour.framed.send(frameTypes.directory, Buffer.from(JSON.stringify(content)))
  }

  #receiveDirectory(neighbour: Neighbour, bytes: Uint8Array): void {
    const content = JSON.parse(Buffer.from(bytes).toString()) as DirectoryContent & { readonly self: number }
    if (neighbour.owner === null) {
      neighbour.owner = content.self
      if (!this.#neighbours.has(content.self)) this.#neighbours.set(content.self, neighbour)
    }
    const before = this.directory.version
    for (const { index, address, set, owner } of content.entries) {
      if (address === clusterAddress || owner === null) {
        neighbour.indexes[index] = this.directory.add(clusterAddress)
        continue
      }
      // Only the process of a member knows that it has moved there.
      const known = this.directory.ownerOf(address)
      neighbour.indexes[index] = this.#learn(address, set, owner === content.self ? owner : (known ?? owner))
    }
    this.#learnNames(content.names)
    if (this.directory.version !== before) this.announce()
  }
}
