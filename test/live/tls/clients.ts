import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { connect as connectByTls } from 'node:tls'
import { encode } from '@shardlab/bson'
import { encodeCommand } from '@shardlab/wire'
import type { MongoClientOptions } from 'mongodb'

/** PEM files of a client. Without `ca` it does not speak TLS. */
export interface ClientFiles {
  readonly ca?: string
  readonly own?: string
}

export function driverOptions({ ca, own }: ClientFiles): MongoClientOptions {
  return {
    ...(ca === undefined ? {} : { tls: true, tlsCAFile: ca }),
    ...(own === undefined ? {} : { tlsCertificateKeyFile: own }),
  }
}

/**
 * Whether a member answers a command of the client, or ends the connection.
 * @param messageBytes length of its first message; 0: any
 */
export async function isServed(
  { uri }: { readonly uri: string },
  { ca, own }: ClientFiles,
  messageBytes = 0,
): Promise<boolean> {
  const { hostname: host, port } = new URL(uri)
  const target = { host, port: Number(port) }
  const ofClient = own === undefined ? {} : { cert: await readFile(own), key: await readFile(own) }
  const socket = ca === undefined ? connect(target) : connectByTls({ ...target, ca: await readFile(ca), ...ofClient })
  const ping = (comment: string) => encodeCommand(1, encode({ ping: 1, comment, $db: 'admin' }))
  socket.write(ping('x'.repeat(Math.max(0, messageBytes - ping('').length))))
  return new Promise((resolve) => {
    socket.on('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(false))
  })
}

/** Resolves with `closed`, or the code of the error. */
export function closed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
    socket.on('close', () => resolve('closed'))
    socket.resume()
  })
}
