import { connect, type Socket } from 'node:net'
import { decode, encode, type Document } from '@shardlab/bson'
import { decodeReply, encodeCommand, FrameReader } from '@shardlab/wire'
import { tlsInUri, type ConnectionTls } from './tls-of-uri.js'

/** The URI is wrong, or no cluster answers at it. The message is one sentence. */
export class ConnectError extends Error {
  /** Determines exit code 2. */
  override readonly name = 'OptionError'
}

const answerTimeoutMs = 30_000
/** After this time a command that may be repeated is sent to the next host. */
const repeatAfterMs = 3000
const commandNotFound = 59

/**
 * Runs a command on admin and resolves with the reply, which can be an error reply.
 * @param uri `mongodb://host:port[,host:port…][/…]`: the first host that answers receives the
 *   command. A command with a `requestId` may be received by several. Options of TLS have an effect
 * @param timeoutMs 0: none
 * @throws ConnectError for an invalid URI, when no host answers, or when the server does not have
 *   the command
 */
export async function runAdminCommand(uri: string, command: Document, timeoutMs = answerTimeoutMs): Promise<Document> {
  const hosts = hostsOf(uri)
  const tls = tlsInUri(uri)
  const failures: string[] = []
  for (const [i, { host, port }] of hosts.entries()) {
    const isRepeated = 'requestId' in command && i < hosts.length - 1
    const limitMs = isRepeated ? repeatAfterMs : timeoutMs
    try {
      const reply = await exchange({ host, port, tls }, encodeCommand(1, encode({ ...command, $db: 'admin' })), limitMs)
      if (reply['code'] === commandNotFound)
        throw new ConnectError(
          `the server at ${host}:${port} is not a Shardlab cluster: it does not have the command ${Object.keys(command)[0]}.`,
        )
      return reply
    } catch (error) {
      if (error instanceof ConnectError) throw error
      failures.push(`${host}:${port}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new ConnectError(
    `no cluster answers at ${withoutSecrets(uri)} (${failures.join('; ')}): start one, or correct the URI.`,
  )
}

/**
 * {@link runAdminCommand} for a command `shardlab`: the fields that concern it.
 * @throws ConnectError also with the sentence of an error reply
 */
export async function replyFrom(uri: string, command: Document, timeoutMs?: number): Promise<Document> {
  const { $clusterTime: _, operationTime: __, ...reply } = await runAdminCommand(uri, command, timeoutMs)
  if (reply['ok'] !== 1) throw new ConnectError(String(reply['errmsg']))
  return reply
}

/** The URI without the user and without passwords, for messages. */
export const withoutSecrets = (uri: string): string =>
  uri.replace(/^(mongodb:\/\/)[^@/]*@/, '$1').replace(/(tlsCertificateKeyFilePassword=)[^&]*/i, '$1***')

function hostsOf(uri: string): { readonly host: string; readonly port: number }[] {
  const [, authority] = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(uri) ?? []
  if (authority === undefined)
    throw new ConnectError(`the URI is "${uri}"; it must be like mongodb://127.0.0.1:27017/.`)
  return authority.split(',').map((text) => {
    const [, bracketed, plain, port = '27017'] = /^(?:\[(.+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
    const host = bracketed ?? plain
    if (host === undefined || Number(port) > 65_535)
      throw new ConnectError(`the URI has the host "${text}"; it must be like 127.0.0.1:27017.`)
    return { host: decodeURIComponent(host), port: Number(port) }
  })
}

interface Target {
  readonly host: string
  readonly port: number
  /** Null: without TLS. */
  readonly tls: ConnectionTls | null
}

async function open({ host, port, tls }: Target): Promise<Socket> {
  if (tls === null) return connect({ host, port })
  const { connectByTls } = await import('./connect-by-tls.js')
  return connectByTls(host, port, tls)
}

async function exchange(target: Target, message: Uint8Array, timeoutMs: number): Promise<Document> {
  const socket = await open(target)
  return new Promise((resolve, reject) => {
    const frames = new FrameReader()
    const end = (finish: () => void) => {
      socket.destroy()
      finish()
    }
    socket.setTimeout(timeoutMs, () => end(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`))))
    socket.once(target.tls === null ? 'connect' : 'secureConnect', () => socket.write(message))
    socket.once('error', ({ message: why }) => end(() => reject(new Error(why))))
    socket.once('close', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk) => {
      try {
        frames.push(chunk)
        const frame = frames.next()
        if (frame !== null) {
          const reply = decode(decodeReply(frame).body, { promoteLongs: true })
          end(() => resolve(reply))
        }
      } catch {
        end(() => reject(new Error('the server does not speak the wire protocol')))
      }
    })
  })
}
